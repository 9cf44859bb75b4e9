"""Long lists of literals as relations, once the type that they are compared with is bound.

Relations of the query, or literals again where a value means something else beside an expression
than in a relation. `long_list` cuts the lists from the text.
"""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of
from pykudu_sql.planner.parse.long_list import COLUMN, LongList, long_list
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import StatementTooComplexError

MOST_LITERALS = 20_000
_BY_CAST = frozenset({Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE})
_ROW_BY_ROW = frozenset({"where", "from_", "joins"})
_UNCHANGED_KINDS = frozenset({Kind.BOOL, Kind.BINARY})


def name_long_lists(nodes: Sequence[exp.In], prefix: str) -> tuple[tuple[str, pa.Table], ...]:
    """The relations of a bound query's lists, by the names that its lists then read.

    Lists whose values mean something else beside an expression than in a relation become literals
    again. `tree`: of the query; its lists are named; `prefix`: of the names. Raises
    StatementTooComplexError: so many literals are too many for the engine.
    """
    relations: list[tuple[str, pa.Table]] = []
    for node in nodes:
        query = node.args.get("query")
        values = long_list(query)
        if values is None or query is None:
            continue
        compared = _compared_type(node.this)
        if _must_stay(values, compared) or _is_matched(node, values):
            _write(node, values)
            continue
        name = f"{prefix}{len(relations)}"
        list_value: exp.Expr = exp.column(COLUMN)
        if compared is not None and values.is_text and not compared.is_text:
            list_value = exp.cast(list_value, str(compared), dialect="duckdb")
        query.set("this", exp.select(list_value).from_(exp.to_table(name)))
        relations.append((name, values.relation()))
    return tuple(relations)


def write_long_lists(tree: exp.Expr) -> None:
    """Make literals of lists again, for an engine that is given no relations but scans.

    Raises StatementTooComplexError: so many literals are too many for it.
    """
    for node in nodes_of(tree, exp.In):
        values = long_list(node.args.get("query"))
        if values is not None:
            _write(node, values)


def _write(node: exp.In, values: LongList) -> None:
    node.set("query", None)
    node.set("expressions", _literals(values))


def _compared_type(node: exp.Expr) -> DataType | None:
    """The type of the stored column that is compared with a list; None for anything else."""
    while isinstance(node, exp.Paren):
        node = node.this
    binding = binding_of(node)
    return None if binding is None else binding.type


def _must_stay(values: LongList, compared: DataType | None) -> bool:
    """Whether literals take their type from what they are compared with."""
    if compared is None:
        return values.is_text
    if compared.kind in _UNCHANGED_KINDS:
        return True
    return values.is_text and not (
        compared.is_text or compared.is_integer or compared.kind in _BY_CAST
    )


def _is_matched(node: exp.In, values: LongList) -> bool:
    """Whether a list may be part of what is grouped by, or of a lambda: no place for queries."""
    if len(values.values) > MOST_LITERALS:
        return False
    inner: exp.Expr = node
    while (outer := inner.parent) is not None and not isinstance(outer, exp.Select):
        if isinstance(outer, exp.Lambda):
            return True
        inner = outer
    return outer is not None and bool(outer.args.get("group")) and inner.arg_key not in _ROW_BY_ROW


def _literals(values: LongList) -> list[exp.Expr]:
    if len(values.values) > MOST_LITERALS:
        raise StatementTooComplexError(
            f"a list of {len(values.values)} values is too long beside an expression",
            hint=f"at most {MOST_LITERALS} are compared with one; join a table of the values",
        )
    make = exp.Literal.string if values.is_text else exp.Literal.number
    nulls: list[exp.Expr] = [exp.null()] if values.has_null else []
    return [make(value) for value in values.values] + nulls
