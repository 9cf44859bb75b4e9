"""Row operations: what each kind does, and the checks of a batch and of one row."""

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.rows.row_operation import RowOpKind, check_cells, check_columns
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import NotNullError, ValueTooLargeError

SCHEMA = create_schema(
    [ColumnSchema(0, "id", DataType(Kind.INT64)), ColumnSchema(0, "note", DataType(Kind.STRING))],
    ["id"],
)


def test_kinds_say_whether_they_insert_and_whether_they_skip() -> None:
    assert [k for k in RowOpKind if k.may_insert] == list(RowOpKind)[:4]
    assert [k for k in RowOpKind if k.ignores] == list(RowOpKind)[1::2]


@pytest.mark.parametrize("dictionary", [False, True])
def test_cells_up_to_64_kib_pass_and_larger_ones_are_refused(dictionary: bool) -> None:
    fits, over = "é" * 32768, "é" * 32768 + "x"

    def notes(text: str) -> dict[int, pa.Array]:
        values = pa.array(["a", None, text])
        return {0: pa.array([1, 2, 3]), 1: values.dictionary_encode() if dictionary else values}

    check_columns(SCHEMA, notes(fits), "t")
    check_cells(SCHEMA, {0: 1, 1: fits}, "t")
    message = r"value too large for column 'note' \(65537 bytes, maximum is 65536 bytes\)"
    with pytest.raises(ValueTooLargeError, match=message):
        check_columns(SCHEMA, notes(over), "t")
    with pytest.raises(ValueTooLargeError, match=message):
        check_cells(SCHEMA, {0: 1, 1: over}, "t")


def test_null_in_a_not_null_column_is_refused() -> None:
    message = "NULL values not allowed for non-nullable column 'id' of table 't'"
    with pytest.raises(NotNullError, match=message):
        check_columns(SCHEMA, {0: pa.array([1, None])}, "t")
    with pytest.raises(NotNullError, match=message):
        check_cells(SCHEMA, {0: None}, "t")
    check_cells(SCHEMA, {0: 1, 1: None}, "t")
