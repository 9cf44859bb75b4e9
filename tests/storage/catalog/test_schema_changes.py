"""Columns are added, dropped, renamed and widened by id."""

from dataclasses import replace

import pytest

from pykudu_sql.storage.catalog.schema_changes import (
    add_column,
    drop_column,
    rename_column,
    set_nullable,
    set_type,
)
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import DuplicateObjectError, InvalidSchemaError, UndefinedColumnError


def _column(name: str, kind: str = "INT", **attributes: object) -> ColumnSchema:
    return ColumnSchema(99, name, parse_type(kind), **attributes)  # type: ignore[arg-type]


@pytest.fixture
def schema() -> Schema:
    """A table with its key in the middle."""
    columns = [_column("note", "STRING"), _column("b"), _column("a", "STRING"), _column("v")]
    return create_schema(columns, ["a", "b"])


def test_a_dropped_name_added_again_gets_a_new_id(schema: Schema) -> None:
    old = schema.column("v").id
    again = add_column(drop_column(schema, "v"), _column("v"))
    assert again.column("v").id == 4 != old
    assert again.next_column_id == 5


def test_an_added_column_freezes_its_default_for_older_rows(schema: Schema) -> None:
    added = add_column(schema, _column("w", nullable=False, write_default=7))
    assert added.column("w").read_default == 7
    with pytest.raises(
        InvalidSchemaError, match="column 'x': NOT NULL columns must have a default"
    ):
        add_column(schema, _column("x", nullable=False))
    with pytest.raises(DuplicateObjectError, match="'v' exists already"):
        add_column(schema, _column("v"))


def test_a_function_of_the_moment_is_frozen_and_chance_cannot_be(schema: Schema) -> None:
    at = _column("at", "TIMESTAMP", nullable=False, default_function=DefaultFunction.NOW)
    added = add_column(schema, replace(at, read_default=7)).column("at")
    assert (added.read_default, added.has_default, added.write_default) == (7, True, None)
    token = _column("token", "STRING", default_function=DefaultFunction.UUID)
    with pytest.raises(InvalidSchemaError, match="no one value for the rows") as caught:
        add_column(schema, token)
    assert "ALTER COLUMN token SET DEFAULT uuid()" in (caught.value.hint or "")


def test_renaming_keeps_the_id_and_names_stay_distinct(schema: Schema) -> None:
    renamed = rename_column(schema, "a", "z")
    assert renamed.column("z").id == schema.column("a").id
    assert renamed.key_columns[0].name == "z"
    assert rename_column(schema, "a", "a") == schema
    with pytest.raises(DuplicateObjectError):
        rename_column(schema, "a", "b")
    with pytest.raises(UndefinedColumnError):
        rename_column(schema, "x", "y")


def test_key_columns_cannot_be_dropped(schema: Schema) -> None:
    with pytest.raises(InvalidSchemaError, match="cannot drop primary key column 'a'"):
        drop_column(schema, "a")


def test_a_column_remembers_that_rows_may_hold_null(schema: Schema) -> None:
    column = set_nullable(schema, "v", False).column("v")
    assert (column.nullable, column.may_show_null) == (False, True)
    with pytest.raises(InvalidSchemaError, match="primary key column 'a' cannot be NULL"):
        set_nullable(schema, "a", True)


def test_a_type_gets_wider_and_never_narrower(schema: Schema) -> None:
    assert str(set_type(schema, "v", parse_type("BIGINT")).column("v").type) == "BIGINT"
    with pytest.raises(InvalidSchemaError, match="cannot be altered from INT to TINYINT"):
        set_type(schema, "v", parse_type("TINYINT"))
    with pytest.raises(InvalidSchemaError, match="which keys are encoded in other bytes for"):
        set_type(schema, "b", parse_type("BIGINT"))
