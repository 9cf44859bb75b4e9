"""How many arguments functions take, and how that is written."""

import pytest

from pykudu_sql.planner.vocabulary.function_table import Arity


@pytest.mark.parametrize(
    ("arity", "text"),
    [
        (Arity((0,)), "no arguments"),
        (Arity((1,)), "1 argument"),
        (Arity((0, 1)), "0 or 1 argument"),
        (Arity((2, 3, 5)), "2, 3 or 5 arguments"),
        (Arity((), 1), "at least 1 argument"),
        (Arity((1,), 3), "1 or at least 3 arguments"),
        (Arity((), 0), "any number of arguments"),
    ],
)
def test_an_arity_is_written_as_one_says_it(arity: Arity, text: str) -> None:
    assert str(arity) == text


def test_an_arity_allows_its_counts_and_what_is_at_least_its_open_end() -> None:
    arity = Arity((1,), 3)
    assert [count for count in range(6) if arity.allows(count)] == [1, 3, 4, 5]
    assert (arity.least, arity.most) == (1, None)
    assert (Arity((2, 4)).least, Arity((2, 4)).most) == (2, 4)
