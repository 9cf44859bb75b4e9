"""What a scan makes of a predicate: steps in their order, and the ranges of keys that may match."""

import pytest

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
)
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind

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
