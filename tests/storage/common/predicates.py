"""Random predicates and a plain reading of them, row by row."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_domain import compare
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Op,
    Or,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.predicate.integer_set import IntegerSet
from pykudu_sql.storage.common.types.types import Cell, DataType
from tests.storage.common.strategies import cells


def set_of(*values: int) -> IntegerSet:
    """The set of some integers, at least one."""
    members = IntegerSet.of(np.array(values, np.int64), 1 << 20)
    assert members is not None
    return members


@cache
def _lists(kind: DataType) -> st.SearchStrategy[tuple[Cell, ...]]:
    return st.lists(cells(kind), max_size=4).map(tuple)


_OPS = st.sampled_from(Op)
_SMALL = st.integers(0, 7)


@st.composite
def predicates(draw: st.DrawFn, types: Sequence[DataType]) -> Predicate:
    """Trees, at most three deep, over columns whose ids are their positions."""

    def leaf() -> Predicate:
        column_id = draw(_SMALL) % len(types)
        kind = types[column_id]
        shape = draw(_SMALL)
        if shape < 4:
            return Comparison(column_id, draw(_OPS), draw(cells(kind)))
        if shape == 4:
            return InList(column_id, draw(_lists(kind)))
        if shape == 5 and kind.is_variable:
            prefix = draw(cells(kind))
            assert isinstance(prefix, str | bytes)
            return StartsWith(column_id, prefix)
        return IsNull(column_id) if shape == 6 else IsNotNull(column_id)

    def tree(depth: int) -> Predicate:
        shape = draw(_SMALL) if depth else 0
        if shape < 3:
            return leaf()
        parts = tuple(tree(depth - 1) for _ in range(draw(_SMALL) % 4))
        return And(parts) if shape < 5 else Or(parts)

    return tree(3)


def holds(predicate: Predicate, row: Sequence[Cell]) -> bool:
    """Whether a predicate holds for a row of cells whose index is the column id."""
    match predicate:
        case And(parts):
            return all(holds(part, row) for part in parts)
        case Or(parts):
            return any(holds(part, row) for part in parts)
        case IsNull(column_id):
            return row[column_id] is None
    cell = row[predicate.column_id]
    if cell is None:
        return False
    match predicate:
        case Comparison(_, op, value):
            order = compare(cell, value)
            return {
                Op.EQ: order == 0,
                Op.LT: order < 0,
                Op.LE: order <= 0,
                Op.GT: order > 0,
                Op.GE: order >= 0,
            }[op]
        case InList(_, values):
            return any(compare(cell, value) == 0 for value in values)
        case StartsWith(_, prefix):
            assert isinstance(cell, str | bytes)
            return cell[: len(prefix)] == prefix
    return True
