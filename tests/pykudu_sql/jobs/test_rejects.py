"""How many rows are not loaded, and why, in words."""

import pytest

from pykudu_sql.jobs.rejects import BROKEN, CHECKED, NO_VALUE, PRESENT, Reject, counted


def rejects(*kinds: str) -> list[Reject]:
    return [Reject("a.csv", kind, "a reason", "1,x", 1, 1) for kind in kinds]


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ((NO_VALUE,), "1 value that does not fit"),
        ((NO_VALUE, NO_VALUE), "2 values that do not fit"),
        ((BROKEN, CHECKED), "1 broken line, 1 that breaks a constraint"),
        ((PRESENT,), "1 with a key that is present already"),
    ],
)
def test_rejects_are_counted_by_kind_in_the_number_they_have(
    kinds: tuple[str, ...], text: str
) -> None:
    assert counted(rejects(*kinds)) == text
