"""Random predicates and a plain reading of them, row by row."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from pykudu_sql.storage.common.column_domain import compare
from pykudu_sql.storage.common.column_predicate import (
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
from pykudu_sql.storage.common.types import Cell, DataType
from tests.storage.common.strategies import cells


def leaf_predicates(types: Mapping[int, DataType]) -> st.SearchStrategy[Predicate]:
    """Leaves over some columns."""

    def of_column(column_id: int) -> st.SearchStrategy[Predicate]:
        values = cells(types[column_id])
        choices: list[st.SearchStrategy[Predicate]] = [
            st.builds(Comparison, st.just(column_id), st.sampled_from(Op), values),
            st.builds(InList, st.just(column_id), st.lists(values, max_size=4).map(tuple)),
            st.sampled_from((IsNull(column_id), IsNotNull(column_id))),
        ]
        if types[column_id].is_variable:
            choices.append(st.builds(StartsWith, st.just(column_id), values))
        return st.one_of(choices)

    return st.sampled_from(sorted(types)).flatmap(of_column)


def predicates(types: Mapping[int, DataType]) -> st.SearchStrategy[Predicate]:
    """Trees over some columns."""
    return st.recursive(
        leaf_predicates(types),
        lambda parts: (
            st.builds(And, st.lists(parts, max_size=3).map(tuple))
            | st.builds(Or, st.lists(parts, max_size=3).map(tuple))
        ),
        max_leaves=6,
    )


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
