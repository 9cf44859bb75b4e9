"""Rules for the columns of a schema, each with the name of what breaks it."""

from dataclasses import replace

import pytest

from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.schema_rules import (
    AUTO_INCREMENTING_ID,
    MAX_BLOCK_SIZE,
    MIN_BLOCK_SIZE,
    check_column,
    check_column_count,
    check_identity,
    check_not_immutable_key,
    check_not_reserved,
)
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidSchemaError

KEY = ColumnSchema(0, "k", DataType(Kind.INT64), nullable=False)


def test_a_block_is_as_large_as_its_limits_or_between_them() -> None:
    for size in (MIN_BLOCK_SIZE, MAX_BLOCK_SIZE):
        check_column(replace(KEY, block_size=size))
    for size in (MIN_BLOCK_SIZE - 1, MAX_BLOCK_SIZE + 1):
        with pytest.raises(InvalidSchemaError, match=f"column 'k': BLOCK_SIZE {size}"):
            check_column(replace(KEY, block_size=size))


def test_a_table_has_up_to_300_columns() -> None:
    check_column_count(300)
    with pytest.raises(InvalidSchemaError, match="the 300 columns of a table"):
        check_column_count(301)


def test_the_name_of_the_hidden_counter_is_taken() -> None:
    check_not_reserved("k")
    with pytest.raises(InvalidSchemaError, match=f"'{AUTO_INCREMENTING_ID}' is reserved"):
        check_not_reserved(AUTO_INCREMENTING_ID)


def test_a_key_is_not_declared_immutable_and_another_column_may_be() -> None:
    schema = create_schema([KEY, ColumnSchema(1, "v", DataType(Kind.STRING))], ["k"])
    check_not_immutable_key(schema, replace(schema.column("v"), immutable=True))
    with pytest.raises(InvalidSchemaError, match="column 'k' cannot be declared IMMUTABLE"):
        check_not_immutable_key(schema, replace(schema.column("k"), immutable=True))


def test_only_an_integer_of_a_unique_key_is_numbered() -> None:
    schema = create_schema([KEY, ColumnSchema(1, "v", DataType(Kind.INT64))], ["k"])
    key, value = schema.columns
    check_identity(replace(schema, columns=(replace(key, identity=True), value)))
    with pytest.raises(InvalidSchemaError, match="IDENTITY column 'v' is not the one"):
        check_identity(replace(schema, columns=(key, replace(value, identity=True))))
    text = replace(key, identity=True, type=DataType(Kind.STRING))
    with pytest.raises(InvalidSchemaError, match="IDENTITY column 'k' of type STRING"):
        check_identity(replace(schema, columns=(text, value)))
