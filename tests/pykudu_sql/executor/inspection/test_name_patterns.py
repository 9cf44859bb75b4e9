"""Patterns of names behind SHOW and DESCRIBE."""

import pytest

from pykudu_sql.executor.inspection.name_patterns import like


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        (None, "anything", True),
        ("T_", "t1", True),
        ("t_", "t12", False),
        ("t%", "t12", True),
        ("t*|u", "u", True),
        ("a.c", "abc", False),
        ("", None, True),
    ],
)
def test_a_pattern_is_that_of_like_and_of_impala(
    pattern: str | None, name: str | None, matches: bool
) -> None:
    assert like(pattern)(name) is matches
