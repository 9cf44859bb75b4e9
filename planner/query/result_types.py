"""The columns a query would give a table: names from the plan, types from the engine.

The engine binds the query without data: an empty relation of its column types replaces each scan,
and one row of `typeof` over the query's columns comes back.
"""

import pyarrow as pa

from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query, Scan
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import format_engine_type, parse_type
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidSchemaError, NotSupportedError

_SEPARATOR = "|"
_ENGINE_TYPES = {
    "NULL": DataType(Kind.STRING),
    "HUGEINT": DataType(Kind.INT64),
    "UTINYINT": DataType(Kind.INT16),
    "USMALLINT": DataType(Kind.INT32),
    "UINTEGER": DataType(Kind.INT64),
    "UBIGINT": DataType(Kind.INT64),
    "TIMESTAMP WITH TIME ZONE": DataType(Kind.UNIXTIME_MICROS),
    "TIMESTAMP_NS": DataType(Kind.UNIXTIME_MICROS),
}


def result_columns(query: Query, context: PlanContext) -> list[ColumnSchema]:
    """The columns of a table made from a query, all nullable, ids to be given.

    Raises NotSupportedError: the query has parameters; InvalidSchemaError: a column has a type that
    no table column has.
    """
    if query.parameters:
        raise NotSupportedError("CREATE TABLE .. AS cannot have parameters")
    return [
        ColumnSchema(0, name.lower(), _column_type(name, type_name))
        for name, type_name in zip(query.names, _types(query, context), strict=True)
    ]


def result_type_names(query: Query, context: PlanContext) -> list[str]:
    """The types of a query's columns as they are shown, also those that no table column has.

    Raises NotSupportedError: the query has parameters.
    """
    if query.parameters:
        raise NotSupportedError("a query that is described or summarized cannot have parameters")
    return _types(query, context)


def _types(query: Query, context: PlanContext) -> list[str]:
    (types,) = context.evaluate(_types_sql(query))
    return list(map(format_engine_type, str(types).split(_SEPARATOR)))


def _types_sql(query: Query) -> str:
    columns = ", ".join(f"c{i}" for i in range(len(query.names)))
    types = ", ".join(f"typeof(any_value(c{i}))" for i in range(len(query.names)))
    lists = (_empty_list(name, values) for name, values in query.lists)
    relations = ", ".join((*map(_empty_relation, query.scans), *lists))
    head = f"WITH {relations} " if relations else ""
    return f"{head}SELECT concat_ws('{_SEPARATOR}', {types}) FROM ({query.sql}) AS q({columns})"


def _empty_relation(scan: Scan) -> str:
    by_id = scan.table.schema.by_id
    columns = ", ".join(
        f"CAST(NULL AS {by_id[i].type}) AS {quote_name(by_id[i].name)}" for i in scan.column_ids
    )
    return f'"{scan.name}" AS (SELECT {columns} WHERE false)'


def _empty_list(name: str, values: pa.Table) -> str:
    column = values.schema.field(0)
    type_name = "BIGINT" if pa.types.is_integer(column.type) else "VARCHAR"
    return f'"{name}" AS (SELECT CAST(NULL AS {type_name}) AS "{column.name}" WHERE false)'


def _column_type(name: str, type_name: str) -> DataType:
    column_type = _ENGINE_TYPES.get(type_name)
    if column_type is not None:
        return column_type
    try:
        return parse_type(type_name)
    except InvalidSchemaError as error:
        raise InvalidSchemaError(
            f"column '{name}' of the query has type {type_name}, which no table column has",
            hint="CAST it to a column type",
        ) from error
