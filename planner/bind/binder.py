"""Names to columns: every column of a parsed query finds its table, at its moment, or an error.

The tree stays as it was parsed; what is learnt is noted beside it: which mentions of tables there
are and what they use, which table each column belongs to, how each SELECT joins its sources.
Names resolve as in the engine: qualified by alias, else the one source that has the column, else
an alias of the SELECT list, else a query around it. More than one source is an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, bind_column, source_of
from pykudu_sql.planner.bind.compared_moments import turn_moments
from pykudu_sql.planner.bind.from_clause import CteScope, FromClauses
from pykudu_sql.planner.bind.lineage import by_their_names, is_cut, sealed, settle, united
from pykudu_sql.planner.bind.moment import current_nodes
from pykudu_sql.planner.bind.names import ambiguous, undefined_column, unresolved
from pykudu_sql.planner.bind.qualifiers import qualified_source, struct_field
from pykudu_sql.planner.bind.row_values import compares_rows, written_out
from pykudu_sql.planner.bind.sources import (
    Branch,
    DerivedTable,
    Frame,
    OutputColumn,
    Source,
    TableReference,
    renamed,
)
from pykudu_sql.planner.bind.spread_columns import spread_columns
from pykudu_sql.planner.bind.star_changes import changed, changes_of, listed
from pykudu_sql.planner.functions.call_clauses import check_call_clause
from pykudu_sql.planner.functions.functions import check_function
from pykudu_sql.planner.functions.query_forms import (
    asked_outputs,
    check_operand,
    free_variable,
    is_from_item,
    is_stray_join,
    name_rolled_up,
    output_name,
    values_names,
)
from pykudu_sql.planner.parse.long_list import long_list
from pykudu_sql.planner.parse.not_offered import clause_not_offered
from pykudu_sql.planner.parse.source_spans import errors_located, node_span
from pykudu_sql.planner.parse.star_places import check_inner_star, check_undressed, check_unmatched
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import ProgrammingError, SyntaxError

SCAN_PREFIX = "__scan_"
NESTED_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)

_REFUSED: Mapping[type[exp.Expr], str] = {
    exp.Columns: "COLUMNS(...)",
    exp.Pivot: "PIVOT",
    exp.TableSample: "TABLESAMPLE",
    exp.Into: "SELECT INTO",
    exp.Lock: "FOR UPDATE",
    exp.Parameter: "@variables",
    exp.SessionParameter: "@@variables",
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.HistoricalData: "AT (...)",
    exp.Connect: "CONNECT BY",
    exp.Collate: "COLLATE",
    exp.DDL: "a statement inside a query",
    exp.DML: "a statement inside a query",
}
_REFUSED_KINDS = tuple(_REFUSED)


def bind(tree: exp.Expr, text: str, context: PlanContext) -> BoundQuery:
    """Bind a query.

    Args:
        tree: of `dialect.parse`; changed: NATURAL joins, COLUMNS, times with an offset from UTC.
        text: the statement, for positions in errors.
        context: tables and time.

    Raises:
        UndefinedTableError, UndefinedColumnError: a name is unknown.
        ProgrammingError: a name is ambiguous or given twice.
        NotSupportedError: a construct or function that is not offered.
    """
    binder = _Binder(text, context)
    with errors_located(text):
        columns = binder.query(tree, None, {})
    for column in columns:
        column.use()
    moments = turn_moments(tree)
    return BoundQuery(
        tree,
        tuple(binder.sources.references),
        tuple(binder.qualified),
        tuple(binder.fields),
        tuple(binder.frames),
        tuple(binder.stars),
        tuple(binder.outputs),
        tuple(column.name for column in columns),
        binder.sources.volatile or any(True for _ in current_nodes(tree)),
        frozenset(binder.sources.views),
        moments,
    )


class _Binder:
    """Collects what a `BoundQuery` has; the attributes are named as there."""

    def __init__(self, text: str, context: PlanContext) -> None:
        self.qualified: list[tuple[exp.Column, Source]] = []
        self.fields: list[tuple[exp.Column, Source]] = []
        self.frames: list[tuple[exp.Select, Frame]] = []
        self.stars: list[tuple[exp.Star, tuple[TableReference, ...]]] = []
        self.outputs: list[tuple[exp.Expr, Sequence[OutputColumn]]] = []
        self._text = text
        self.sources = FromClauses(text, context, self.query, self.expression)

    def query(self, node: exp.Expr, outer: Frame | None, ctes: CteScope) -> list[OutputColumn]:
        """Bind a query of any kind; its columns are not used yet."""
        columns = self._query(node, outer, self._with(node, outer, ctes))
        self.outputs.append((node, columns))
        return columns

    def _query(self, node: exp.Expr, outer: Frame | None, ctes: CteScope) -> list[OutputColumn]:
        match node:
            case exp.Select():
                return self._select(node, outer, ctes)
            case exp.SetOperation():
                return self._set_operation(node, outer, ctes)
            case exp.Subquery() if not (is_from_item(node.this) or is_stray_join(node)):
                columns = self.query(node.this, outer, ctes)
                self._modifiers(node, outer, ctes, columns)
                return columns if not is_cut(node) else sealed(columns)
            case exp.Values():
                names = values_names(node)
                for row in node.expressions:
                    self.expression(row, Frame(outer), ctes)
                cells = zip(*(row.expressions for row in node.expressions), strict=False)
                return [
                    OutputColumn(name, shown=column)
                    for name, column in zip(names, cells, strict=False)
                ]
        raise SyntaxError("this is not a query", position=node_span(node))

    def expression(self, node: exp.Expr, frame: Frame, ctes: CteScope, *clause: str) -> None:
        """Bind the columns, functions and subqueries of an expression.

        Args:
            clause: names that resolve before columns, as the SELECT list's do in ORDER BY.
        """
        stack = [node]
        while stack:
            current = stack.pop()
            if isinstance(current, NESTED_QUERIES):
                if long_list(current) is not None:
                    continue
                self._subquery(current, frame, ctes)
                continue
            if compares_rows(current):
                whole = written_out(current)
                if whole is not current:
                    current.replace(whole)
                    stack.append(whole)
                    continue
            self._check(current)
            if isinstance(current, exp.Comprehension):
                free_variable(current)
            if isinstance(current, exp.Column):
                self._column(current, frame, clause)
                continue
            if isinstance(current, exp.Star):
                self._use_all(current, frame)
            stack.extend(reversed(list(current.iter_expressions())))

    def _subquery(self, node: exp.Expr, frame: Frame, ctes: CteScope) -> None:
        columns = self.query(node, frame, ctes)
        if not isinstance(node.parent, exp.Exists):
            _use(columns)

    def _check(self, node: exp.Expr) -> None:
        if isinstance(node, _REFUSED_KINDS):
            what = next(what for kind, what in _REFUSED.items() if isinstance(node, kind))
            raise clause_not_offered(what, node_span(node))
        if isinstance(node, exp.Func):
            check_function(node, self._text)
        else:
            check_call_clause(node, self._text)

    def _with(self, node: exp.Expr, outer: Frame | None, ctes: CteScope) -> CteScope:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        scope = dict(ctes)
        for cte in clause.expressions:
            name = cte.alias.lower()
            if name.startswith(SCAN_PREFIX):
                raise ProgrammingError(
                    f"names that start with {SCAN_PREFIX} are reserved",
                    position=node_span(cte.args["alias"]),
                    sqlstate="42939",
                )
            if clause.recursive and isinstance(cte.this, exp.SetOperation):
                columns = self._recursive(cte, name, outer, scope)
            else:
                columns = self.query(cte.this, outer, scope)
            scope[name] = renamed(columns, cte.args["alias"])
        return scope

    def _recursive(
        self, cte: exp.CTE, name: str, outer: Frame | None, scope: dict[str, Sequence[OutputColumn]]
    ) -> list[OutputColumn]:
        """The first branch says what the columns are; the second may read them."""
        for operand in (cte.this.left, cte.this.right):
            check_operand(operand, cte.this)
        first = self.query(cte.this.left, outer, scope)
        _use(first)
        columns = [OutputColumn(column.name, shown=column.shown) for column in first]
        inner = {**scope, name: renamed(columns, cte.args["alias"])}
        _use(self.query(cte.this.right, outer, inner))
        self._modifiers(cte.this, outer, inner, columns)
        self.outputs.append((cte.this, columns))
        return columns

    def _set_operation(
        self, node: exp.SetOperation, outer: Frame | None, ctes: CteScope
    ) -> list[OutputColumn]:
        operands: list[exp.Expr] = []
        left: exp.Expr = node
        by_name = bool(node.args.get("by_name"))
        while isinstance(left, exp.SetOperation) and (
            left is node
            or (not left.args.get("with_") and bool(left.args.get("by_name")) == by_name)
        ):
            operands.append(left.expression)
            left = left.this
        for operand in (left, *operands):
            check_operand(operand, node)
        columns = self.query(left, outer, ctes)
        _use(columns)
        branches = [columns]
        for operand in reversed(operands):
            others = self.query(operand, outer, ctes)
            _use(others)
            branches.append(others)
            if len(others) != len(columns) and not by_name:
                raise ProgrammingError(
                    f"{node.key.upper()} of queries with {len(columns)} and {len(others)} columns",
                    position=node_span(operand),
                    sqlstate="42601",
                )
        if by_name:
            columns = by_their_names(branches)
        self._modifiers(node, outer, ctes, columns)
        together = columns if by_name else united(branches)
        return sealed(together) if is_cut(node) else together

    def _modifiers(
        self,
        node: exp.Expr,
        outer: Frame | None,
        ctes: CteScope,
        columns: Sequence[OutputColumn],
    ) -> None:
        """ORDER BY, LIMIT and OFFSET of a set operation or of a parenthesised query."""
        frame = Frame(outer)
        frame.sources[""] = DerivedTable("", columns)
        for key in ("order", "limit", "offset"):
            if node.args.get(key) is not None:
                self.expression(node.args[key], frame, ctes)

    def _select(
        self, select: exp.Select, outer: Frame | None, ctes: CteScope
    ) -> list[OutputColumn]:
        frame = Frame(outer)
        name_rolled_up(select)
        self.frames.append((select, frame))
        self.sources.bind(select, frame, ctes)
        spread_columns(select, frame)
        if not select.expressions:
            raise SyntaxError("SELECT without columns")
        outputs: list[OutputColumn] = []
        for item in select.expressions:
            outputs.extend(self._item(item, frame, ctes))
            if isinstance(item, exp.Alias):
                frame.aliases.add(item.alias.lower())
        for key in ("where", "group", "having", "qualify"):
            if select.args.get(key) is not None:
                self.expression(select.args[key], frame, ctes)
        for window in select.args.get("windows") or ():
            self.expression(window, frame, ctes)
        if select.args.get("order") is not None:
            names = [column.name.lower() for column in outputs]
            self.expression(select.args["order"], frame, ctes, *names)
        _use([outputs[i] for i in asked_outputs(select, [column.name for column in outputs])])
        for key in ("limit", "offset"):
            if select.args.get(key) is not None:
                self.expression(select.args[key], frame, ctes)
        if select.args.get("distinct") is not None:
            self.expression(select.args["distinct"], frame, ctes)
            _use(outputs)
        settle(select, frame, outputs)
        for key in ("into", "locks", "sample", "connect", "match", "laterals", "pivots"):
            for node in listed(select.args.get(key)):
                self._check(node)
        return outputs

    def _item(self, item: exp.Expr, frame: Frame, ctes: CteScope) -> Iterator[OutputColumn]:
        """The columns of one entry of the SELECT list."""
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star):
            check_undressed(item)
            name = output_name(item)
            self.expression(item, frame, ctes)
            yield OutputColumn(name, branches=(self._shown(item, frame),), shown=(item,))
            return
        found, covered = frame.star(), list(frame.visible())
        if isinstance(item, exp.Column) and item.table:
            source = self._qualified(item, frame)
            found = [(name, ((source, name),)) for name in source.column_names()]
            covered = [source]
        self.stars.append((star, tuple(_starred(covered))))
        if not found:
            raise SyntaxError("SELECT * needs a FROM clause", position=node_span(star))
        columns = [
            OutputColumn(name, origins, (Branch(frame, *origins[0]),), origins)
            for name, origins in found
        ]
        yield from self._star_changes(star, columns, frame, ctes)

    def _star_changes(
        self, star: exp.Star, columns: list[OutputColumn], frame: Frame, ctes: CteScope
    ) -> list[OutputColumn]:
        """EXCLUDE, REPLACE and RENAME; a star with one of them brings in all it covers."""
        check_unmatched(star)
        changes = changes_of(star)
        if not changes.any:
            return columns
        _use(columns)
        for node in changes.replaced:
            self.expression(node.this, frame, ctes)
        return changed(columns, changes, frame, self._meant_in(frame))

    def _meant_in(self, frame: Frame) -> Callable[[exp.Column], Source]:
        return lambda column: self._qualified(column, frame)

    def _shown(self, item: exp.Expr, frame: Frame) -> Branch:
        """What an entry of the SELECT list shows, if it is a column as it is."""
        while isinstance(item, exp.Alias | exp.Paren):
            item = item.this
        source = source_of(item)
        return Branch(frame, source, item.name.lower()) if source is not None else Branch(frame)

    def _column(self, column: exp.Column, frame: Frame, first: Sequence[str]) -> None:
        name = column.name.lower()
        if isinstance(column.this, exp.Star):
            check_inner_star(column)
            source = self._qualified(column, frame)
            _starred([source])
            for each in source.column_names():
                source.use(each)
            return
        field = struct_field(column, frame) if column.table else None
        if field is not None:
            self.fields.extend((column, source) for source in field.sources)
            return
        if column.table:
            source = self._qualified(column, frame)
            if name not in source.all_names():
                known = source.column_names()
                raise undefined_column(name, known, node_span(column.this))
            source.use(name)
            bind_column(column, source)
            return
        if name in first:
            return
        for scope in frame.chain():
            holders = scope.holders(name)
            if len(holders) == 1 or (holders and name in scope.merged):
                for source in holders:
                    source.use(name)
                bind_column(column, holders[0])
                return
            if holders and name not in scope.aliases:
                raise ambiguous(column, holders)
            if holders or name in scope.aliases:
                for source in holders:
                    source.use(name)
                return
        raise unresolved(column, frame)

    def _qualified(self, column: exp.Column, frame: Frame) -> Source:
        source = qualified_source(column, frame)
        self.qualified.append((column, source))
        return source

    def _use_all(self, star: exp.Star, frame: Frame) -> None:
        """A star inside an expression: nothing in count(*), else every column."""
        check_inner_star(star)
        if isinstance(star.parent, exp.Count):
            return
        _starred(frame.visible())
        for source in frame.visible():
            for name in source.column_names():
                source.use(name)


def _starred(sources: Iterable[Source]) -> list[TableReference]:
    """The stored tables among the sources of a star, marked as such."""
    references = [source for source in sources if isinstance(source, TableReference)]
    for reference in references:
        reference.starred = True
    return references


def _use(columns: Iterable[OutputColumn]) -> None:
    for column in columns:
        column.use()
