"""Conditions on rows: a batch and single rows agree, and both follow SQL's three values."""

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.condition_eval import holds, truth
from pykudu_sql.storage.common.predicate.row_condition import (
    AllOf,
    AnyOf,
    ColumnCell,
    Compared,
    FixedCell,
    Matches,
    Missing,
    Negated,
    OneOf,
    RowCondition,
    TextLength,
    condition_from_json,
    condition_to_json,
)
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

TYPES = {
    1: DataType(Kind.INT32),
    2: DataType(Kind.INT8),
    3: DataType(Kind.DOUBLE),
    4: DataType(Kind.FLOAT),
    5: DataType(Kind.STRING),
    6: DataType(Kind.STRING),
    7: DataType(Kind.BOOL),
    8: DataType(Kind.DECIMAL, 30, 2),
    9: DataType(Kind.DECIMAL, 38, 2),
}
LIKE = ((1, 2), (3, 4), (5, 6), (7,), (8, 9))
NUMBERS = st.integers(-3, 3)
FLOATS = st.sampled_from([-1.5, -0.0, 0.0, 1.5, math.inf, math.nan])
WORDS = st.text("ab%_.\\\n(é", max_size=3)
WIDE = st.sampled_from([-(10**25), -1, 0, 5, 10**25])
VALUES: dict[int, st.SearchStrategy[Any]] = {
    1: NUMBERS, 2: NUMBERS, 3: FLOATS, 4: FLOATS, 5: WORDS, 6: WORDS, 7: st.booleans(), 8: WIDE,
    9: WIDE,
}  # fmt: skip
ROWS = st.lists(
    st.fixed_dictionaries({i: st.none() | values for i, values in VALUES.items()}),
    min_size=1,
    max_size=6,
)


@st.composite
def leaves(draw: st.DrawFn) -> RowCondition:
    ids = draw(st.sampled_from(LIKE))
    column = draw(st.sampled_from(ids))
    constants = VALUES[column].filter(lambda value: value == value)
    forms = ["constant", "column", "in", "null"] + ["like", "length"] * (column in (5, 6))
    match draw(st.sampled_from(forms)):
        case "constant":
            op = draw(st.sampled_from(list(Op)))
            return Compared(ColumnCell(column), op, FixedCell(draw(constants)))
        case "column":
            op, other = draw(st.sampled_from(list(Op))), draw(st.sampled_from(ids))
            return Compared(ColumnCell(column), op, ColumnCell(other))
        case "in":
            cells = draw(st.lists(constants, min_size=1, max_size=3))
            return OneOf(ColumnCell(column), tuple(dict.fromkeys(cells)))
        case "null":
            return Missing(ColumnCell(column))
        case "like":
            return Matches(ColumnCell(column), draw(WORDS))
        case _:
            op = draw(st.sampled_from(list(Op)))
            right = draw(st.sampled_from([FixedCell(2), ColumnCell(1), TextLength(5)]))
            return Compared(TextLength(column), op, right)


def joined(parts: st.SearchStrategy[RowCondition]) -> st.SearchStrategy[RowCondition]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return parts.map(Negated) | several.map(AllOf) | several.map(AnyOf)


CONDITIONS = st.recursive(leaves(), joined, max_leaves=6)


def columns_of(rows: list[dict[int, Cell]], *, words: bool) -> dict[int, pa.Array]:
    arrays = {i: cells_to_array([row[i] for row in rows], TYPES[i]) for i in TYPES}
    return {i: a.dictionary_encode() if words and i in (5, 6) else a for i, a in arrays.items()}


@given(condition=CONDITIONS, rows=ROWS, words=st.booleans())
def test_a_batch_says_of_each_row_what_the_row_says_alone(
    condition: RowCondition, rows: list[dict[int, Cell]], words: bool
) -> None:
    found = truth(condition, columns_of(rows, words=words), TYPES)
    assert not np.any(found.true & found.false)
    alone = [holds(condition, row) for row in rows]
    assert found.true.tolist() == [answer is True for answer in alone]
    assert found.false.tolist() == [answer is False for answer in alone]


@given(condition=CONDITIONS)
def test_a_condition_comes_back_from_json(condition: RowCondition) -> None:
    assert condition_from_json(json.loads(json.dumps(condition_to_json(condition)))) == condition


A, B = ColumnCell(1), ColumnCell(2)


@pytest.mark.parametrize(
    ("condition", "row", "expected"),
    [
        (Compared(A, Op.LT, B), {1: 1, 2: 2}, True),
        (Compared(A, Op.LT, B), {1: None, 2: 2}, None),
        (Negated(Compared(A, Op.EQ, FixedCell(5))), {1: None}, None),
        (AnyOf((Missing(A), Compared(A, Op.GT, FixedCell(0)))), {1: None}, True),
        (AllOf((Compared(A, Op.GT, FixedCell(0)), Missing(B))), {1: None, 2: 1}, False),
        (OneOf(A, (1, 2)), {1: None}, None),
        (Matches(ColumnCell(5), "a_%"), {5: "é\n"}, False),
        (Matches(ColumnCell(5), "_"), {5: "é"}, True),
        (Matches(ColumnCell(5), "%b"), {5: "a\nb"}, True),
        (Compared(TextLength(5), Op.EQ, FixedCell(1)), {5: "é"}, True),
        (Compared(ColumnCell(3), Op.GT, FixedCell(math.inf)), {3: math.nan}, True),
    ],
)
def test_null_is_neither_true_nor_false(
    condition: RowCondition, row: dict[int, Cell], expected: bool | None
) -> None:
    assert holds(condition, row) is expected


@pytest.mark.parametrize(
    "value", [[], ["and", []], ["!", ["column", 1], ["cell", 1]], ["in", ["cell", 1], [1]], "x"]
)
def test_what_is_no_condition_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        condition_from_json(value)
