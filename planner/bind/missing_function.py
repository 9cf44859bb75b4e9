"""The errors of table functions that there are not, in a FROM clause."""

from sqlglot import exp

from pykudu_sql.planner.functions.functions import (
    table_function_hint,
    written_name,
)
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.vocabulary.function_names import function_names
from pykudu_sql.planner.vocabulary.function_table import SOURCE_NAME
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError


def no_table_function(name: str, call: exp.Expr) -> NotSupportedError:
    """The error of a table function that is not offered."""
    return NotSupportedError(
        f"table function {name}() is not offered",
        hint=table_function_hint(name),
        span=node_span(call),
    )


def no_schema_function(node: exp.Table, call: exp.Expr) -> ProgrammingError:
    """The error of a table function behind the name of a schema."""
    name = call.meta.get(SOURCE_NAME, "")
    if isinstance(call, exp.Func):
        name = written_name(call) or min(function_names(call), key=len)
    return ProgrammingError(
        f"schema '{node.db}' has no function {name}()",
        hint=f"table functions belong to no schema; {table_function_hint(name)}",
        span=node_span(call),
        sqlstate="42883",
    )
