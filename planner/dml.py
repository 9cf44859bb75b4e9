"""INSERT and UPSERT: heads by our own grammar, rows from the fastest reader that takes them.

Plain VALUES come straight from the text (`planner.values`). Rows with expressions are parsed;
constant expressions are computed while planning, and only rows with subqueries, random calls or
parameters inside expressions become a query for the engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pykudu_sql.planner.binder import bind
from pykudu_sql.planner.constant import Constant, Hole, constant
from pykudu_sql.planner.context import PlanContext
from pykudu_sql.planner.dialect import parse
from pykudu_sql.planner.lexer import Token, source_position
from pykudu_sql.planner.moment import current_nodes, fold_current
from pykudu_sql.planner.names import undefined_column
from pykudu_sql.planner.plan import InsertQuery, InsertValues
from pykudu_sql.planner.query import finish, plan_rows
from pykudu_sql.planner.token_stream import TokenStream
from pykudu_sql.planner.value import Parameter, Value
from pykudu_sql.planner.values import Marker, Named, Raw, ValueRows, column_values, read_values
from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    NotNullError,
    NotSupportedError,
    ProgrammingError,
    UndefinedTableError,
)
