"""FROM clauses: which relations a SELECT has, at which moment each, and how they are joined."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.bind.history_source import (
    HistorySource,
    changes_source,
    history_table,
    is_changes,
    is_window,
    versions_source,
)
from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.missing_function import no_schema_function, no_table_function
from pykudu_sql.planner.bind.named_table import find_frame
from pykudu_sql.planner.bind.names import check_ambiguous, with_position
from pykudu_sql.planner.bind.qualifiers import EngineAliases, add_relation
from pykudu_sql.planner.bind.relations import (
    NAMED_DATABASE,
    UNNAMED_SUBQUERY,
    Branch,
    ColumnUses,
    DerivedTable,
    JoinStep,
    OutputColumn,
    Relation,
    Scope,
    TableReference,
    common_columns,
)
from pykudu_sql.planner.bind.row_values import ROW_WIDTH
from pykudu_sql.planner.bind.view_source import (
    check_depth,
    errors_named_after,
    expand_view,
    view_tree,
)
from pykudu_sql.planner.constant_folding.moment import may_move, version_bound
from pykudu_sql.planner.functions.functions import TABLE_FUNCTIONS, written_name
from pykudu_sql.planner.functions.output_names import name_outputs
from pykudu_sql.planner.functions.query_forms import (
    is_from_item,
    is_numbered,
    name_columns,
    name_number,
    select_from_item,
    swap_right_semi_join,
    without_lateral,
    without_parentheses,
)
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.unsupported import unsupported_clause, unsupported_item
from pykudu_sql.planner.parse.using_lists import is_comma
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.vocabulary.function_names import function_names
from pykudu_sql.planner.vocabulary.function_table import SOURCE_NAME
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.system_catalog import (
    INFORMATION_SCHEMA,
    SYSTEM_SCHEMAS,
    readable_table,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import (
    NotSupportedError,
    ProgrammingError,
    StatementTooComplexError,
    UndefinedTableError,
)

MAX_REFERENCES = 250
Ctes = Mapping[str, Sequence[OutputColumn]]
BindQuery = Callable[[exp.Expr, Scope | None, Ctes], list[OutputColumn]]
BindExpression = Callable[[exp.Expr, Scope, Ctes], None]

_UNSUPPORTED_ON_TABLES: Mapping[str, str] = {
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


class FromClauses:
    """Binds the FROM clauses of one statement and collects what these and others learn of it.

    The attributes are named as in `BoundQuery`.

    `bind_query`, `bind_expression`: the binder's, for what is nested in the clause.
    """

    def __init__(
        self, context: PlanContext, bind_query: BindQuery, bind_expression: BindExpression
    ) -> None:
        self.references: list[TableReference] = []
        self.uses = ColumnUses()
        self.engine_aliases = EngineAliases()
        self.volatile = False
        self.views: set[str] = set()
        self._open_views: tuple[str, ...] = ()
        self._context = context
        self._query = bind_query
        self._expression = bind_expression

    def bind(self, select: exp.Select, outer: Scope | None, ctes: Ctes) -> Scope:
        """The relations and joins of a SELECT.

        Raises UndefinedTableError, UndefinedColumnError: a name is unknown; ProgrammingError: an
        alias is given twice, or USING does not fit; NotSupportedError: a kind of relation or join
        that is not offered.
        """
        for lateral in select.args.get("laterals") or ():
            raise NotSupportedError(
                "LATERAL VIEW is not supported",
                hint="write FROM t, unnest(list) AS x(item)",
                span=node_span(lateral),
            )
        clause = select.args.get("from_")
        swap_right_semi_join(select)
        scope = Scope(outer)
        if clause is not None:
            scope = self._item(clause.this, scope, ctes)
            scope = replace(scope, steps=(*scope.steps, JoinStep(None, scope.relations)))
        first = 0
        for join in select.args.get("joins") or ():
            first = len(scope.relations) if is_comma(join) else first
            scope = self._join(join, scope, ctes, first, nested=False)
        return scope

    def _join(self, join: exp.Join, scope: Scope, ctes: Ctes, at: int, *, nested: bool) -> Scope:
        """The scope with a join. `at`: where its left side begins."""
        if join.method == "POSITIONAL":
            raise NotSupportedError(
                "POSITIONAL JOIN is not supported", hint="rows of a table have no position"
            )
        if join.side == "RIGHT" and join.kind in ("SEMI", "ANTI"):
            raise NotSupportedError(
                f"RIGHT {join.kind} JOIN is not supported behind another join",
                hint=f"write the table of its right side first: b LEFT {join.kind} JOIN a",
                span=node_span(join.this),
            )
        if nested and is_comma(join):
            join.set("kind", "CROSS")  # the engine takes no comma in parentheses
        left, before = scope.visible(at), len(scope.relations)
        scope = self._item(join.this, scope, ctes)
        right = scope.relations[before:]
        if join.method == "NATURAL":
            join.set("using", [exp.to_identifier(name) for name in common_columns(left, right)])
            join.set("method", None)
        for column in join.args.get("using") or ():
            scope = scope.with_merged(self._using(column, left, right), left, right)
        scope = replace(scope, steps=(*scope.steps, JoinStep(join, right, nested)))
        if join.args.get("on") is not None:
            self._expression(join.args["on"], scope, ctes)
        hidden = right if join.kind in ("SEMI", "ANTI") else ()
        return replace(scope, hidden=scope.hidden.union(hidden))

    def _using(self, column: exp.Expr, left: Sequence[Relation], right: Sequence[Relation]) -> str:
        """The name of a column that both sides of a join must have."""
        name = column.name.lower()
        for side in (left, right):
            owners = [relation for relation in side if name in relation.all_names()]
            if not owners:
                names = [n for relation in side for n in relation.column_names()]
                raise undefined_column(name, names, node_span(column))
            for relation in owners:
                check_ambiguous(name, relation, column)
                self.uses.note(relation, name)
        return name

    def _item(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Scope:
        """The scope with the relations of one item of a FROM clause."""
        for key, what in _UNSUPPORTED_ON_TABLES.items():
            if node.args.get(key) and not (key == "ordinality" and is_numbered(node)):
                is_unpivot = what == "PIVOT" and node.args[key][0].args.get("unpivot")
                span = node_span(node)
                raise unsupported_clause("UNPIVOT" if is_unpivot else what, span)
        relation: Relation | None
        first = len(scope.relations)
        match node:
            case exp.Table(this=exp.Expr() as call) if node.db and not isinstance(
                call, exp.Identifier
            ):
                raise no_schema_function(node, call)
            case exp.Table(this=exp.Func() as call) if is_changes(call):
                history = changes_source(call, self._context)
                alias = (node.alias or call.name).lower()
                relation = self._history(node, alias, history)
            case exp.Table(this=exp.Func() as call):
                relation = self._function(node, call, scope, ctes)
            case exp.Table(this=exp.Expr() as call) if SOURCE_NAME in call.meta:
                raise no_table_function(call.meta[SOURCE_NAME], call)
            case exp.Table(this=exp.Values() as inner):
                relation = self._derived(node, inner, scope, ctes)
            case exp.Table():
                relation = self._table(node, ctes)
            case exp.Subquery(this=inner) if is_from_item(inner) and node.alias:
                select_from_item(node)
                relation = self._derived(node, node, scope, ctes)
            case exp.Subquery(this=inner) if is_from_item(inner):
                scope, relation = self._item(inner, scope, ctes), None
                node = without_parentheses(node)
            case exp.Unnest():
                relation = self._function(node, node, scope, ctes)
            case exp.Subquery() | exp.Values():
                relation = self._derived(node, node, scope, ctes)
            case exp.Lateral(this=exp.Subquery() as inner):
                relation = self._derived(node, inner, scope, ctes)
            case exp.Lateral(this=exp.Unnest() | exp.Func()) if not node.args.get("view"):
                return self._item(without_lateral(node), scope, ctes)
            case _:
                raise unsupported_item(node)
        if relation is not None:
            scope = add_relation(scope, relation, node, self.engine_aliases)
        for join in node.args.get("joins") or ():
            scope = self._join(join, scope, ctes, first, nested=True)
        return scope

    def _table(self, node: exp.Table, ctes: Ctes) -> Relation:
        name = node.name.lower()
        alias = (node.alias or node.name).lower()
        version = node.args.get("version")
        listed = self._context.listed.get(node.name)
        if listed is not None:
            self.volatile = True
            return self._view(node, alias, listed, None)
        if not node.db and name in ctes:
            if version is not None:
                raise NotSupportedError(
                    f"AS OF cannot be used on the WITH query '{name}'",
                    hint="write it behind the tables inside",
                    span=node_span(node),
                )
            columns = self.uses.renamed(ctes[name], node.args.get("alias"))
            return DerivedTable(alias, columns, node=node)
        if node.db.lower() in SYSTEM_SCHEMAS:
            table = self._system(node, f"{node.db}.{node.name}".lower(), version)
            bound = self._moment(version) if node.db.lower() == INFORMATION_SCHEMA else None
        else:
            full = f"{node.db}.{node.name}".lower() if node.db else name
            if version is not None and is_window(version):
                history = versions_source(full, version, self._context)
                return self._history(node, alias, history)
            bound = self._moment(version)
            catalog = self._catalog_at(bound)
            span = node_span(node)
            frame = None if node.db else find_frame(node.name, span, catalog, self._context)
            if frame is not None:
                return self._frame(node, alias, frame)
            view = catalog.views.get(catalog.full_name(full))
            if view is not None:
                return self._view(node, alias, view, bound)
            table = self._stored(node, full, bound)
        database = None if node.alias else database_of(table.name)
        reference = TableReference(node, alias, table, bound, database=database)
        return self._named(reference, node)

    def _named(self, reference: TableReference, node: exp.Table) -> Relation:
        """A mention of a table, its columns renamed where the alias says so."""
        if len(self.references) == MAX_REFERENCES:
            raise StatementTooComplexError(
                f"a statement cannot read more than {MAX_REFERENCES} tables"
            )
        self.references.append(reference)
        alias = node.args.get("alias")
        if alias is None or not alias.columns:
            return reference
        within = Scope(relations=(reference,))
        outputs = [
            OutputColumn(n, ((reference, n),), (Branch(within, reference, n),), ((reference, n),))
            for n in reference.column_names()
        ]
        return DerivedTable(reference.alias, self.uses.renamed(outputs, alias), node=node)

    def _frame(self, node: exp.Table, alias: str, frame: FrameTable) -> Relation:
        """A mention of a frame; the plan of one that is a variable is not kept."""
        if node.args.get("version") is not None:
            raise NotSupportedError(
                f"'{frame.name}' is a frame, which has no past",
                hint="CREATE TABLE .. AS SELECT keeps its rows, with their history from then on",
                span=node_span(node),
            )
        self.volatile |= frame.name not in self._context.frames
        return self._named(TableReference(node, alias, frame), node)

    def _history(self, node: exp.Table, alias: str, history: HistorySource) -> Relation:
        """A mention of a table's changes or versions."""
        stored = self._stored(node, history.name, history.lookup_bound)
        table = history_table(stored, history.window.kind)
        self.volatile |= any(may_move(moment) for moment in history.moments)
        reference = TableReference(node, alias, table, history=history.window)
        return self._named(reference, node)

    def _moment(self, version: exp.Version | None) -> SnapshotBound | None:
        """The bound at which a table is read; None is the transaction's own."""
        if version is None:
            return self._context.settings.as_of
        self.volatile |= may_move(version)
        return version_bound(version, self._context)

    def _catalog_at(self, bound: SnapshotBound | None) -> Catalog:
        return self._context.catalog if bound is None else self._context.catalog_at(bound)

    def _stored(self, node: exp.Table, name: str, bound: SnapshotBound | None) -> TableInfo:
        """A table at the moment read."""
        try:
            return self._catalog_at(bound).table(name)
        except UndefinedTableError as error:
            raise with_position(error, node) from None

    def _view(
        self, node: exp.Table, alias: str, view: ViewInfo, bound: SnapshotBound | None
    ) -> Relation:
        """A view, its query bound in the view's database at the moment of the mention."""
        outside, opened = self._context, self._open_views
        self.views.add(view.name)
        self._context = outside.within(view.database, bound)
        self._open_views = (*opened, view.name)
        try:
            with errors_named_after(view):
                check_depth(view, opened)
                tree = view_tree(view)
                outputs = self._query(tree, None, {})
                name_outputs(tree)
                placed, columns = expand_view(node, alias, tree, outputs, view)
        finally:
            self._context, self._open_views = outside, opened
        if columns != outputs:
            self.uses.note_outputs(outputs)
        columns = self.uses.renamed(columns, node.args.get("alias"))
        database = None if node.alias else database_of(view.name)
        return DerivedTable(alias, columns, database, placed)

    def _system(self, node: exp.Table, name: str, version: exp.Version | None) -> TableInfo:
        """A table of the system; those of schema `sys` show the present."""
        is_standard = name.startswith(f"{INFORMATION_SCHEMA}.")
        if version is not None and (not is_standard or is_window(version)):
            raise NotSupportedError(f"'{name}' has no past", span=node_span(node))
        try:
            return readable_table(self._context.catalog, name)
        except UndefinedTableError as error:
            raise with_position(error, node) from None

    def _derived(self, node: exp.Expr, query: exp.Expr, scope: Scope, ctes: Ctes) -> Relation:
        """A subquery or VALUES; it may refer to the relations before it, as LATERAL ones do."""
        columns = self._query(query, scope, ctes)
        name_outputs(query)
        width = node.meta.get(ROW_WIDTH)
        if width not in (None, len(columns)):
            raise ProgrammingError(
                f"a row of {width} columns is compared with a query of {len(columns)}",
                span=node_span(query),
                sqlstate="42601",
            )
        if isinstance(query.unnest(), exp.Values) and any(c.name[:3] != "col" for c in columns):
            name_columns(node, [column.name for column in columns])
        alias = node.alias.lower() or f"{UNNAMED_SUBQUERY}{len(scope.relations) + 1}"
        columns = self.uses.renamed(columns, node.args.get("alias"))
        database = node.meta.get(NAMED_DATABASE) if isinstance(node, exp.Subquery) else None
        return DerivedTable(alias, columns, database, node)

    def _function(self, node: exp.Expr, call: exp.Func, scope: Scope, ctes: Ctes) -> Relation:
        name = next(iter(sorted(function_names(call) & TABLE_FUNCTIONS)), None)
        if name is None:
            raise no_table_function(written_name(call) or min(function_names(call), key=len), call)
        for argument in call.iter_expressions():
            if not isinstance(argument, exp.TableAlias):
                self._expression(argument, scope, ctes)
        if call.args.get("is_end_exclusive"):
            name = "range"
        alias = node.alias.lower() or name
        is_listed = isinstance(call, exp.Unnest) and len(call.expressions) == 1
        outputs = [OutputColumn(name, projections=(call,) if is_listed else ())]
        number = node.args.get("ordinality") or node.args.get("offset")
        if number:
            outputs.append(OutputColumn("ordinality" if number is True else number.name.lower()))
        columns = self.uses.renamed(outputs, node.args.get("alias"))
        name_number(node)
        return DerivedTable(alias, columns, node=node)
