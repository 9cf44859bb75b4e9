"""The passes that make scans of the mentions of stored tables.

Every mention becomes a scan with the columns the query uses and the conditions it can use; equal
scans are made once.
"""

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Scan
from pykudu_sql.planner.pushdown.limit_pushdown import RowLimit
from pykudu_sql.planner.pushdown.runtime_filters import NO_SOURCES, FilterSources, filter_sources
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.schema import Schema


def hide_counters(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Keep hidden counters out of a `*` where the query reads them for another reason."""
    bound = query.bound
    for star, covered in bound.stars:
        for reference in covered:
            schema = reference.table.schema
            if schema.auto_incrementing and schema.key_ids[-1] in bound.used.get(reference, ()):
                key_column = schema.by_id[schema.key_ids[-1]]
                table = bound.engine_alias(reference)
                star.append("except_", exp.column(key_column.name, table=table))
    return query.with_tree(query.tree) if bound.stars else query


def plan_scans(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Replace each mention of a table by a scan."""
    scans = _Scans(query.bound, query.limit, query.first_scan)
    sources = filter_sources(query.equalities)
    for reference in query.bound.references:
        predicate = query.predicates.get(reference)
        scans.put(reference, predicate, sources.get(reference, NO_SOURCES))
    rewritten = query.with_tree(query.tree)
    return replace(rewritten, scans=scans.to_scans(), scan_names=scans.names)


def qualify_columns(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Qualify columns with the one name that the engine knows their source by."""
    named_otherwise = [
        (column, alias)
        for column, source in query.bound.qualified
        if (alias := query.bound.engine_alias(source)) != source.alias
        or column.args.get("db") is not None
    ]
    for column, alias in named_otherwise:
        column.set("table", exp.to_identifier(alias, quoted=True))
        column.set("db", None)
    return query.with_tree(query.tree) if named_otherwise else query


@dataclass(frozen=True, slots=True)
class _SharedScan:
    """A scan with what decides who may share it: a `*` over it, and the tables that narrow it."""

    scan: Scan
    starred: bool
    sources: FilterSources


class _Scans:
    """Names a query's scans; mentions that read the same rows share one.

    Two mentions read the same rows when table, moment and predicate are equal, and the same other
    tables may narrow them by a join. Their columns are put together, unless a `*` shows what the
    scan has. `names`: the scan of each mention.
    """

    def __init__(self, bound: BoundQuery, limit: RowLimit | None, first: int) -> None:
        self._bound = bound
        self._first = first
        self._limit = None if limit is None else limit.rows
        self._order = ScanOrder.NONE if limit is None else limit.order
        self._shared_scans: list[_SharedScan] = []
        self.names: dict[TableReference, str] = {}

    def put(
        self, reference: TableReference, predicate: PredicateTemplate | None, sources: FilterSources
    ) -> None:
        """Replace a mention of a table by its scan."""
        name = self.names[reference] = self._name(reference, predicate, sources)
        node = reference.node
        if node.args.get("alias") is None:
            node.set(
                "alias", exp.TableAlias(this=exp.to_identifier(self._bound.engine_alias(reference)))
            )
        node.set("this", exp.to_identifier(name))
        for key in ("db", "catalog", "version"):
            node.set(key, None)

    def to_scans(self) -> tuple[Scan, ...]:
        """The scans, in the order of their names."""
        return tuple(shared.scan for shared in self._shared_scans)

    def _name(
        self, reference: TableReference, predicate: PredicateTemplate | None, sources: FilterSources
    ) -> str:
        schema, addressed = reference.table.schema, reference is self._bound.addressed
        least = () if addressed else (_narrowest(schema),)
        own = _in_order(schema, self._bound.used.get(reference, least))
        rows = Scan("", reference.table, (), predicate, self._limit, reference.bound, self._order)
        if reference.history is not None:
            rows = replace(rows, limit=None, order=ScanOrder.NONE, history=reference.history)
        is_starred = reference in self._bound.starred
        for i, existing in enumerate(self._shared_scans):
            scan = existing.scan
            if scan.table is not reference.table or existing.sources != sources:
                continue
            if replace(scan, name="", column_ids=(), addressed=False) != rows:
                continue
            same_columns = scan.column_ids == own and scan.addressed == addressed
            starred = existing.starred or is_starred
            if starred and not same_columns:
                continue
            together = _in_order(schema, {*own, *scan.column_ids})
            shared = replace(scan, column_ids=together, addressed=scan.addressed or addressed)
            self._shared_scans[i] = _SharedScan(shared, starred, sources)
            return scan.name
        name = f"{SCAN_PREFIX}{self._first + len(self._shared_scans)}"
        scan = replace(rows, name=name, column_ids=own, addressed=addressed)
        self._shared_scans.append(_SharedScan(scan, is_starred, sources))
        return name


def _in_order(schema: Schema, column_ids: Collection[int]) -> tuple[int, ...]:
    return tuple(column.id for column in schema.columns if column.id in column_ids)


def _narrowest(schema: Schema) -> int:
    """A column to count rows by: of the key if there is one, and the fewest bytes."""
    columns = schema.key_columns or schema.columns
    widths = {c.id: c.type.width or 1 << 16 for c in columns}
    return min(widths, key=lambda column_id: widths[column_id])
