"""The functions a query may call: pure ones of the engine, by name; all others are refused.

The engine has functions that read files, show its settings or run text as SQL. They are kept out by
this list, not by a list of what is known to be dangerous; the engine's own lockdown is the second
line. The names are those of `function_table`, and the inner ones of `compatibility_functions`.
"""

import re

from sqlglot import exp

from pykudu_sql.planner.functions.compatibility_functions import COMPATIBILITY_FUNCTIONS
from pykudu_sql.planner.parse.call_arity import undefined_function
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.vocabulary.function_names import function_names
from pykudu_sql.planner.vocabulary.function_table import (
    FUNCTIONS,
    NODE_NAMES,
    SOURCE_NAME,
    FunctionKind,
)
from pykudu_sql.storage.catalog.catalog import COPY_FILES
from pykudu_sql.storage.errors import ProgrammingError

ALLOWED = frozenset(FUNCTIONS) | COMPATIBILITY_FUNCTIONS | NODE_NAMES
AGGREGATES = frozenset(
    function.name for function in FUNCTIONS.values() if function.kind is FunctionKind.AGGREGATE
)
# Compatibility functions that become aggregates.
COMPATIBILITY_AGGREGATES = frozenset(
    {
        "appx_median", "approx_percentile", "array_concat_agg", "collect_list", "collect_set",
        "json_group_array", "json_group_object", "ndv", "percentile", "percentile_approx", "total",
    }
)  # fmt: skip
_WINDOWS = frozenset(
    function.name for function in FUNCTIONS.values() if function.kind is FunctionKind.WINDOW
)
_GATHERING = AGGREGATES | COMPATIBILITY_AGGREGATES
_OVER_ROWS = _GATHERING | _WINDOWS
TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
# By the beginning of a name of other databases: what to write.
_ELSEWHERE = {
    "duckdb_|pg_|pragma_|sqlite_": "see DESCRIBE t, SHOW TABLES, SHOW SETTINGS and the schemas "
    "information_schema and sys",
    "table_changes|changetable|cdc_": "write CHANGES(t, a, b), of two moments",
    "json_each|jsonb_each|jsonb?_object_keys": "write unnest(json_keys(j)) AS x(k), "
    "and json_extract(j, '$.' || k) for its value",
    "json_array_elements|jsonb_array_elements|json_table": "write "
    "unnest(from_json(j, '[\"JSON\"]')) AS x(item)",
    "string_to_table|regexp_split_to_table|split_to_table|string_split$": "write "
    "unnest(string_split(x, ',')) AS x(part)",
    "explode|posexplode|flatten$": "write unnest(list) [WITH ORDINALITY] AS x(item, n)",
}
_FILE_FUNCTIONS = re.compile(r"(read|scan)_\w+|\w+_scan|glob|openrowset|infer_\w+")


def table_function_hint(name: str) -> str:
    """What to write instead of a function in FROM that is none of the table functions."""
    if _FILE_FUNCTIONS.fullmatch(name.lower()):
        return COPY_FILES
    for pattern, instead in _ELSEWHERE.items():
        if re.match(pattern, name.lower()):
            return instead
    return f"FROM takes tables, queries and {', '.join(sorted(TABLE_FUNCTIONS))}"


def is_allowed(node: exp.Func) -> bool:
    """Whether a query may call this."""
    if isinstance(node, exp.Connector | exp.Cast | exp.Case | exp.CombinedAggFunc):
        return True
    return not ALLOWED.isdisjoint(function_names(node))


def check_function(node: exp.Func) -> None:
    """Refuse a call of a function that is not on the list.

    Raises ProgrammingError: with the place, and a near name if there is one.
    """
    if is_allowed(node):
        return
    name = written_name(node)
    if name is None:
        raise ProgrammingError("a function of this statement does not exist", sqlstate="42883")
    raise undefined_function(name, node_span(node))


def written_name(node: exp.Func) -> str | None:
    """The name of a call as the statement has it; None if it is written without one."""
    written: str | None = node.meta.get(SOURCE_NAME)
    if written is None and "start" in node.meta:
        return min(function_names(node), key=len)
    return written


def gathers(node: exp.Func) -> bool:
    """Whether a call is of an aggregate or a window function."""
    return isinstance(node, exp.AggFunc) or not _OVER_ROWS.isdisjoint(function_names(node))


def gathers_rows(node: exp.Expr) -> bool:
    """Whether an expression has an aggregate over the rows of the query that it belongs to."""
    return any(
        not _GATHERING.isdisjoint(function_names(call))
        and call.find_ancestor(exp.Window, exp.Query) is None
        for call in nodes_of(node, exp.Func)
    )
