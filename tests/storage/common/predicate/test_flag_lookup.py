"""Flags are looked up by number, also where the numbers are many or lie outside."""

import numpy as np

from pykudu_sql.storage.common.predicate.flag_lookup import flags_at


def test_every_number_has_the_flag_of_its_place() -> None:
    random = np.random.default_rng(3)
    flags = random.random(300) < 0.3
    for kind in (np.uint8, np.uint16, np.int16, np.int32, np.int64):
        numbers = random.integers(0, 256, 100_000).astype(kind)
        assert np.array_equal(flags_at(flags, numbers), flags[numbers])
    assert len(flags_at(flags, np.empty(0, np.int32))) == 0


def test_places_outside_have_the_flag_of_the_nearest() -> None:
    flags = np.array([True, False, False])
    numbers = np.array([-5, 6, 7, 8, 1 << 40], np.int64)
    assert flags_at(flags, numbers, np.array([7], np.int64)).tolist() == [
        *(True, True, True, False, False)
    ]
