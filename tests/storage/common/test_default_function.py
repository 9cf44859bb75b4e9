"""Functions of defaults by their SQL."""

from pykudu_sql.storage.common.default_function import DEFAULT_FUNCTIONS, DefaultFunction


def test_a_function_is_told_by_its_sql() -> None:
    assert DEFAULT_FUNCTIONS["now()"] is DefaultFunction.NOW
    assert {each.sql for each in DefaultFunction} == set(DEFAULT_FUNCTIONS)


def test_only_chance_is_not_of_the_moment() -> None:
    others = [each for each in DefaultFunction if not each.is_of_the_moment]
    assert others == [DefaultFunction.UUID, DefaultFunction.UUID_DIGITS]
