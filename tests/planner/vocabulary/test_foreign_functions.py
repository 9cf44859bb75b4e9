"""What is said of other databases' functions is true of ours."""

import re

import pytest

from pykudu_sql.planner.vocabulary.foreign_functions import FOREIGN_FUNCTIONS, FOREIGN_VALUES
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS

_CALL = re.compile(r"\b([a-z_]+)\(")
_IN_FROM = {"changes"}


def test_none_of_them_is_a_function_here() -> None:
    assert set(FOREIGN_FUNCTIONS) & set(FUNCTIONS) == set()


@pytest.mark.parametrize("hint", sorted({*FOREIGN_FUNCTIONS.values(), *FOREIGN_VALUES.values()}))
def test_what_to_write_instead_is_there(hint: str) -> None:
    assert {name.lower() for name in _CALL.findall(hint)} - _IN_FROM <= set(FUNCTIONS) | {"cast"}
