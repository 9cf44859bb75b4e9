"""Conditions of WHERE about one text column that its words decide, before rows are read.

    SELECT sum(x) FROM t WHERE upper(city) = 'BERN' AND length(street) > 20

What `pushdown.condition` reads of an expression is a predicate of a scan. Functions and patterns
that no predicate says are left to the engine, which computes them for every row. Where a column has
few words, the engine computes such a condition once a word, and those for which it is true are an
IN list of the scan: it compares codes, and hands on few rows. `<>` and NOT leave most rows as a
rule, so they are not asked.

The condition is taken from the statement as the engine gets it, so that a word is judged as a row
would be.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query, WordCondition
from pykudu_sql.planner.pushdown.condition import ConditionReader, conjuncts
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.pushdown.words.text_functions import only_text_column, over_words
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.vocabulary.function_names import is_volatile
from pykudu_sql.storage.common.types.schema import ColumnSchema

_META = "word_condition"
_LEAVES_MOST = (exp.NEQ, exp.Not, exp.NullSafeNEQ)
# What depends on more than a cell, or gives more than one value for it.
_REFUSED = (
    exp.AggFunc, exp.Explode, exp.Lambda, exp.Query, exp.Star, exp.UDTF, exp.Window,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordColumn:
    """A text column of a scan about which there are conditions that its words may decide."""

    scan: str
    column: ColumnSchema


def mark_word_conditions(
    bound: BoundQuery, scans: Mapping[TableReference, str], context: PlanContext
) -> tuple[WordColumn, ...]:
    """Note in the tree the conditions that words may decide.

    Args:
        bound: the query; its tree is as it was bound, but for the tables' names.
        scans: the name of each mention's scan.
        context: for the values of constants.

    Returns the columns that they are about. Of a table that an outer join may leave out no
    condition is noted: it may hold for the NULL in place of a row that it does not hold for.
    """
    numbers: dict[WordColumn, int] = {}
    mentions = list(scans.values())
    reader = ConditionReader(bound, context)
    for select in bound.selects:
        where = select.node.args.get("where")
        for node in conjuncts(where.this if where else None):
            stored = _text_column(node, bound)
            if stored is None:
                continue
            reference, column = stored
            if reference not in select.scope.relations or reference in bound.maybe_absent:
                continue
            if mentions.count(scans[reference]) > 1:
                continue
            if not any(condition.is_exact for condition in reader.read(node)):
                word_column = WordColumn(scans[reference], column)
                node.meta[_META] = numbers.setdefault(word_column, len(numbers))
    return tuple(numbers)


def word_conditions(query: Query, columns: Sequence[WordColumn]) -> tuple[WordCondition, ...]:
    """The conditions of a query that were noted and are still there, all of a column as one.

    Args:
        query: as the engine gets it; its tree stays as it is.
        columns: of `mark_word_conditions`.
    """
    parts: dict[int, list[exp.Expr]] = {}
    for node in all_nodes(query.residual):
        number = node.meta_get(_META)
        if number is not None and _is_about(node, columns[number].column):
            parts.setdefault(number, []).append(node)
    return tuple(
        WordCondition(
            columns[number].scan,
            columns[number].column.id,
            cache(partial(_query_over_words, query, nodes)),
        )
        for number, nodes in parts.items()
    )


def _query_over_words(query: Query, nodes: Sequence[exp.Expr]) -> Query:
    return part_of(query, over_words(exp.and_(*nodes)))


def _text_column(node: exp.Expr, bound: BoundQuery) -> tuple[TableReference, ColumnSchema] | None:
    """The text column of a stored table that a condition is about; None of others."""
    condition = node.unnest()
    if isinstance(condition, _LEAVES_MOST) or condition.args.get("negate"):
        return None
    parts = all_nodes(node)
    if any(isinstance(part, _REFUSED) or is_volatile(part) for part in parts):
        return None
    return only_text_column(parts, bound)


def _is_about(node: exp.Expr, column: ColumnSchema) -> bool:
    """Whether a condition, as passes have left it, is still about this column alone."""
    parts = all_nodes(node)
    return not any(isinstance(part, _REFUSED) for part in parts) and all(
        part.name.lower() == column.name for part in parts if isinstance(part, exp.Column)
    )
