"""What a column's default gives, for one row and for many."""

import uuid
from typing import Any

import pytest

from pykudu_sql.storage.common.column_defaults import (
    default_array,
    default_cell,
    default_sql,
    default_value,
    with_functions,
)
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.arrays import array_to_cells, plain
from pykudu_sql.storage.common.types.hybrid_time import StatementTime, from_micros
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type

MICROS = 1_700_000_000_123_456
TIME = StatementTime(lambda: from_micros(MICROS))


def column(type_name: str, function: DefaultFunction | None, constant: Any = None) -> ColumnSchema:
    kind = parse_type(type_name)
    return ColumnSchema(1, "c", kind, write_default=constant, default_function=function)


@pytest.mark.parametrize(
    ("type_name", "function", "cell"),
    [
        ("TIMESTAMP", DefaultFunction.NOW, MICROS),
        ("TIMESTAMP", DefaultFunction.NOW_IN_MILLISECONDS, MICROS - 456),
        ("TIMESTAMP", DefaultFunction.NOW_IN_SECONDS, MICROS - 123_456),
        ("TIMESTAMP", DefaultFunction.TODAY, 1_699_920_000_000_000),
        ("DATE", DefaultFunction.NOW, 19_675),
        ("DATE", DefaultFunction.TODAY, 19_675),
        ("STRING", DefaultFunction.NOW, "2023-11-14 22:13:20.123456"),
        ("STRING", DefaultFunction.NOW_IN_SECONDS, "2023-11-14 22:13:20"),
        ("VARCHAR(10)", DefaultFunction.TODAY, "2023-11-14"),
    ],
)
def test_a_time_is_one_for_all_rows(type_name: str, function: DefaultFunction, cell: Any) -> None:
    one = column(type_name, function)
    assert default_cell(one, TIME) == cell
    values = plain(default_array(one, TIME, 3))
    assert values.type == one.type.arrow
    assert array_to_cells(values, one.type) == [cell] * 3
    assert isinstance(cell, int) or len(cell) <= function.characters


def test_chance_gives_each_row_a_uuid_of_its_own() -> None:
    one = column("STRING", DefaultFunction.UUID)
    texts = [*array_to_cells(plain(default_array(one, TIME, 500)), one.type)]
    texts += [default_cell(one, TIME) for _ in range(10)]
    assert len(set(texts)) == 510
    for text in texts:
        read = uuid.UUID(str(text))
        assert (str(read), read.version, read.variant) == (text, 4, uuid.RFC_4122)
    none = default_array(one, TIME, 0)
    assert (len(none), none.type) == (0, one.type.arrow)


def test_the_digits_of_a_uuid_are_32() -> None:
    one = column("VARCHAR(32)", DefaultFunction.UUID_DIGITS)
    for text in (default_cell(one, TIME), default_array(one, TIME, 2)[1].as_py()):
        read = uuid.UUID(str(text))
        assert (read.hex, read.version) == (text, 4)


def test_a_constant_is_what_it_was() -> None:
    one = column("INT", None, 5)
    assert default_cell(one, TIME) == 5
    assert default_array(one, TIME, 2).to_pylist() == [5, 5]
    assert default_array(column("INT", None), TIME, 2).to_pylist() == [None, None]


def test_sql_and_people_see_the_function() -> None:
    function = column("TIMESTAMP", DefaultFunction.NOW)
    assert (default_sql(function), default_value(function)) == ("now()", "now()")
    assert (default_sql(column("INT", None, 5)), default_value(column("INT", None, 5))) == ("5", 5)
    assert default_sql(column("INT", None)) is None


def test_rows_get_what_functions_fill_and_they_do_not_set() -> None:
    columns = [
        ColumnSchema(0, "k", parse_type("INT")),
        ColumnSchema(1, "at", parse_type("TIMESTAMP"), default_function=DefaultFunction.NOW),
        ColumnSchema(2, "c", parse_type("INT"), write_default=5),
    ]
    schema = create_schema(columns, ["k"])
    keys = default_array(column("INT", None, 1), TIME, 2)
    filled = with_functions(schema, {0: keys}, TIME, 2)
    assert list(filled) == [0, 1]
    assert with_functions(schema, {0: keys, 1: keys}, TIME, 2)[1] is keys
