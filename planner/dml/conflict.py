"""ON CONFLICT: rows to insert whose keys may exist, and RETURNING of the statements with such rows.

The rows proposed are a relation of the engine, complete and of the table's types, under the name
`excluded`. A left join finds the row of the table with the same key: a row without one is
inserted, another updated where the statement says so.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.bind.target import cell_literal, mention
from pykudu_sql.planner.dml.assignments import read_assignments
from pykudu_sql.planner.dml.change_query import BranchDraft, draft, select_drafted, setting
from pykudu_sql.planner.dml.default_values import depends_on_moment
from pykudu_sql.planner.dml.insert_tail import EXCLUDED_NAME, Conflict
from pykudu_sql.planner.dml.key_change import (
    ConflictRows,
    key_conflict,
    key_insert,
    returned_columns,
)
from pykudu_sql.planner.dml.nearer_names import bind_nearer, qualify_nearer, set_values
from pykudu_sql.planner.dml.returning import ReturnedRows, read_returning
from pykudu_sql.planner.plan.change_plans import (
    EXCLUDED,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
    Repeated,
)
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.plan.write_plans import InsertQuery, InsertValues, KeyInsert
from pykudu_sql.planner.query.query import finish
from pykudu_sql.storage.catalog.namespace import own_name
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError

Values = Sequence[tuple[int, exp.Expr]]


@dataclass(frozen=True, slots=True)
class Target:
    """The table of an INSERT. `table`: the table; `name`: what the statement calls it."""

    table: TableInfo
    name: CorrelationName

    def mention(self) -> exp.Table:
        """The table in a FROM clause."""
        if self.name.database is None:
            return mention(self.table.name, self.name.alias)
        own = exp.to_identifier(own_name(self.table.name), quoted=True)
        return exp.Table(this=own, db=exp.to_identifier(self.name.database, quoted=True))

    def column(self, column: ColumnSchema) -> exp.Column:
        """One of its columns, qualified."""
        return self.name.column(column.name)


def check_conflict_columns(table: TableInfo, conflict: Conflict) -> None:
    """See that ON CONFLICT is about the table's primary key.

    Raises ProgrammingError: it names other columns; NotSupportedError: DO UPDATE on a table whose
    key is not unique.
    """
    schema = table.schema
    key = [column.name for column in schema.key_columns]
    if schema.auto_incrementing and (conflict.columns or conflict.update is not None):
        raise NotSupportedError(
            f"the primary key of table '{table.name}' is not unique: rows never conflict",
            span=conflict.span,
        )
    if conflict.columns and sorted(conflict.columns) != sorted(key):
        raise ProgrammingError(
            f"no unique key of table '{table.name}' is ({', '.join(conflict.columns)})",
            hint=f"its primary key is ({', '.join(key)})",
            span=conflict.span,
            sqlstate="42P10",
        )


def insert_returning(
    rows: InsertValues | InsertQuery,
    target: Target,
    items: Sequence[exp.Expr],
    context: PlanContext,
) -> InsertReturning | ConflictInsert | KeyInsert:
    """An INSERT or UPSERT that shows the rows it wrote."""
    plain = returned_columns(items, target.table, target.name)
    returned = _returned(target, items, context)
    if rows.kind.numbers and target.table.schema.auto_incrementing:
        rows = replace(rows, kind=RowOpKind.INSERT)  # numbered rows are always new
    if rows.kind is RowOpKind.INSERT:
        general = InsertReturning(rows, returned.alone())
        if plain is None:
            return general
        return key_insert(rows, None, plain, general, context) or general
    inserting = BranchDraft(RowOpKind.INSERT, _excluded(target.table.schema.columns))
    if rows.kind is RowOpKind.INSERT_IGNORE:
        return _planned(rows, target, [inserting], None, returned, Repeated.FIRST, context)
    kind = RowOpKind.UPDATE_IGNORE if rows.kind.ignores else RowOpKind.UPDATE
    drafts = [inserting]
    overwritten = _overwritten(rows, target)
    if overwritten:
        drafts.append(BranchDraft(kind, [*_keys(target), *_excluded(overwritten)]))
    return _planned(rows, target, drafts, None, returned, Repeated.LAST, context)


def insert_or_update(
    rows: InsertValues | InsertQuery,
    target: Target,
    conflict: Conflict,
    items: Sequence[exp.Expr],
    context: PlanContext,
) -> ConflictInsert | KeyInsert:
    """INSERT .. ON CONFLICT DO UPDATE SET .. [WHERE ..] [RETURNING ..].

    Raises UndefinedColumnError, ProgrammingError: a name is unknown, or a key column is set;
    DataError, NotNullError: a constant does not fit its column.
    """
    update = conflict.update
    assert update is not None
    # Before the assignments are read, which puts constants for calls of the current time.
    volatile = depends_on_moment(update, target.table)
    _qualify(update, target, context)
    assignments = read_assignments(
        update.expressions, target.table, target.name, RowOpKind.UPDATE, context
    )
    drafts = [
        BranchDraft(RowOpKind.INSERT, _excluded(target.table.schema.columns)),
        setting(RowOpKind.UPDATE, _keys(target), assignments),
    ]
    where = update.args.get("where")
    condition = None if where is None else where.this
    plain = returned_columns(items, target.table, target.name)
    by_key = key_conflict(assignments, condition, ConflictRows(target.table, target.name, context))
    returned = _returned(target, items, context) if items else None
    general = _planned(
        rows, target, drafts, condition, returned, Repeated.REFUSED, context, volatile=volatile
    )
    if by_key is None or plain is None:
        return general
    returning = plain if items else None
    return key_insert(rows, by_key, returning, general, context) or general


def _returned(target: Target, items: Sequence[exp.Expr], context: PlanContext) -> ReturnedRows:
    mention = target.mention()
    select = exp.Select(from_=exp.From(this=mention))
    return read_returning(items, select, mention, context)


def _overwritten(rows: InsertValues | InsertQuery, target: Target) -> list[ColumnSchema]:
    """The columns that an UPSERT sets in a row that is there already."""
    schema = target.table.schema
    inserted_ids = {*rows.column_ids, *(rows.reset_ids if isinstance(rows, InsertQuery) else ())}
    return [
        column
        for column in schema.columns
        if column.id in inserted_ids
        and column.id not in schema.key_ids
        and not (rows.kind.ignores and column.immutable)
    ]


def _excluded(columns: Sequence[ColumnSchema]) -> Values:
    return [(column.id, exp.column(column.name, table=EXCLUDED_NAME)) for column in columns]


def _keys(target: Target) -> Values:
    return [(column.id, target.column(column)) for column in target.table.schema.key_columns]


def _planned(
    rows: InsertValues | InsertQuery,
    target: Target,
    drafts: Sequence[BranchDraft],
    condition: exp.Expr | None,
    returned: ReturnedRows | None,
    repeated: Repeated,
    context: PlanContext,
    *,
    volatile: bool = False,
) -> ConflictInsert:
    table = target.table
    first = target.column(table.schema.key_columns[0])
    cases = [exp.If(this=exp.Is(this=first, expression=exp.Null()), true=exp.Literal.number(0))]
    if len(drafts) > 1:
        otherwise = exp.true() if condition is None else exp.Paren(this=condition)
        cases.append(exp.If(this=otherwise, true=exp.Literal.number(1)))
    drafted = draft(exp.Case(ifs=cases), drafts, table, target.name, returned)
    proposed = _proposed(target)
    select = _joined(target, proposed)
    select_drafted(select, drafted, table, context)
    bound = bind(select, context).with_volatility(volatile)
    bound = replace(bound, supplies=tuple(proposed.expressions[0].expressions))
    _stand_in(select)
    scan_count = len(rows.query.scans) if isinstance(rows, InsertQuery) else 0
    query = finish(bound, context, scan_count)
    statement = "UPSERT" if rows.kind in (RowOpKind.UPSERT, RowOpKind.UPSERT_IGNORE) else "INSERT"
    change = ChangeQuery(table, query, drafted.branches, statement, drafted.returning)
    return ConflictInsert(rows, change, repeated, _target_scan(query, bound, table))


def _proposed(target: Target) -> exp.Values:
    """The rows proposed, as NULLs of the types of the table's columns."""
    columns = target.table.schema.columns
    names = [exp.to_identifier(column.name) for column in columns]
    return exp.Values(
        expressions=[exp.Tuple(expressions=[cell_literal(None, column) for column in columns])],
        alias=exp.TableAlias(this=exp.to_identifier(EXCLUDED_NAME), columns=names),
    )


def _joined(target: Target, proposed: exp.Values) -> exp.Select:
    """The rows proposed with those of the table that have the same key."""
    equal = [
        exp.EQ(this=target.column(c), expression=exp.column(c.name, table=EXCLUDED_NAME))
        for c in target.table.schema.key_columns
    ]
    join = exp.Join(this=target.mention(), side="LEFT", on=exp.and_(*equal, copy=False))
    return exp.Select(from_=exp.From(this=proposed), joins=[join])


def _stand_in(select: exp.Select) -> None:
    """Put the relation in the place of the VALUES that gave the binder its columns."""
    name = exp.TableAlias(this=exp.to_identifier(EXCLUDED_NAME))
    relation = exp.Table(this=exp.to_identifier(EXCLUDED), alias=name)
    select.args["from_"].this.replace(relation)


def _target_scan(query: Query, bound: BoundQuery, table: TableInfo) -> str | None:
    mentions = sum(reference.table.id == table.id for reference in bound.references)
    if mentions != 1:
        return None
    return next(scan.name for scan in query.scans if scan.table.id == table.id)


def _qualify(update: exp.Update, target: Target, context: PlanContext) -> None:
    """Names without a qualifier mean the row that is there."""
    nodes = list(set_values(update.expressions))
    if update.args.get("where") is not None:
        nodes.append(update.args["where"].this)
    expressions = bind_nearer(nodes, target.mention(), _proposed(target), None, context)
    qualify_nearer(nodes, expressions, target.name)
