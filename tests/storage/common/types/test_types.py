"""The type table: names, ranges and what may be a key."""

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.type_names import parse_type, type_of_arrow
from pykudu_sql.storage.common.types.types import DataType, Kind, decimal_type
from pykudu_sql.storage.errors import InvalidSchemaError
from tests.storage.common.strategies import ALL_TYPES


@pytest.mark.parametrize("kind", ALL_TYPES, ids=str)
def test_a_type_is_read_back_from_its_name_and_from_arrow(kind: DataType) -> None:
    assert parse_type(str(kind)) == kind
    expected = DataType(Kind.STRING) if kind.kind is Kind.VARCHAR else kind
    assert type_of_arrow(kind.arrow) == expected
    assert type_of_arrow(pa.dictionary(pa.int32(), kind.arrow)) == expected
    if kind.numpy is not None:
        assert kind.numpy.itemsize == kind.width


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bigint", DataType(Kind.INT64)),
        (" Int ", DataType(Kind.INT32)),
        ("UNIXTIME_MICROS", DataType(Kind.UNIXTIME_MICROS)),
        ("double precision", DataType(Kind.DOUBLE)),
        ("text", DataType(Kind.STRING)),
        ("varchar", DataType(Kind.STRING)),
        ("decimal", decimal_type(9, 0)),
        ("NUMERIC( 15 , 2 )", decimal_type(15, 2)),
        ("varchar(10)", DataType(Kind.VARCHAR, length=10)),
    ],
)
def test_type_names_of_sql_and_kudu_are_understood(text: str, expected: DataType) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "JSON", "INT(5,1)", "DATE(5)", "VARCHAR(0)", "VARCHAR(65536)", "VARCHAR(1,2)",
        "DECIMAL(39)", "DECIMAL(0)", "DECIMAL(5,6)", "INT; DROP TABLE t",
    ],
)  # fmt: skip
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        parse_type(text)


def test_key_columns_may_be_anything_but_booleans_and_floats() -> None:
    refused = {kind.kind for kind in ALL_TYPES if not kind.allowed_in_key}
    assert refused == {Kind.BOOL, Kind.FLOAT, Kind.DOUBLE}


def test_the_width_in_which_integers_are_printed_means_nothing() -> None:
    assert parse_type("INT(11)") == parse_type("INT")
    assert parse_type("tinyint(1)") == parse_type("TINYINT")
