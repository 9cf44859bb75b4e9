"""INSERT and UPSERT: heads by our own grammar, rows from the fastest reader that takes them.

Plain VALUES come straight from the text (`planner.values`). Rows with expressions are parsed;
constant expressions are computed while planning, and only rows with subqueries, random calls or
parameters inside expressions become a query for the engine.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.correlation_name import CorrelationName, name_of_table
from pykudu_sql.planner.bind.named_table import target_table
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constants
from pykudu_sql.planner.constant_folding.moment import fold_current, reads_current_time
from pykudu_sql.planner.dml.assigned_literals import (
    type_assigned_constant,
    type_assigned_literals,
    written_single,
)
from pykudu_sql.planner.dml.conflict import (
    Target,
    check_conflict_columns,
    insert_or_update,
    insert_returning,
)
from pykudu_sql.planner.dml.default_values import (
    default_node,
    depends_on_moment,
    is_default,
)
from pykudu_sql.planner.dml.insert_columns import (
    column_names,
    listed_column,
    missing_column,
    settable_column,
)
from pykudu_sql.planner.dml.insert_set import values_of_set
from pykudu_sql.planner.dml.insert_tail import find_tail, read_tail
from pykudu_sql.planner.dml.large_constants import take_large
from pykudu_sql.planner.dml.values import Marker, Named, Raw, ValueRows, column_values, read_values
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.change_plans import ConflictInsert, InsertReturning
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import InsertQuery, InsertValues, KeyInsert, Query
from pykudu_sql.planner.query.query import finish, parse_rows, plan_rows
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    NotNullError,
    NotSupportedError,
    ProgrammingError,
    SourceSpan,
    SyntaxError,
)

Insert = InsertValues | InsertQuery | InsertReturning | ConflictInsert | KeyInsert
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_NO_TABLE = frozenset({"ALL", "FIRST", "VALUES", "SELECT", "DEFAULT", "SET", "OR"})


@dataclass(frozen=True, slots=True)
class _Head:
    """The part of an INSERT before its rows.

    Attributes:
        name: what the statement calls the table.
        columns: the columns the rows fill, in order.
        listed: whether the statement names them.
        replaces: columns left out take their default also in a row that is replaced.
    """

    table: TableInfo
    name: CorrelationName
    kind: RowOpKind
    columns: tuple[ColumnSchema, ...]
    listed: bool
    replaces: bool


def plan_insert(tokens: TokenStream, context: PlanContext, before: int | None = None) -> Insert:
    """Plan an INSERT, UPSERT or REPLACE from its first word on.

    `tokens`: at the first word; `before`: where a WITH clause begins that stands before it. Raises
    SyntaxError: it does not follow the grammar; UndefinedTableError, UndefinedColumnError: a name
    is unknown; NotNullError: a required column is left out; DataError: a value does not fit its
    column; NotSupportedError: a clause that is not offered.
    """
    first = tokens.current
    head = _head(tokens, context, before)
    if tokens.at("SET") and before is None:
        _, values = values_of_set(tokens.rest)
        tokens = TokenStream(values.text, values.start)
    source, start = tokens.rest, tokens.current
    if before is not None:
        source = _without_insert(source, first, before)
    if tokens.accept("DEFAULT", "VALUES"):
        place = None if tokens.at_end() else tokens.current.start
        return _finished(head, _default_row(head), source, place, context)
    if start.word == "VALUES" and before is None:
        rows = read_values(replace(source, start=start.end))
        if rows is not None:
            plain = _insert_values(head, rows, cacheable=True)
            return _finished(head, plain, source, rows.tail, context)
    elif start.word not in _QUERY_WORDS and start.text != "(":
        raise tokens.error("VALUES, SELECT, SET or DEFAULT VALUES")
    tail = find_tail(replace(source, start=start.start))
    rows_plan = _insert_parsed(head, source.until(tail), start, context)
    return _finished(head, rows_plan, source, tail, context)


def _without_insert(source: SourceText, first: Token, before: int) -> SourceText:
    """A query from `before` on with the INSERT in its midst blanked out.

    `source`: behind the INSERT; `first`: its first word.
    """
    return replace(source.overwritten(first.start, source.start), start=before)


def _finished(
    head: _Head,
    rows: InsertValues | InsertQuery,
    source: SourceText,
    tail_start: int | None,
    context: PlanContext,
) -> Insert:
    """The statement for rows that `source` begins with and that end where a tail begins."""
    if tail_start is None:
        return rows
    tail = read_tail(source, tail_start)
    target = Target(head.table, head.name)
    if tail.conflict is not None:
        check_conflict_columns(head.table, tail.conflict)
        if head.kind is not RowOpKind.INSERT:
            raise SyntaxError("ON CONFLICT belongs to a plain INSERT", span=tail.conflict.span)
        if tail.conflict.update is not None:
            return insert_or_update(rows, target, tail.conflict, tail.returning, context)
        rows = replace(rows, kind=RowOpKind.INSERT_IGNORE)
    if tail.returning:
        return insert_returning(rows, target, tail.returning, context)
    return rows


def _head(tokens: TokenStream, context: PlanContext, before: int | None) -> _Head:
    first = tokens.current
    kind, replaces = _kind(tokens)
    if not tokens.accept("INTO") and tokens.current.word in _NO_TABLE:
        raise tokens.error("INTO")
    tokens.accept("TABLE")
    place = tokens.current
    name = tokens.table_name()
    table = target_table(name, place, context)
    alias = tokens.name("an alias") if tokens.accept("AS") else None
    columns: tuple[ColumnSchema, ...] = table.schema.visible_columns
    listed = tokens.at_symbol("(") and tokens.ahead(1).word not in _QUERY_WORDS
    tokens.accept("BY", "POSITION")
    if tokens.accept("BY", "NAME"):
        source = tokens.rest
        if before is not None:
            source = _without_insert(source, first, before)
        columns, listed = _named_columns(source, table, tokens.current, context), True
    elif listed:
        columns = _columns_at(column_names(tokens), table, kind)
    elif tokens.at("SET"):
        places, _ = values_of_set(tokens.rest)
        columns, listed = _columns_at(places, table, kind), True
    if table.schema.auto_incrementing and not kind.numbers:
        numbered = any(table.schema.is_hidden(column) for column in columns)
        if not replaces and not numbered:
            raise NotNullError(
                f"{table.schema.key_columns[-1].name} of table '{table.name}' should be set for "
                f"{kind}: its primary key is not unique",
                hint="INSERT adds rows; name the column to UPSERT a row by its number",
            )
        if replaces and not numbered:
            kind, replaces = RowOpKind.INSERT, False
    called = name_of_table(table) if alias is None else CorrelationName(alias, None)
    head = _Head(table, called, kind, columns, listed, replaces)
    _check_required(head, place)
    return head


def _kind(tokens: TokenStream) -> tuple[RowOpKind, bool]:
    """The operation, and whether it is REPLACE."""
    if tokens.accept("UPSERT", "IGNORE"):
        return RowOpKind.UPSERT_IGNORE, False
    if tokens.accept("UPSERT"):
        return RowOpKind.UPSERT, False
    if tokens.accept("REPLACE"):
        return RowOpKind.UPSERT, True
    tokens.expect("INSERT")
    if tokens.accept("OR", "REPLACE"):
        return RowOpKind.UPSERT, True
    if tokens.accept("OR", "ABORT"):
        return RowOpKind.INSERT, False
    if tokens.at("OR", "FAIL") or tokens.at("OR", "ROLLBACK"):
        raise NotSupportedError(
            f"INSERT OR {tokens.ahead(1).word} is not supported",
            hint="an INSERT that fails changes nothing; ROLLBACK takes back what was before it",
            span=tokens.ahead(1).span,
        )
    if tokens.accept("OR", "IGNORE") or tokens.accept("IGNORE"):
        return RowOpKind.INSERT_IGNORE, False
    if tokens.at("OVERWRITE"):
        raise NotSupportedError(
            "INSERT OVERWRITE is not supported",
            hint="TRUNCATE the table first, or use UPSERT",
            span=tokens.current.span,
        )
    return RowOpKind.INSERT, False


def _columns_at(
    places: Sequence[Token], table: TableInfo, kind: RowOpKind
) -> tuple[ColumnSchema, ...]:
    """The columns that tokens name."""
    column_at = settable_column if kind.numbers else listed_column
    columns: list[ColumnSchema] = []
    for place in places:
        columns.append(column_at(table, place.name, columns, place.span))
    return tuple(columns)


def _named_columns(
    source: SourceText, table: TableInfo, place: Token, context: PlanContext
) -> tuple[ColumnSchema, ...]:
    """The columns that the query behind BY NAME has, in its order."""
    span = place.span
    tail = find_tail(replace(source, start=place.start))
    query = plan_rows(source.until(tail), context)
    columns: list[ColumnSchema] = []
    for name in query.names:
        columns.append(listed_column(table, name.lower(), columns, span))
    return tuple(columns)


def _check_required(head: _Head, place: Token) -> None:
    """Check that required columns are listed: an UPSERT may leave out all but the key."""
    schema = head.table.schema
    listed_ids = {column.id for column in head.columns}
    for column in schema.visible_columns:
        required = not column.nullable and not column.has_default
        if not head.kind.numbers and not head.replaces:
            required = column.id in schema.key_ids
        if column.identity and (head.kind.numbers or head.replaces):
            required = False
        if required and column.id not in listed_ids:
            span = place.span
            raise missing_column(head.table, column, span)


def _default_row(head: _Head) -> InsertValues:
    numbered = {c.id for c in head.columns if c.identity and head.kind.numbers}
    head = replace(head, columns=tuple(c for c in head.columns if c.id not in numbered))
    columns: tuple[list[Raw], ...] = tuple([Marker.DEFAULT] for _ in head.columns)
    for column in head.columns:
        if not column.nullable and not column.has_default and not column.identity:
            raise NotNullError(
                f"no value provided for required column '{column.name}' of table "
                f"'{head.table.name}'",
                hint="name the columns and give their values",
            )
    return _insert_values(head, ValueRows(columns, [0], lambda *_: None), cacheable=True)


def _stored_positions(head: _Head, rows: ValueRows) -> list[int]:
    """Positions of the columns without an identity column all of whose values are DEFAULT."""
    return [
        position
        for position, (column, raw) in enumerate(zip(head.columns, rows.columns, strict=True))
        if not (column.identity and head.kind.numbers and set(raw) == {Marker.DEFAULT})
    ]


def _span(rows: ValueRows, position: int, row: int) -> SourceSpan | None:
    return rows.span_of(row, position)


def _insert_values(head: _Head, rows: ValueRows, *, cacheable: bool) -> InsertValues:
    _check_width(head, len(rows.columns), rows.offsets[0])
    positions = _stored_positions(head, rows)
    count = len(rows.offsets)
    columns = [
        column_values(rows.columns[at], head.columns[at], partial(_span, rows, at))
        for at in positions
    ]
    head = replace(head, columns=tuple(head.columns[position] for position in positions))
    ids = [column.id for column in head.columns]
    for column in _omitted_columns(head):
        ids.append(column.id)
        columns.append((column.default_function or column.write_default,) * count)
    keys = dict.fromkeys(v.key for values in columns for v in values if isinstance(v, Parameter))
    ordered = sorted(keys) if all(isinstance(key, int) for key in keys) else list(keys)
    return InsertValues(
        head.table, head.kind, tuple(ids), tuple(columns), count, tuple(ordered), cacheable
    )


def _omitted_columns(head: _Head) -> Sequence[ColumnSchema]:
    """The columns a replaced row gets back to their defaults."""
    if not head.replaces:
        return ()
    listed_ids = {column.id for column in head.columns}
    return [c for c in head.table.schema.visible_columns if c.id not in listed_ids]


def _check_width(head: _Head, width: int, start: int) -> None:
    expected = len(head.columns)
    if width == expected:
        return
    where = "the list of columns" if head.listed else f"table '{head.table.name}'"
    columns = noun_count(expected, "column")
    raise ProgrammingError(
        f"a row has {noun_count(width, 'value')} where {where} has {columns}",
        hint=f"columns are {', '.join(column.name for column in head.columns)}",
        span=SourceSpan(start),
        sqlstate="42601",
    )


def _insert_parsed(
    head: _Head, source: SourceText, start: Token, context: PlanContext
) -> InsertValues | InsertQuery:
    """Rows that need the parser: expressions in VALUES, or a query."""
    if start.word == "VALUES" and source.start == start.start:
        tree = parse(source.text, source.start)
        if isinstance(tree, exp.Values):
            return _insert_expressions(head, tree, start, context)
    rows = parse_rows(source)
    type_assigned_literals(rows, head.columns, context)
    volatile = reads_current_time(rows)
    constants = take_large(rows, head.columns, context)
    query = finish(bind(rows, context).with_volatility(volatile), context)
    _check_width(head, len(query.names), start.start)
    return replace(_from_query(head, query), constants=constants)


def _from_query(head: _Head, query: Query) -> InsertQuery:
    ids = tuple(column.id for column in head.columns)
    reset = tuple(column.id for column in _omitted_columns(head))
    return InsertQuery(head.table, head.kind, ids, query, reset)


def _insert_expressions(
    head: _Head, tree: exp.Values, start: Token, context: PlanContext
) -> InsertValues | InsertQuery:
    # Bound once only: a view's query, which binding puts in, means other tables outside the view.
    unbound = tree if tree.find(exp.Select) is None else tree.copy()
    bound = bind(tree, context)
    rows = [_cells(row) for row in tree.expressions]
    for row in rows:
        _check_width(head, len(row), start.start)
        for node, column in zip(row, head.columns, strict=True):
            type_assigned_constant(node, column)
    nodes = [
        written_single(node, column.type)
        for row in rows
        for node, column in zip(row, head.columns, strict=True)
        if not is_default(node)
    ]
    written = constants([fold_current(node, context) for node in nodes], context)
    if written is None:
        return _insert_computed(head, unbound, context)
    values = map(_raw, written)
    columns: list[list[Raw]] = [[] for _ in head.columns]
    for row in rows:
        for cells, node in zip(columns, row, strict=True):
            cells.append(Marker.DEFAULT if is_default(node) else next(values))
    offsets = [start.start] * len(rows)

    def span_of(row: int, position: int) -> SourceSpan:
        return node_span(rows[row][position]) or SourceSpan(start.start)

    value_rows = ValueRows(tuple(columns), offsets, span_of)
    return _insert_values(head, value_rows, cacheable=not bound.volatile)


def _cells(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row.this]


def _raw(value: Constant | Hole) -> Raw:
    return Named(value.key) if isinstance(value, Hole) else value.value  # type: ignore[return-value]


def _insert_computed(head: _Head, tree: exp.Values, context: PlanContext) -> InsertQuery:
    """The rows as a query; DEFAULT becomes the column's default."""
    volatile = depends_on_moment(tree, head.table)
    for row in tree.expressions:
        for node, column in zip(_cells(row), head.columns, strict=True):
            if is_default(node):
                node.replace(default_node(column, context))
    type_assigned_literals(tree, head.columns, context)
    query = finish(bind(tree, context).with_volatility(volatile), context)
    return _from_query(head, query)
