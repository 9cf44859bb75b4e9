"""Texts with an offset that a query compares with TIMESTAMPs, or casts to one, become UTC.

See `utc_offsets`. Literals are converted here, a parameter's value when it is bound, and a
stored column's values by the engine, row by row: only those that look as if they had an offset are
read with it, which takes five times as long.
"""

from collections.abc import Iterator

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of
from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.functions.utc_offsets import in_utc, is_timestamp, literal_to_utc
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.long_list import map_long_list
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.common.types.types import Kind

_READ_WITH_OFFSET = (
    "CASE WHEN regexp_matches(_text, ':.*[-+A-Za-z]') "
    # The engine reads no blank before an offset, which literals may have.
    "THEN CAST({0}(replace(replace(_text, ' +', '+'), ' -', '-') AS TIMESTAMPTZ) AS TIMESTAMP) "
    "ELSE {0}(_text AS TIMESTAMP) END"
)
_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In),
)

_CONVERTING = (*_COMPARISONS, exp.Cast, exp.Case)


def convert_timestamp_texts(tree: exp.Expr) -> frozenset[ParameterKey]:
    """Rewrite the literals and text columns that are compared with a TIMESTAMP, or cast to one.

    `tree`: a bound query, changed in place. Returns the parameters that are compared or cast so.
    """
    keys = set()
    for node in all_nodes(tree):
        if not isinstance(node, _CONVERTING):
            continue
        for written in list(_timestamp_operands(node)):
            if isinstance(written, exp.Column):
                _convert_column(written, isinstance(node, exp.TryCast))
            if isinstance(written, exp.Placeholder):
                keys.add(parameter_key(written))
            literal_to_utc(written)
            map_long_list(written, in_utc)
    return frozenset(keys)


def _convert_column(column: exp.Column, tries: bool) -> None:
    """Write a text column as the moments that its values name; leave others alone.

    `tries`: whether a text that is no time is NULL.
    """
    binding = binding_of(column)
    if binding is None or binding.type is None or not binding.type.is_text:
        return
    cast = "TRY_CAST" if tries else "CAST"
    converted = parse(f"SELECT ({_READ_WITH_OFFSET.format(cast)})").expressions[0]
    for column_node in nodes_of(converted, exp.Column):
        column_node.replace(column.copy())
    column.replace(converted)


def _timestamp_operands(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Cast) and is_timestamp(node.to):
        yield _bare(node.this)
        return
    operands: list[exp.Expr] = []
    if isinstance(node, _COMPARISONS):
        operands = [_bare(operand) for operand in node.iter_expressions()]
    elif isinstance(node, exp.Case) and node.this is not None:
        operands = [_bare(node.this), *(_bare(branch.this) for branch in node.args["ifs"])]
    if any(map(_is_moment, operands)):
        yield from operands


def _is_moment(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast):
        return is_timestamp(node.to)
    if not isinstance(node, exp.Column):
        return isinstance(node, exp.CurrentTimestamp)
    binding = binding_of(node)
    data_type = None if binding is None else binding.type
    return data_type is not None and data_type.kind is Kind.UNIXTIME_MICROS


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
