"""Schemas: rules of creation, and JSON."""

import math
from dataclasses import replace

import pytest

from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.cells import cell_from_json, cell_to_json
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.schema_rules import AUTO_INCREMENTING_ID
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    Error,
    InvalidSchemaError,
    UndefinedColumnError,
)


def _column(name: str, kind: str = "INT", **attributes: object) -> ColumnSchema:
    return ColumnSchema(99, name, parse_type(kind), **attributes)  # type: ignore[arg-type]


@pytest.fixture
def schema() -> Schema:
    """A table with its key in the middle."""
    columns = [_column("note", "STRING"), _column("b"), _column("a", "STRING"), _column("v")]
    return create_schema(columns, ["a", "b"])


def test_ids_follow_the_columns_and_the_key_its_own_order(schema: Schema) -> None:
    assert [c.id for c in schema.columns] == [0, 1, 2, 3]
    assert [c.name for c in schema.key_columns] == ["a", "b"]
    assert [c.name for c in schema.columns if c.nullable] == ["note", "v"]
    assert schema.next_column_id == 4
    assert schema.arrow.names == ["note", "b", "a", "v"]


def test_a_key_that_need_not_be_unique_gets_a_hidden_counter() -> None:
    schema = create_schema([_column("a")], ["a"], unique=False)
    assert [c.name for c in schema.key_columns] == ["a", AUTO_INCREMENTING_ID]
    assert [c.name for c in schema.visible_columns] == ["a"]
    assert create_schema([_column("a")], [], unique=False).key_ids == (1,)


@pytest.mark.parametrize(
    ("columns", "key", "error", "message"),
    [
        ([_column("a")], [], InvalidSchemaError, "needs a primary key"),
        ([_column("a")], ["x"], UndefinedColumnError, "column 'x' does not exist"),
        ([_column("a"), _column("a")], ["a"], DuplicateObjectError, "'a' is given twice"),
        ([_column("a")], ["a", "a"], InvalidSchemaError, "is named twice in the primary key"),
        ([_column("a", "DOUBLE")], ["a"], InvalidSchemaError, "cannot be in the primary key"),
        ([_column("a", "BOOLEAN")], ["a"], InvalidSchemaError, "cannot be in the primary key"),
        ([_column("")], [""], InvalidSchemaError, "of 0 bytes is not valid"),
        ([_column("é" * 129)], ["é" * 129], InvalidSchemaError, "of 258 bytes is not valid"),
        ([_column("a\0")], ["a\0"], InvalidSchemaError, "is not valid"),
        ([_column("a", block_size=100)], ["a"], InvalidSchemaError, "BLOCK_SIZE 100"),
        ([_column("a", comment="x" * 257)], ["a"], InvalidSchemaError, "longer than 256 bytes"),
        ([_column(f"c{i}") for i in range(301)], ["c0"], InvalidSchemaError, "the 300 columns"),
    ],
)
def test_a_broken_rule_is_refused(
    columns: list[ColumnSchema], key: list[str], error: type[Error], message: str
) -> None:
    with pytest.raises(error, match=message):
        create_schema(columns, key)


def test_a_schema_survives_json(schema: Schema) -> None:
    more = (
        _column("blob", "BINARY", write_default=b"\x00\xff", comment="c", immutable=True),
        _column("d", "DOUBLE", write_default=math.inf),
        _column("at", "DATE", default_function=DefaultFunction.TODAY, read_default=3),
    )
    rich = replace(schema, columns=(*schema.columns, *more))
    assert rich.to_json()["columns"][-1]["write_default"] == {"function": "CURRENT_DATE"}
    assert Schema.from_json(rich.to_json()) == rich


@pytest.mark.parametrize("cell", [None, True, 5, -0.0, 1.5, math.nan, math.inf, "\0é", b"\0\xff"])
def test_cells_survive_json(cell: Cell) -> None:
    back = cell_from_json(cell_to_json(cell))
    assert repr(back) == repr(cell)


def test_a_column_field_carries_its_nullability() -> None:
    assert not ColumnSchema(0, "a", DataType(Kind.INT8), nullable=False).field.nullable
