"""FROM clauses: which sources a SELECT has, at which moment each, and how they are joined."""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.history_source import (
    HistorySource,
    changes_source,
    history_table,
    is_changes,
    is_window,
    versions_source,
)
from pykudu_sql.planner.bind.moment import may_move, version_bound
from pykudu_sql.planner.bind.names import undefined_column, with_position
from pykudu_sql.planner.bind.qualifiers import add_source
from pykudu_sql.planner.bind.row_values import ROW_WIDTH
from pykudu_sql.planner.bind.sources import (
    NAMED_DATABASE,
    Branch,
    DerivedTable,
    Frame,
    JoinStep,
    OutputColumn,
    Source,
    TableReference,
    renamed,
)
from pykudu_sql.planner.bind.view_source import (
    check_depth,
    errors_named_after,
    put_in_place,
    view_tree,
)
from pykudu_sql.planner.functions.functions import TABLE_FUNCTIONS, function_names
from pykudu_sql.planner.functions.query_forms import (
    is_from_item,
    is_numbered,
    name_columns,
    select_from_item,
    turn_right_semi_join,
)
from pykudu_sql.planner.parse.not_offered import clause_not_offered
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.system_catalog import SYSTEM_SCHEMAS, readable_table
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import (
    NotSupportedError,
    ProgrammingError,
    StatementTooComplexError,
    UndefinedTableError,
)

MAX_REFERENCES = 250
CteScope = Mapping[str, Sequence[OutputColumn]]
BindQuery = Callable[[exp.Expr, Frame | None, CteScope], list[OutputColumn]]
BindExpression = Callable[[exp.Expr, Frame, CteScope], None]

_REFUSED_ON_TABLES: Mapping[str, str] = {
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "ordinality": "WITH ORDINALITY",
    "changes": "CHANGES",
    "when": "AT (...)",
    "partition": "PARTITION (...)",
    "match": "MATCH_RECOGNIZE",
    "only": "ONLY",
    "rows_from": "ROWS FROM",
}
_JOIN_WORDS = ("kind", "side", "method", "on", "using")


class FromClauses:
    """Binds the FROM clauses of one statement and collects its table references.

    Args:
        text: the statement, for positions in errors.
        context: tables and time.
        bind_query, bind_expression: the binder's, for what is nested in the clause.
    """

    def __init__(
        self,
        text: str,
        context: PlanContext,
        bind_query: BindQuery,
        bind_expression: BindExpression,
    ) -> None:
        self.references: list[TableReference] = []
        self.volatile = False
        self.views: set[str] = set()
        self._open_views: tuple[str, ...] = ()
        self._text = text
        self._context = context
        self._query = bind_query
        self._expression = bind_expression

    def bind(self, select: exp.Select, frame: Frame, ctes: CteScope) -> None:
        """Add the sources and joins of a SELECT to its frame.

        Raises:
            UndefinedTableError, UndefinedColumnError: a name is unknown.
            ProgrammingError: an alias is given twice, or USING does not fit.
            NotSupportedError: a kind of source or join that is not offered.
        """
        for lateral in select.args.get("laterals") or ():
            raise NotSupportedError(
                "LATERAL VIEW is not supported",
                hint="write FROM t, unnest(list) AS x(item)",
                position=node_span(lateral),
            )
        clause = select.args.get("from_")
        turn_right_semi_join(select)
        if clause is not None:
            frame.steps.append(JoinStep(None, self._item(clause.this, frame, ctes)))
        for join in select.args.get("joins") or ():
            self._join(join, frame, ctes, nested=False)

    def _join(self, join: exp.Join, frame: Frame, ctes: CteScope, *, nested: bool) -> None:
        if join.method == "POSITIONAL":
            raise NotSupportedError(
                "POSITIONAL JOIN is not supported", hint="rows of a table have no position"
            )
        if join.side == "RIGHT" and join.kind in ("SEMI", "ANTI"):
            raise NotSupportedError(
                f"RIGHT {join.kind} JOIN is not supported behind another join",
                hint=f"write the table of its right side first: b LEFT {join.kind} JOIN a",
                position=node_span(join.this),
            )
        if nested and not any(join.args.get(key) for key in _JOIN_WORDS):
            join.set("kind", "CROSS")  # the engine takes no comma in parentheses
        left = list(frame.visible())
        right = self._item(join.this, frame, ctes)
        frame.steps.append(JoinStep(join, right, nested))
        if join.method == "NATURAL":
            join.set("using", [exp.to_identifier(name) for name in _common(left, right)])
            join.set("method", None)
        for column in join.args.get("using") or ():
            self._using(column, left, right, frame)
        if join.args.get("on") is not None:
            self._expression(join.args["on"], frame, ctes)
        if join.kind in ("SEMI", "ANTI"):
            frame.hidden.update(key for key, each in frame.sources.items() if each in right)

    def _using(
        self, column: exp.Expr, left: Sequence[Source], right: Sequence[Source], frame: Frame
    ) -> None:
        name = column.name.lower()
        for side in (left, right):
            holders = [source for source in side if name in source.all_names()]
            if not holders:
                known = [n for source in side for n in source.column_names()]
                raise undefined_column(name, known, node_span(column))
            for source in holders:
                source.use(name)
        frame.merged.add(name)

    def _item(self, node: exp.Expr, frame: Frame, ctes: CteScope) -> list[Source]:
        """The sources one item of a FROM clause adds to the frame."""
        for key, what in _REFUSED_ON_TABLES.items():
            if node.args.get(key) and not (key == "ordinality" and is_numbered(node)):
                turned = what == "PIVOT" and node.args[key][0].args.get("unpivot")
                position = node_span(node)
                raise clause_not_offered("UNPIVOT" if turned else what, position)
        match node:
            case exp.Table(this=exp.Func() as call) if is_changes(call):
                history = changes_source(call, self._text, self._context)
                alias = (node.alias or call.name).lower()
                sources = [self._history(node, alias, history, frame)]
            case exp.Table(this=exp.Func() as call):
                sources = [self._function(node, call, frame, ctes)]
            case exp.Table(this=exp.Values() as inner):
                sources = [self._derived(node, inner, frame, ctes)]
            case exp.Table():
                sources = [self._table(node, frame, ctes)]
            case exp.Subquery(this=inner) if is_from_item(inner) and node.alias:
                select_from_item(node)
                sources = [self._derived(node, node, frame, ctes)]
            case exp.Subquery(this=inner) if is_from_item(inner):
                sources = self._item(inner, frame, ctes)
            case exp.Unnest():
                sources = [self._function(node, node, frame, ctes)]
            case exp.Subquery() | exp.Values():
                sources = [self._derived(node, node, frame, ctes)]
            case exp.Lateral(this=exp.Subquery() as inner):
                sources = [self._derived(node, inner, frame, ctes)]
            case _:
                raise NotSupportedError(
                    "this kind of table expression is not supported",
                    position=node_span(node),
                )
        before = len(frame.steps)
        for join in node.args.get("joins") or ():
            self._join(join, frame, ctes, nested=True)
        for step in frame.steps[before:]:
            sources.extend(step.sources)
        return sources

    def _table(self, node: exp.Table, frame: Frame, ctes: CteScope) -> Source:
        name = node.name.lower()
        alias = (node.alias or node.name).lower()
        version = node.args.get("version")
        if not node.db and name in ctes:
            if version is not None:
                raise NotSupportedError(
                    f"AS OF cannot be used on the WITH query '{name}'",
                    hint="write it behind the tables inside",
                    position=node_span(node),
                )
            derived = DerivedTable(alias, renamed(ctes[name], node.args.get("alias")))
            return self._add(frame, derived, node)
        if node.db.lower() in SYSTEM_SCHEMAS:
            reference = self._system(node, alias, f"{node.db}.{node.name}".lower(), version)
        else:
            full = f"{node.db}.{node.name}".lower() if node.db else name
            if version is not None and is_window(version):
                history = versions_source(full, version, self._text, self._context)
                return self._history(node, alias, history, frame)
            bound = self._moment(version)
            catalog = self._catalog_at(bound)
            view = catalog.views.get(catalog.full_name(full))
            if view is not None:
                return self._view(node, alias, view, bound, frame)
            reference = self._reference(node, alias, full, bound)
        if not node.alias:
            reference.database = database_of(reference.table.name)
        return self._named(frame, reference, node)

    def _named(self, frame: Frame, reference: TableReference, node: exp.Table) -> Source:
        """A mention of a table, its columns renamed where the alias says so."""
        alias = node.args.get("alias")
        if alias is None or not alias.columns:
            return self._add(frame, reference, node)
        within = Frame(sources={reference.alias: reference})
        outputs = [
            OutputColumn(n, ((reference, n),), (Branch(within, reference, n),), ((reference, n),))
            for n in reference.column_names()
        ]
        return self._add(frame, DerivedTable(reference.alias, renamed(outputs, alias)), node)

    def _history(self, node: exp.Table, alias: str, history: HistorySource, frame: Frame) -> Source:
        """A mention of a table's changes or versions."""
        reference = self._reference(node, alias, history.name, history.seen_at)
        reference.table = history_table(reference.table, history.window.kind)
        reference.bound, reference.history = None, history.window
        self.volatile |= any(may_move(moment) for moment in history.moments)
        return self._named(frame, reference, node)

    def _moment(self, version: exp.Version | None) -> SnapshotBound | None:
        """The bound at which a table is read; None is the transaction's own."""
        if version is None:
            return self._context.settings.as_of
        self.volatile |= may_move(version)
        return version_bound(version, self._text, self._context)

    def _catalog_at(self, bound: SnapshotBound | None) -> Catalog:
        return self._context.catalog if bound is None else self._context.catalog_at(bound)

    def _reference(
        self, node: exp.Table, alias: str, name: str, bound: SnapshotBound | None
    ) -> TableReference:
        try:
            table = self._catalog_at(bound).table(name)
        except UndefinedTableError as error:
            current = self._context.catalog
            if bound is not None and current.full_name(name) in current.tables:
                error.hint = "there is a table of this name now, but there was none at that moment"
            raise with_position(error, node) from None
        return self._refer(TableReference(node, alias, table, bound))

    def _view(
        self, node: exp.Table, alias: str, view: ViewInfo, bound: SnapshotBound | None, frame: Frame
    ) -> Source:
        """A view, its query bound in the view's database at the moment of the mention."""
        outside, opened = self._context, self._open_views
        self.views.add(view.name)
        self._context = outside.within(view.database, bound)
        self._open_views = (*opened, view.name)
        try:
            with errors_named_after(view):
                check_depth(view, opened)
                tree = view_tree(view)
                placed, columns = put_in_place(node, alias, tree, self._query(tree, None, {}), view)
        finally:
            self._context, self._open_views = outside, opened
        derived = DerivedTable(alias, renamed(columns, node.args.get("alias")), node=placed)
        derived.database = None if node.alias else database_of(view.name)
        return self._add(frame, derived, node)

    def _system(
        self, node: exp.Table, alias: str, name: str, version: exp.Version | None
    ) -> TableReference:
        """A mention of a table of schema `sys`, which shows the present."""
        if version is not None:
            raise NotSupportedError(f"'{name}' has no past", position=node_span(node))
        try:
            table = readable_table(self._context.catalog, name)
        except UndefinedTableError as error:
            raise with_position(error, node) from None
        return self._refer(TableReference(node, alias, table))

    def _refer(self, reference: TableReference) -> TableReference:
        if len(self.references) == MAX_REFERENCES:
            raise StatementTooComplexError(
                f"a statement cannot read more than {MAX_REFERENCES} tables"
            )
        self.references.append(reference)
        return reference

    def _derived(self, node: exp.Expr, query: exp.Expr, frame: Frame, ctes: CteScope) -> Source:
        """A subquery or VALUES; it may refer to the sources before it, as LATERAL ones do."""
        columns = self._query(query, frame, ctes)
        width = node.meta.get(ROW_WIDTH)
        if width not in (None, len(columns)):
            raise ProgrammingError(
                f"a row of {width} columns is compared with a query of {len(columns)}",
                position=node_span(query),
                sqlstate="42601",
            )
        if isinstance(query.unnest(), exp.Values) and any(c.name[:3] != "col" for c in columns):
            name_columns(node, [column.name for column in columns])
        alias = node.alias.lower() or f"subquery {len(frame.sources) + 1}"
        derived = DerivedTable(alias, renamed(columns, node.args.get("alias")))
        if isinstance(node, exp.Subquery):
            derived.database, derived.node = node.meta.get(NAMED_DATABASE), node
        return self._add(frame, derived, node)

    def _function(self, node: exp.Expr, call: exp.Func, frame: Frame, ctes: CteScope) -> Source:
        name = next(iter(sorted(function_names(call) & TABLE_FUNCTIONS)), None)
        if name is None:
            shown = min(function_names(call), key=len)
            raise NotSupportedError(
                f"table function {shown}() is not offered",
                hint=f"FROM takes tables, queries and {', '.join(sorted(TABLE_FUNCTIONS))}",
                position=node_span(call),
            )
        for argument in call.iter_expressions():
            if not isinstance(argument, exp.TableAlias):
                self._expression(argument, frame, ctes)
        if call.args.get("is_end_exclusive"):
            name = "range"
        alias = node.alias.lower() or name
        outputs = [OutputColumn(name)]
        number = node.args.get("ordinality") or node.args.get("offset")
        if number:
            outputs.append(OutputColumn("ordinality" if number is True else number.name.lower()))
        columns = renamed(outputs, node.args.get("alias"))
        return self._add(frame, DerivedTable(alias, columns), node)

    def _add(self, frame: Frame, source: Source, node: exp.Expr) -> Source:
        add_source(frame, source, node)
        return source


def _common(left: Sequence[Source], right: Sequence[Source]) -> list[str]:
    """The columns of a NATURAL join, in the order of its left side."""
    on_right = {name for source in right for name in source.column_names()}
    names = [name for source in left for name in source.column_names() if name in on_right]
    if not names:
        raise ProgrammingError("NATURAL JOIN of tables without a common column", sqlstate="42703")
    return list(dict.fromkeys(names))
