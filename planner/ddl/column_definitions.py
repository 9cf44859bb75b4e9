"""Column definitions to columns of a schema, for CREATE TABLE and ALTER TABLE."""

from collections.abc import Sequence

from pykudu_sql.planner.ddl.column_default import with_default
from pykudu_sql.planner.ddl_grammar.syntax import ColumnDefinition
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.cfile.encoding.type_encodings import SQL_NAMES, resolve_encoding
from pykudu_sql.storage.common.types.schema import (
    DEFAULT_BLOCK_SIZE,
    ColumnSchema,
)
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression, Encoding
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    SourceSpan,
)

_COMPRESSION_NAMES = {
    "DEFAULT": Compression.DEFAULT_COMPRESSION,
    "NONE": Compression.NO_COMPRESSION,
    **{str(compression): compression for compression in Compression},
}


def near_column(message: str, columns: Sequence[ColumnSchema]) -> str | None:
    name = message.split("'")[1] if message.count("'") >= 2 else ""
    return near(name, [column.name for column in columns])


def column_of(definition: ColumnDefinition, context: PlanContext) -> ColumnSchema:
    """A column as defined; its id is given later."""
    span = SourceSpan(definition.start, len(definition.name))
    with errors_at(definition.type_span):
        column_type = parse_type(definition.type)
    with errors_at(span):
        column = ColumnSchema(
            id=0,
            name=definition.name,
            type=column_type,
            nullable=definition.nullable is not False,
            encoding=encoding_of(definition.encoding),
            compression=compression_of(definition.compression),
            block_size=definition.block_size or DEFAULT_BLOCK_SIZE,
            comment=definition.comment or "",
            immutable=definition.immutable,
            identity=definition.identity,
        )
        resolve_encoding(column.type, column.encoding)
    if definition.primary_key and definition.nullable:
        raise InvalidSchemaError(
            f"primary key column '{definition.name}' cannot be NULL", span=span
        )
    if definition.default is None:
        return column
    column = with_default(column, definition.default, context)
    if not column.has_default and not column.nullable:
        raise InvalidSchemaError(
            f"column '{column.name}' is NOT NULL and cannot have DEFAULT NULL", span=span
        )
    return column


def encoding_of(name: str | None) -> Encoding:
    return AUTO_ENCODING if name is None else SQL_NAMES.get(name, Encoding(name))


def compression_of(name: str | None) -> Compression:
    compression = _COMPRESSION_NAMES.get(name or "DEFAULT_COMPRESSION")
    if compression is None:
        raise InvalidSchemaError(
            f"unknown compression {name}", hint=f"compressions are {', '.join(Compression)}"
        )
    return compression
