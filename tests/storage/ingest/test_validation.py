"""The rules on rows: which rows of a batch each refuses and why; their prechecks for one row."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import DatabaseError, NotNullError, ValueTooLargeError
from pykudu_sql.storage.ingest.row_batch import (
    RowBatch,
    SetColumns,
    batch_of_one,
    complete,
)
from pykudu_sql.storage.ingest.row_shape import RowShape
from pykudu_sql.storage.ingest.validation import (
    CELL_RULES,
    KEY_RULES,
    ROW_RULES,
    MakePrecheck,
    Violation,
    can_hold,
    check_row,
    prechecks,
    raise_first,
    validate,
    validate_keys,
)
from tests.properties.examples import examples

STRING, BIGINT = DataType(Kind.STRING), DataType(Kind.INT64)
NAME, PART, COUNTER, NOTE = 0, 1, 4, 3
# Three key columns, two of them strings, so that zero bytes and end marks count; a counter.
SCHEMA = create_schema(
    [
        ColumnSchema(0, "name", STRING),
        ColumnSchema(0, "part", DataType(Kind.BINARY)),
        ColumnSchema(0, "amount", BIGINT, nullable=False),
        ColumnSchema(0, "note", STRING),
    ],
    ["name", "part"],
    unique=False,
)
TABLE = new_table("t", SCHEMA, PartitionSchema((), (), ()), "", {})
IN_RANGES = new_table(
    "r", SCHEMA, PartitionSchema((), (NAME,), (RangePartition(("a",), ("k",)),)), "", {}
)
Row = dict[int, Cell]


class Reported:
    """Takes refused rows out, and keeps what was said of them by their positions."""

    def __init__(self) -> None:
        self.said: dict[int, DatabaseError] = {}

    def refuse(self, batch: RowBatch, violation: Violation) -> RowBatch:
        for place in violation.mask.nonzero()[0].tolist():
            self.said[int(batch.positions[place])] = violation.reason(place)
        return batch.take((~violation.mask).nonzero()[0])


def notes(*texts: str | None, dictionary: bool = False) -> RowBatch:
    values = pa.array(texts, pa.string())
    columns = {
        NAME: pa.array(["a"] * len(texts)),
        PART: pa.array([b""] * len(texts)),
        COUNTER: pa.array(range(1, len(texts) + 1)),
        NOTE: values.dictionary_encode() if dictionary else values,
    }
    return complete(TABLE, RowOperations(RowOpKind.UPDATE, columns, len(texts)))


@pytest.mark.parametrize("dictionary", [False, True])
def test_cells_up_to_64_kib_pass_and_larger_ones_are_refused(dictionary: bool) -> None:
    fits, over = "é" * 32768, "é" * 32768 + "x"
    assert (
        validate(notes("a", None, fits, dictionary=dictionary), raise_first).operations.length == 3
    )
    message = r"value too large for column 'note' \(65537 bytes, maximum is 65536 bytes\)"
    with pytest.raises(ValueTooLargeError, match=message):
        validate(notes("a", over, over + "x", dictionary=dictionary), raise_first)


def test_null_in_a_not_null_column_is_refused() -> None:
    columns = {NAME: pa.array(["a", None]), PART: pa.array([b"", b""]), COUNTER: pa.array([1, 2])}
    batch = complete(TABLE, RowOperations(RowOpKind.DELETE, columns, 2))
    with pytest.raises(NotNullError, match="non-nullable column 'name' of table 't'"):
        validate(batch, raise_first)


@pytest.mark.parametrize("size", [16384, 16385])
def test_an_encoded_key_of_16_kib_is_taken_and_one_byte_more_is_refused(size: int) -> None:
    # Of the key: the end mark of a string, the escaped zero of a binary, its end mark, the counter.
    name = "x" * (size - 2 - 2 - 2 - 8)
    columns = {
        NAME: pa.array(["a", name]),
        PART: pa.array([b"", b"\0"]),
        COUNTER: pa.array([1, 2], pa.int64()),
    }
    batch = complete(TABLE, RowOperations(RowOpKind.DELETE, columns, 2))
    if size == 16384:
        assert validate_keys(batch, raise_first) is batch
        assert can_hold(TABLE, (name, b"\0", 2))
        return
    message = r"encoded primary key too large \(16385 bytes, maximum is 16384 bytes\)"
    with pytest.raises(ValueTooLargeError, match=message):
        validate_keys(batch, raise_first)
    with pytest.raises(ValueTooLargeError, match=message):
        check_row(TABLE, RowOpKind.DELETE, {NAME: name, PART: b"\0", COUNTER: 2}, columns)
    assert not can_hold(TABLE, (name, b"\0", 2))


def test_each_refused_row_is_reported_once_with_the_first_rule_that_it_breaks() -> None:
    said, over = Reported(), "x" * 65537
    columns = {
        NAME: pa.array(["a", None, "z", "b", "z" * 20_000, "c"]),
        PART: pa.array([b""] * 6),
        2: pa.array([1, None, 2, None, 3, 4]),
        NOTE: pa.array([over, over, None, None, None, None]),
        COUNTER: pa.array([-1, 2, 3, 4, 5, -6], pa.int64()),
    }
    batch = complete(IN_RANGES, RowOperations(RowOpKind.UPSERT, columns, 6))
    left = validate_keys(validate(batch, said.refuse), said.refuse)
    assert left.operations.length == 0
    assert {place: error.sqlstate for place, error in said.said.items()} == {
        0: "22001",
        1: "23502",
        2: "23514",
        3: "23502",
        4: "22001",
        5: "22003",
    }
    assert "'name'" in said.said[1].message
    assert "'amount'" in said.said[3].message
    assert "primary key too large" in said.said[4].message


CELLS: dict[int, st.SearchStrategy[Cell]] = {
    NAME: st.none() | st.sampled_from(["", "a", "k", "\0" * 2048, "é" * 1024, "x" * 16_400]),
    PART: st.none() | st.sampled_from([b"", b"\0\0", b"\0" * 8000, b"y" * 17_000]),
    2: st.none() | st.integers(-1, 1),
    NOTE: st.none() | st.sampled_from(["", "é" * 16384, "é" * 32768, "é" * 32769]),
    COUNTER: st.none() | st.integers(-2, 2),
}


@settings(max_examples=examples(120), deadline=None)
@given(
    st.sampled_from(list(RowOpKind)),
    st.fixed_dictionaries(CELLS),
    st.permutations(list(CELLS)),
    st.sampled_from([TABLE, IN_RANGES]),
)
def test_a_row_is_refused_exactly_as_the_batch_of_one(
    kind: RowOpKind, cells: Row, order: Sequence[int], table: TableInfo
) -> None:
    row = {i: cells[i] for i in order}

    def by_batch() -> None:
        batch = validate(batch_of_one(table, kind, row, row), raise_first)
        validate_keys(batch, raise_first)

    def by_row() -> None:
        shape = RowShape(table, kind, SetColumns((), None), None, True, prechecks(table))
        shape.check(row, row)
        table.assigner.assign_one(row)

    assert outcome(by_row) == outcome(by_batch)


def outcome(check: object) -> tuple[object, ...]:
    assert callable(check)
    try:
        check()
    except DatabaseError as error:
        return type(error), error.message, error.hint, error.sqlstate
    return ("fits",)


def surely_fits(make: MakePrecheck | None, row: Row) -> bool:
    assert make is not None
    precheck = make(TABLE)
    return precheck is None or precheck(row)


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(list(RowOpKind)), st.fixed_dictionaries(CELLS))
def test_a_precheck_never_passes_a_row_that_its_rule_refuses(kind: RowOpKind, row: Row) -> None:
    batch = batch_of_one(TABLE, kind, row, row)
    for cell_rule in CELL_RULES:
        refused = any(cell_rule.check(batch, column) for column in SCHEMA.columns)
        assert not (refused and surely_fits(cell_rule.precheck, row))
    for row_rule in ROW_RULES if row[COUNTER] is not None else ():
        assert not (row_rule.check(batch) and surely_fits(row_rule.precheck, row))
    if None not in (row[i] for i in SCHEMA.key_ids):
        for key_rule in KEY_RULES:
            if key_rule.precheck is not None:
                assert not (key_rule.check(batch) and surely_fits(key_rule.precheck, row))
