"""Places of true flags are NumPy's, whatever the density and the length."""

import numpy as np
import pytest

from pykudu_sql.storage.common.predicate.true_places import true_places


@pytest.mark.parametrize("density", [0, 0.0005, 0.01, 0.05, 0.099, 0.101, 0.5, 1])
@pytest.mark.parametrize("length", [0, 1, 1000, 1 << 15, (1 << 15) + 1, 100_003, 100_007])
def test_places_are_those_of_flatnonzero(length: int, density: float) -> None:
    mask = np.random.default_rng(length).random(length) < density
    expected = np.flatnonzero(mask)
    for count in (None, len(expected)):
        places = true_places(mask, count)
        assert places.dtype == np.int64
        assert np.array_equal(places, expected)


@pytest.mark.parametrize("place", [0, 7, 8, 65_535, 65_536, 65_540])
def test_a_single_flag_is_found_wherever_it_is(place: int) -> None:
    mask = np.zeros(65_541, np.bool_)
    mask[place] = True
    assert true_places(mask).tolist() == [place]


def test_masks_that_begin_off_a_word_are_searched_alike() -> None:
    mask = np.zeros(100_000, np.bool_)
    mask[[3, 50_000, 99_999]] = True
    assert true_places(mask[3:]).tolist() == [0, 49_997, 99_996]
