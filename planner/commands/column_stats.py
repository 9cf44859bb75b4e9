"""SHOW COLUMN STATS: Impala's statistics of columns, computed by each query.

Impala keeps what COMPUTE STATS found; here the rows are in the same process, and the answer is
never stale. The statement is an ordinary query: one scan, one row of aggregates, turned on its
side.
"""

from collections.abc import Iterable

from pykudu_sql.planner.parse.error_spans import spans_dropped
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.storage.catalog.namespace import database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind

_UNKNOWN = "-1"  # Impala's word for what does not apply


def plan_column_stats(table: TableInfo, context: PlanContext) -> Query:
    """The query for the distinct values, NULLs and size of each column.

    Distinct values are estimated (HyperLogLog), as in Impala. Sizes are bytes of a value.
    """
    with spans_dropped():
        return plan_rows(SourceText(column_stats_sql(table)), context)


def column_stats_sql(table: TableInfo) -> str:
    """The statement behind SHOW COLUMN STATS."""
    columns = table.schema.visible_columns
    facts = [fact for column in columns for fact in _facts(column)]
    aggregates = ", ".join(f"{fact} AS f{index}" for index, fact in enumerate(facts))
    lists = [
        ("Column", [quote_string(column.name) for column in columns]),
        ("Type", [quote_string(str(column.type)) for column in columns]),
        *(
            (name, [f"f{index}" for index in range(start, len(facts), len(_NAMES))])
            for start, name in enumerate(_NAMES)
        ),
    ]
    select_list = ", ".join(f'unnest([{", ".join(items)}]) AS "{name}"' for name, items in lists)
    return f"SELECT {select_list} FROM (SELECT {aggregates} FROM {_name(table)}) AS facts"


_NAMES = ("#Distinct Values", "#Nulls", "Max Size", "Avg Size", "#Trues", "#Falses")


def _facts(column: ColumnSchema) -> Iterable[str]:
    """An aggregate for each of `_NAMES`."""
    name = quoted_name(column.name)
    yield f"least(approx_count_distinct({name}), count({name}))"
    yield f"count(*) - count({name})"
    yield f"coalesce(max({_size(column.type, name)}), {_UNKNOWN})"
    yield f"round(coalesce(avg({_size(column.type, name)}), {_UNKNOWN}), 4)"
    is_flag = column.type.kind is Kind.BOOL
    yield f"count(CASE WHEN {name} THEN 1 END)" if is_flag else _UNKNOWN
    yield f"count(CASE WHEN NOT {name} THEN 1 END)" if is_flag else _UNKNOWN


def _size(data_type: DataType, name: str) -> str:
    """Bytes of a value that is not NULL."""
    if data_type.is_text:
        return f"strlen({name})"
    if data_type.is_variable:
        return f"octet_length({name})"
    return f"CASE WHEN {name} IS NOT NULL THEN {data_type.width} END"


def _name(table: TableInfo) -> str:
    database = database_of(table.name)
    return f"{quoted_name(database)}.{quoted_name(table.name.removeprefix(f'{database}.'))}"
