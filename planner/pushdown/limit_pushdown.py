"""Limit push-down: queries of one table that need few of its rows, or only its metadata.

A SELECT with LIMIT that neither gathers nor computes over rows stops early; ordered by the key, or
by its first columns, it reads the table in that order and no further. Conditions of WHERE may be
pushed down wider than they are written, so the rows of such a scan may be too few for the
query: see `Query.is_cut_short`.

A SELECT of COUNT(*), MIN and MAX over a whole table may be answered from metadata.
"""

from collections.abc import Iterator, Set

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of, table_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.types.nullability import is_nullable
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, Summary, SummaryKind
from pykudu_sql.storage.common.types.schema import ColumnSchema

ROWS_ONLY = frozenset({"expressions", "from_", "where", "order", "limit", "offset"})
_WHOLE_TABLE = frozenset({"expressions", "from_"})
_GATHERING = (exp.AggFunc, exp.Window, exp.Unnest, exp.Query, exp.Anonymous)


@dataclass(frozen=True, slots=True)
class RowLimit:
    """How far a query must read its one table.

    Attributes:
        rows: matching rows that are enough.
        expected: rows that the query then has.
        order: which rows these must be.
    """

    rows: int
    expected: int
    order: ScanOrder


@dataclass(frozen=True, slots=True)
class LimitedRows:
    """A SELECT of some rows of its one table, none of which depends on others.

    Attributes:
        reference: the table.
        rows: matching rows that it counts, those that OFFSET leaves out among them.
        expected: rows that it has if there are so many.
        ordering: its ORDER BY.
    """

    reference: TableReference
    rows: int
    expected: int
    ordering: exp.Expr | None


def limited_rows(tree: exp.Expr, bound: BoundQuery) -> LimitedRows | None:
    """The rows that LIMIT and OFFSET count of a query; None of any other query."""
    reference = only_table(tree, bound)
    return None if reference is None else limited_rows_of(tree, reference)


def limited_rows_of(tree: exp.Expr, reference: TableReference) -> LimitedRows | None:
    """The same of a SELECT anywhere in a query, whose FROM is one table."""
    if any(value for name, value in tree.args.items() if name not in ROWS_ONLY):
        return None
    output_items = (*tree.expressions, tree.args.get("where"))
    if any(item is not None and item.find(*_GATHERING) is not None for item in output_items):
        return None
    limit, offset = row_count(tree.args.get("limit")), row_count(tree.args.get("offset"))
    if limit is None or (offset is None and tree.args.get("offset") is not None):
        return None
    return LimitedRows(reference, limit + (offset or 0), limit, tree.args.get("order"))


def row_limit(tree: exp.Expr, bound: BoundQuery) -> RowLimit | None:
    """How many rows of its one table a query needs; None for all."""
    limited = limited_rows(tree, bound)
    if limited is None:
        return None
    ordering = limited.ordering
    if ordering is not None and not is_by_key(ordering, tree, limited.reference):
        return None
    order = ScanOrder.NONE if ordering is None else ScanOrder.KEY
    return RowLimit(limited.rows, limited.expected, order)


def summaries(tree: exp.Expr, bound: BoundQuery) -> tuple[Summary, ...]:
    """What each column of a query summarizes of its one table; nothing if one is no summary."""
    reference = only_table(tree, bound)
    return () if reference is None else summaries_of(tree, bound, reference)


def summaries_of(
    tree: exp.Expr, bound: BoundQuery, reference: TableReference
) -> tuple[Summary, ...]:
    """What each column of a SELECT summarizes of the one table that it reads.

    `reference`: the table. Returns nothing if one is no summary.
    """
    source = tree.args.get("from_")
    if not reference.is_plain or source is None or source.this is not reference.node:
        return ()
    if any(value for name, value in tree.args.items() if name not in _WHOLE_TABLE):
        return ()
    candidates = [_summary(item, bound, reference) for item in tree.expressions]
    supported = tuple(summary for summary in candidates if summary is not None)
    return supported if len(supported) == len(candidates) else ()


def counted_columns(tree: exp.Expr, bound: BoundQuery, decided: Set[TableReference]) -> int:
    """How many columns a query has which count the rows of its one table that match its WHERE.

    `decided`: see `pushdown.Pushed`. Returns 0 where a column is something else, or the scan alone
    does not decide which rows these are.
    """
    reference = only_table(tree, bound)
    if reference is None or not reference.is_plain or reference not in decided:
        return 0
    if any(value for name, value in tree.args.items() if name not in (*_WHOLE_TABLE, "where")):
        return 0
    columns = [_summary(item, bound, reference) for item in tree.expressions]
    counts = [each is not None and each.kind is SummaryKind.COUNT for each in columns]
    return len(counts) if all(counts) else 0


def only_table(tree: exp.Expr, bound: BoundQuery) -> TableReference | None:
    """The one table of a plain SELECT."""
    if not isinstance(tree, exp.Select) or len(bound.references) != 1:
        return None
    source = tree.args.get("from_")
    reference = bound.references[0]
    return reference if source is not None and source.this is reference.node else None


def is_by_key(ordering: exp.Expr, select: exp.Expr, reference: TableReference) -> bool:
    """Whether rows in the order of their keys are in the order wanted."""
    key = reference.table.schema.key_columns
    if len(ordering.expressions) > len(key):
        return False
    for item, column in zip(ordering.expressions, key, strict=False):
        if not isinstance(item, exp.Ordered) or item.args.get("desc"):
            return False
        if column_of(item.this, select, reference) is not column:
            return False
    return True


def column_of(named: exp.Expr, select: exp.Expr, reference: TableReference) -> ColumnSchema | None:
    """The stored column that an item of ORDER BY is; names of the SELECT list come first.

    `reference`: the only one of the SELECT. None of any other item.
    """
    name = named.name.lower() if isinstance(named, exp.Column) else ""
    column = reference.table.schema.by_name.get(name)
    if column is None or table_of(named) is reference:
        return column
    if named.args.get("table") is not None:
        return None
    if any(star.args.get("replace") or star.args.get("rename") for star in _stars(select)):
        return None
    output_items = [item for item in select.expressions if item.alias_or_name.lower() == name]
    plain = [item.this if isinstance(item, exp.Alias) else item for item in output_items]
    if any(not isinstance(item, exp.Column) or item.name.lower() != name for item in plain):
        return None
    is_shown = bool(plain) or any(item.is_star for item in select.expressions)
    return column if is_shown else None


def _stars(select: exp.Expr) -> Iterator[exp.Star]:
    """The stars of a SELECT list."""
    for item in select.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            yield star


def _summary(item: exp.Expr, bound: BoundQuery, reference: TableReference) -> Summary | None:
    """The summary of a table that one column of the SELECT list is."""
    call = item.this if isinstance(item, exp.Alias) else item
    if any(value for name, value in call.args.items() if name not in ("this", "big_int")):
        return None
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return Summary(SummaryKind.COUNT) if not any(call.this.args.values()) else None
    if not isinstance(call, exp.Count | exp.Min | exp.Max) or not isinstance(call.this, exp.Column):
        return None
    binding = binding_of(call.this)
    if binding is None or binding.relation is not reference:
        return None
    if isinstance(call, exp.Count):
        return None if is_nullable(call.this, bound.maybe_absent) else Summary(SummaryKind.COUNT)
    kind = SummaryKind.MIN if isinstance(call, exp.Min) else SummaryKind.MAX
    return Summary(kind, reference.column(binding.name).id)


def row_count(clause: exp.Expr | None) -> int | None:
    """The rows that LIMIT or OFFSET writes as a number; None for a percentage or anything else."""
    if not isinstance(clause, exp.Limit | exp.Offset):
        return None
    if clause.args.get("expressions") or clause.args.get("limit_options"):
        return None
    count = clause.expression
    if not isinstance(count, exp.Literal) or count.is_string or not count.this.isdigit():
        return None
    return int(count.this)
