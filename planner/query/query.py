"""Queries: from a bound tree to the engine's SQL over scans.

Every mention of a stored table becomes a scan with the columns the query uses and the conditions
it can use; equal scans are made once. What is left of the statement is printed in the engine's
dialect over the scans' names.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.planner.bind.binder import SCAN_PREFIX, BoundQuery, bind
from pykudu_sql.planner.bind.constant import parameter_key
from pykudu_sql.planner.bind.list_relations import name_long_lists
from pykudu_sql.planner.bind.moment import fold_current
from pykudu_sql.planner.bind.sources import Source, TableReference
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.lexer import source_position
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyLookup, Query, Scan
from pykudu_sql.planner.plan.template import PredicateTemplate
from pykudu_sql.planner.plan.value import ParameterKey
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.pushdown.few_rows import RowLimit, row_limit, summaries
from pykudu_sql.planner.pushdown.group_codes import by_codes, mark_group_keys
from pykudu_sql.planner.pushdown.join_filters import (
    NOBODY,
    Tellers,
    equalities,
    join_filters,
    told_by_others,
)
from pykudu_sql.planner.pushdown.key_access import key_lookup
from pykudu_sql.planner.pushdown.pushdown import push_down
from pykudu_sql.planner.pushdown.transitive import with_equalities
from pykudu_sql.planner.query.exact_decimals import MEETS, compare_exactly, mark_numbers
from pykudu_sql.planner.value_bounds.value_bounds import bound_values
from pykudu_sql.planner.value_bounds.value_sizes import mark_cells
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import SyntaxError


def plan_query(text: str, context: PlanContext, start: int = 0) -> Query | KeyLookup:
    """Plan a SELECT, VALUES, WITH or set operation.

    Args:
        text: the whole statement.
        context: tables and time; `now` fixed for the statement.
        start: where the query begins in it.

    Raises:
        SyntaxError, ProgrammingError, NotSupportedError: the statement is wrong or not offered.
    """
    tree, bound = _bound(text, context, start)
    general = cache(partial(plan_query, text, context.without_key_access(), start))
    lookup = key_lookup(tree, bound, context, general)
    return lookup if lookup is not None else finish(tree, bound, context)


def plan_rows(text: str, context: PlanContext, start: int, taken: int = 0) -> Query:
    """Plan a query whose rows another statement takes in; never a key look-up.

    Args:
        text, context, start: see `plan_query`.
        taken: see `finish`.
    """
    return finish(*_bound(text, context, start), context, taken)


def _bound(text: str, context: PlanContext, start: int) -> tuple[exp.Expr, BoundQuery]:
    tree = parse(text, start)
    if not isinstance(tree, exp.Query | exp.Values):
        raise SyntaxError(
            "this is not a statement",
            hint="see docs/sql.md for what there is",
            position=source_position(text, start),
        )
    return tree, bind(tree, text, context)


def finish(tree: exp.Expr, bound: BoundQuery, context: PlanContext, taken: int = 0) -> Query:
    """The engine's part of a bound query; the tree is used up.

    Args:
        tree: of the query.
        bound: what binding it found.
        context: tables and time.
        taken: scans of the statement's other queries, whose names come first.
    """
    tree = fold_current(tree, context)
    pushed, joined = push_down(bound, context), equalities(bound)
    predicates = with_equalities(pushed, joined, bound) if pushed and joined else pushed
    for star, covered in bound.stars:
        _hide_counters(star, covered)
    limit, summary = row_limit(tree, bound), summaries(tree, bound)
    mark_numbers(tree, bound, context)
    scans = _Scans(limit, taken)
    tellers = told_by_others(joined, bound)
    for reference in bound.references:
        scans.put(reference, predicates.get(id(reference)), tellers.get(id(reference), NOBODY))
    for column, source in bound.qualified:
        _qualify(column, source)
    keys = mark_group_keys(bound, scans.names)
    lists = name_long_lists(tree, bound.owners, f"{SCAN_PREFIX}list_{taken}_")
    _fold_names(tree)
    apart = _is_apart(tree)
    mark_cells(tree, bound.owner)
    tree = bound_values(apply_rules(tree))
    compare_exactly(tree)
    tree = type_literals(tree)
    parameters, met = _number_parameters(tree)
    sql = to_sql(tree)
    coded = by_codes(tree, keys, len(parameters)) if keys else None
    return Query(
        sql,
        scans.made(),
        parameters,
        bound.names,
        not bound.volatile,
        None if limit is None else limit.expected,
        summary,
        join_filters(joined, scans.names),
        lists,
        bound.moments,
        coded,
        apart,
        met,
    )


def _is_apart(tree: exp.Expr) -> bool:
    """Whether a query reads each of its tables for itself, and no subquery for each row."""
    if tree.find(exp.Join, exp.Lateral) is not None:
        return False
    for select in tree.find_all(exp.Select):
        reader = select.parent
        while isinstance(reader, exp.Subquery | exp.Union):
            reader = reader.parent
        if reader is not None and not isinstance(reader, exp.From | exp.CTE):
            return False
    return True


def _qualify(column: exp.Column, source: Source) -> None:
    """Qualify a column with the one name that the engine knows its source by."""
    if column.args.get("db") is not None or source.engine_alias != source.alias:
        column.set("table", exp.to_identifier(source.engine_alias, quoted=True))
        column.set("db", None)


def _fold_names(tree: exp.Expr) -> None:
    """Lower the case of names beyond ASCII, which the engine tells apart by case and we do not."""
    for name in tree.find_all(exp.Identifier):
        if not name.this.isascii():
            name.set("this", name.this.lower())


def _hide_counters(star: exp.Star, covered: Sequence[TableReference]) -> None:
    """Keep hidden counters out of a `*` where the query reads them for another reason."""
    for reference in covered:
        hidden = reference.hidden_in_use()
        if hidden is not None:
            star.append("except_", exp.column(hidden.name, table=reference.engine_alias))


@dataclass(frozen=True, slots=True)
class _MadeScan:
    """A scan with what decides who may share it: a `*` over it, and the tables that narrow it."""

    scan: Scan
    starred: bool
    tellers: Tellers


class _Scans:
    """Names a query's scans; mentions that read the same rows share one.

    Two mentions read the same rows when table, moment and predicate are equal, and the same other
    tables may narrow them by a join. Their columns are put together, unless a `*` shows what the
    scan has.

    Attributes:
        names: the scan of each mention, by the mention's identity.
    """

    def __init__(self, limit: RowLimit | None, taken: int) -> None:
        self._taken = taken
        self._limit = None if limit is None else limit.rows
        self._order = ScanOrder.NONE if limit is None else limit.order
        self._made: list[_MadeScan] = []
        self.names: dict[int, str] = {}

    def put(
        self, reference: TableReference, predicate: PredicateTemplate | None, tellers: Tellers
    ) -> None:
        """Replace a mention of a table by its scan."""
        name = self.names[id(reference)] = self._name(reference, predicate, tellers)
        node = reference.node
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(reference.engine_alias)))
        node.set("this", exp.to_identifier(name))
        for key in ("db", "catalog", "version"):
            node.set(key, None)

    def made(self) -> tuple[Scan, ...]:
        """The scans, in the order of their names."""
        return tuple(made.scan for made in self._made)

    def _name(
        self, reference: TableReference, predicate: PredicateTemplate | None, tellers: Tellers
    ) -> str:
        schema, addressed = reference.table.schema, reference.addressed
        least = () if addressed else (_narrowest(schema),)
        own = _in_order(schema, reference.used or least)
        rows = Scan("", reference.table, (), predicate, self._limit, reference.bound, self._order)
        if reference.history is not None:
            rows = replace(rows, limit=None, order=ScanOrder.NONE, history=reference.history)
        for i, made in enumerate(self._made):
            scan = made.scan
            if scan.table is not reference.table or made.tellers != tellers:
                continue
            if replace(scan, name="", column_ids=(), addressed=False) != rows:
                continue
            same_columns = scan.column_ids == own and scan.addressed == addressed
            starred = made.starred or reference.starred
            if starred and not same_columns:
                continue
            together = _in_order(schema, {*own, *scan.column_ids})
            shared = replace(scan, column_ids=together, addressed=scan.addressed or addressed)
            self._made[i] = _MadeScan(shared, starred, tellers)
            return scan.name
        name = f"{SCAN_PREFIX}{self._taken + len(self._made)}"
        scan = replace(rows, name=name, column_ids=own, addressed=addressed)
        self._made.append(_MadeScan(scan, reference.starred, tellers))
        return name


def _in_order(schema: Schema, column_ids: Collection[int]) -> tuple[int, ...]:
    return tuple(column.id for column in schema.columns if column.id in column_ids)


def _narrowest(schema: Schema) -> int:
    """A column to count rows by: of the key, and the fewest bytes."""
    widths = {c.id: c.type.width or 1 << 16 for c in schema.key_columns}
    return min(widths, key=lambda column_id: widths[column_id])


def _number_parameters(
    tree: exp.Expr,
) -> tuple[tuple[ParameterKey, ...], tuple[DataType | None, ...]]:
    """Rename placeholders to `$1`, `$2`, ...

    Returns:
        In that order the keys behind them, and the types of the number columns they meet.
    """
    numbers: dict[tuple[ParameterKey, DataType | None], int] = {}
    for node in tree.find_all(exp.Placeholder):
        use = (parameter_key(node), node.meta.get(MEETS))
        node.set("this", str(numbers.setdefault(use, len(numbers) + 1)))
    return tuple(key for key, _ in numbers), tuple(met for _, met in numbers)
