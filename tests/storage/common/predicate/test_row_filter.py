"""What a scan makes of a predicate: steps in their order, and the ranges of keys that may match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
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
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from tests.storage.common.predicates import holds, predicates
from tests.storage.common.strategies import cells

SCHEMA = create_schema(
    [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(1, "name", DataType(Kind.STRING)),
        ColumnSchema(2, "small", DataType(Kind.INT8)),
        ColumnSchema(3, "large", DataType(Kind.INT64)),
    ],
    ["id"],
)
ID, NAME, SMALL, LARGE = (column.id for column in SCHEMA.columns)
KEYS = KeyEncoder(SCHEMA.key_columns)


def filter_of(*parts: Predicate) -> RowFilter:
    return RowFilter.of(And(parts), SCHEMA.key_columns, SCHEMA.columns)


def test_the_most_selective_and_the_narrowest_column_come_first() -> None:
    either = Or((Comparison(LARGE, Op.EQ, 1), IsNull(NAME)))
    steps = filter_of(
        either,
        IsNotNull(NAME),
        Comparison(LARGE, Op.GE, 5),
        Comparison(SMALL, Op.GE, 5),
        InList(ID, (1, 2)),
    ).steps
    assert [tuple(c.name for c in step.columns) for step in steps] == [
        ("id",),
        ("small",),
        ("large",),
        ("name",),
        ("name", "large"),
    ]
    assert steps[-1].types.keys() == {NAME, LARGE}


def test_ranges_of_keys_say_which_rowsets_may_hold_a_row() -> None:
    held = filter_of(InList(ID, (3, 9)))
    key = {i: KEYS.encode_one((i,)) for i in range(12)}
    assert held.key_ranges == ((key[3], key[3] + b"\0"), (key[9], key[9] + b"\0"))
    assert held.may_hold(key[0], key[3]) and held.may_hold(key[5], key[11])
    assert not held.may_hold(key[4], key[8]) and not held.may_hold(key[10], key[11])


def test_a_predicate_without_the_key_restricts_no_keys() -> None:
    anywhere = filter_of(Comparison(LARGE, Op.EQ, 1))
    assert anywhere.key_ranges is None and anywhere.may_hold(b"", b"")


@pytest.mark.parametrize(
    "part", [NEVER, And((Comparison(ID, Op.GT, 5), Comparison(ID, Op.LT, 5)))], ids=["never", "gap"]
)
def test_what_no_row_matches_is_known_beforehand(part: Predicate) -> None:
    nothing = filter_of(part)
    assert nothing.matches_nothing and not nothing.steps
    assert not nothing.may_hold(b"", b"\xff")


def test_what_every_row_matches_has_no_steps() -> None:
    assert filter_of(ALWAYS).steps == () and not filter_of(ALWAYS).matches_nothing


def test_parts_about_columns_that_are_not_known_drop_no_rows() -> None:
    known = [SCHEMA.by_id[ID]]
    part = And((Comparison(LARGE, Op.EQ, 1), Comparison(ID, Op.EQ, 2)))
    partial = RowFilter.of(part, SCHEMA.key_columns, known)
    assert not partial.is_complete and len(partial.steps) == 1
    assert filter_of(part).is_complete


def test_a_filter_that_leaves_nothing_in_is_dense_only_where_all_rows_match() -> None:
    assert filter_of(ALWAYS).dense < 1 and filter_of(ALWAYS).exactly().dense == 1


LONG_KEY = create_schema(
    [
        ColumnSchema(0, "number", DataType(Kind.INT8)),
        ColumnSchema(1, "word", DataType(Kind.STRING)),
        ColumnSchema(2, "last", DataType(Kind.INT16)),
        ColumnSchema(3, "value", DataType(Kind.DOUBLE), nullable=True),
    ],
    ["number", "word", "last"],
)
TYPES = [column.type for column in LONG_KEY.columns]
NUMBER, WORD, LAST, VALUE = range(4)


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ((Comparison(NUMBER, Op.EQ, 1), Comparison(WORD, Op.GT, "b")), []),
        ((Comparison(NUMBER, Op.EQ, 1), StartsWith(WORD, "b")), []),
        ((InList(NUMBER, (1, 2)), Comparison(WORD, Op.EQ, "b"), Comparison(LAST, Op.LT, 5)), []),
        ((Comparison(NUMBER, Op.GE, 1), Comparison(WORD, Op.EQ, "b")), [WORD]),
        ((Comparison(NUMBER, Op.EQ, 1), Comparison(LAST, Op.EQ, 2)), [LAST]),
        ((Comparison(NUMBER, Op.EQ, 1), Comparison(VALUE, Op.GT, 0.5)), [VALUE]),
        ((Comparison(LAST, Op.EQ, 2),), [LAST]),
        # So many ranges are not made: the numbers count as an interval.
        ((InList(NUMBER, tuple(range(0, 40, 2))), InList(WORD, tuple("abcdefghijklmn"))), [WORD]),
        # -200 is no number, but the range of keys begins below all of them.
        ((Or((Comparison(NUMBER, Op.LT, -200), Comparison(NUMBER, Op.EQ, 5))),), [NUMBER]),
    ],
)
def test_steps_that_the_key_ranges_decide_are_left_out_for_rows_in_them(
    parts: tuple[Predicate, ...], left: list[int]
) -> None:
    wanted = RowFilter.of(And(parts), LONG_KEY.key_columns, LONG_KEY.columns)
    looked_at = [c.id for step in wanted.within_key_ranges().steps for c in step.columns]
    assert looked_at == left


@given(
    predicate=predicates(TYPES),
    rows=st.lists(st.tuples(*map(cells, TYPES)), min_size=1, max_size=20),
)
def test_a_row_in_the_key_ranges_matches_if_the_steps_left_hold(
    predicate: Predicate, rows: list[tuple[Cell, ...]]
) -> None:
    wanted = RowFilter.of(predicate, LONG_KEY.key_columns, LONG_KEY.columns)
    encoder = KeyEncoder(LONG_KEY.key_columns)
    for row in rows:
        key = encoder.encode_one(row[:3])
        left = wanted.within_key_ranges().steps
        found = wanted.may_hold(key, key) and all(holds(step.predicate, row) for step in left)
        assert found == holds(predicate, row)
