"""The binder: every column of a parsed query to its table, at its timestamp, or an error.

The tree stays as it was parsed; the bindings are noted beside it: the mentions of tables and the
columns they use, the table of each column, the joins of each SELECT. `column_resolution` says how
names resolve.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import (
    BoundQuery,
    BoundSelect,
    note_columns,
    relation_of,
)
from pykudu_sql.planner.bind.column_resolution import ColumnResolver
from pykudu_sql.planner.bind.columns_expansion import expand_columns
from pykudu_sql.planner.bind.compared_timestamps import convert_timestamp_texts
from pykudu_sql.planner.bind.from_clause import Ctes, FromClauses
from pykudu_sql.planner.bind.lineage import (
    ambiguous_names,
    by_their_names,
    filterable,
    group_columns,
    is_cut,
    or_null,
    sealed,
    united,
)
from pykudu_sql.planner.bind.relations import (
    Aliases,
    Branch,
    DerivedTable,
    OutputColumn,
    Scope,
    TableReference,
    absent_relations,
    first_of_each_alias,
)
from pykudu_sql.planner.bind.row_values import compares_rows, written_out
from pykudu_sql.planner.bind.star_modifiers import listed, modified, modifiers_of
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.constant_folding.moment import reads_current_time
from pykudu_sql.planner.functions.call_clauses import check_call_clause
from pykudu_sql.planner.functions.functions import check_function
from pykudu_sql.planner.functions.listed_values import write_as_listed
from pykudu_sql.planner.functions.output_names import (
    first_select,
    make_unlike,
    name_ordered,
    name_outputs,
    output_name,
)
from pykudu_sql.planner.functions.parameter_literals import substitute_parameters
from pykudu_sql.planner.functions.query_forms import (
    check_operand,
    check_positions,
    check_single,
    check_width,
    free_variable,
    is_from_item,
    is_stray_join,
    name_rolled_up,
    referenced_outputs,
    values_names,
)
from pykudu_sql.planner.parse.long_list import long_list
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.star_syntax import check_undressed, check_unmatched
from pykudu_sql.planner.parse.unsupported import refuse_unsupported_node
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import children_of
from pykudu_sql.storage.errors import ProgrammingError, SyntaxError

SCAN_PREFIX = "__scan_"
NESTED_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


def bind(tree: exp.Expr, context: PlanContext) -> BoundQuery:
    """Bind a query.

    `tree`: of `dialect.parse`; changed: NATURAL joins, COLUMNS, times with an offset from UTC.
    Raises UndefinedTableError, UndefinedColumnError: a name is unknown; ProgrammingError: a name is
    ambiguous or given twice; NotSupportedError: a construct or function that is not offered.
    """
    tree = write_as_listed(tree, context.bound_parameters)
    substitute_parameters(tree, context)
    return _bound(tree, _Binder(context, first_select(tree)))


def bind_rows(tree: exp.Expr, context: PlanContext) -> BoundQuery:
    """Bind a query whose columns become those of a table or view, so no two are headed alike.

    `tree`, `context`, errors: see `bind`.
    """
    tree = write_as_listed(tree, context.bound_parameters)
    substitute_parameters(tree, context)
    return _bound(tree, _Binder(context, None))


def _bound(tree: exp.Expr, binder: "_Binder") -> BoundQuery:
    columns = binder.query(tree, None, {})
    relations = binder.relations
    relations.uses.note_outputs(columns)
    timestamp_parameters = convert_timestamp_texts(tree)
    return BoundQuery(
        tree,
        tuple(relations.references),
        tuple(binder.columns.qualified),
        tuple(binder.selects),
        tuple(binder.stars),
        tuple(column.name for column in columns),
        relations.uses.column_ids(),
        frozenset(binder.columns.starred),
        relations.engine_aliases.names,
        relations.volatile or reads_current_time(tree),
        frozenset(relations.views),
        timestamp_parameters,
        frozenset(e for each in binder.selects for e in absent_relations(each.scope.steps)),
        null_tested=relations.uses.null_tested_ids(),
    )


class _Binder:
    """Collects what a `BoundQuery` has; the attributes are named as there.

    `result`: the SELECT whose headings are shown as they are written, if there is one.
    """

    def __init__(self, context: PlanContext, result: exp.Expr | None) -> None:
        self._result = result
        self.selects: list[BoundSelect] = []
        self.stars: list[tuple[exp.Star, tuple[TableReference, ...]]] = []
        self.relations = FromClauses(context, self.query, self.expression)
        self._uses = self.relations.uses
        self.columns = ColumnResolver(self._uses, self.relations.engine_aliases)

    def query(self, node: exp.Expr, outer: Scope | None, ctes: Ctes) -> list[OutputColumn]:
        """Bind a query of any kind; its columns are not used yet."""
        columns = self._query(node, outer, self._with(node, outer, ctes))
        note_columns(node, columns)
        return columns

    def _query(self, node: exp.Expr, outer: Scope | None, ctes: Ctes) -> list[OutputColumn]:
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
                    self.expression(row, Scope(outer), ctes)
                cells = zip(*(row.expressions for row in node.expressions), strict=False)
                return [
                    OutputColumn(name, projections=column)
                    for name, column in zip(names, cells, strict=False)
                ]
        refuse_unsupported_node(node)
        raise SyntaxError("this is not a query", span=node_span(node))

    def expression(self, node: exp.Expr, scope: Scope, ctes: Ctes, *clause: str) -> None:
        """Bind the columns, functions and subqueries of an expression.

        `clause`: names that resolve before columns, as the SELECT list's do in ORDER BY.
        """
        stack = [node]
        while stack:
            check_cancelled()
            current = stack.pop()
            if isinstance(current, NESTED_QUERIES):
                if long_list(current) is not None:
                    continue
                self._subquery(current, scope, ctes)
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
                self.columns.resolve(current, scope, clause)
                continue
            if isinstance(current, exp.Star):
                self.columns.use_all(current, scope)
            stack.extend(reversed(children_of(current)))

    def _subquery(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> None:
        columns = self.query(node, scope, ctes)
        if node.parent is not None and not compares_rows(node.parent):
            check_single(node, len(columns))
        if not isinstance(node.parent, exp.Exists):
            self._uses.note_outputs(columns)

    def _check(self, node: exp.Expr) -> None:
        refuse_unsupported_node(node)
        if isinstance(node, exp.Func):
            check_function(node)
        else:
            check_call_clause(node)

    def _with(self, node: exp.Expr, outer: Scope | None, ctes: Ctes) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        named = dict(ctes)
        for cte in clause.expressions:
            name = cte.alias.lower()
            if name.startswith(SCAN_PREFIX):
                raise ProgrammingError(
                    f"names that start with {SCAN_PREFIX} are reserved",
                    span=node_span(cte.args["alias"]),
                    sqlstate="42939",
                )
            if clause.recursive and isinstance(cte.this, exp.SetOperation):
                columns = self._recursive(cte, name, outer, named)
            else:
                columns = self.query(cte.this, outer, named)
            name_outputs(cte.this)
            named[name] = self._uses.renamed(columns, cte.args["alias"])
        return named

    def _recursive(
        self, cte: exp.CTE, name: str, outer: Scope | None, ctes: Ctes
    ) -> list[OutputColumn]:
        """The first branch defines the columns; the second may read them."""
        for operand in (cte.this.left, cte.this.right):
            check_operand(operand, cte.this)
        first = self.query(cte.this.left, outer, ctes)
        self._uses.note_outputs(first)
        columns = [
            OutputColumn(column.name, projections=or_null(column.projections)) for column in first
        ]
        inner = {**ctes, name: self._uses.renamed(columns, cte.args["alias"])}
        others = self.query(cte.this.right, outer, inner)
        self._uses.note_outputs(others)
        if not cte.this.args.get("by_name"):
            check_width(cte.this.right, cte.this.key.upper(), len(columns), len(others))
        self._modifiers(cte.this, outer, inner, columns)
        note_columns(cte.this, columns)
        return columns

    def _set_operation(
        self, node: exp.SetOperation, outer: Scope | None, ctes: Ctes
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
        self._uses.note_outputs(columns)
        branches = [columns]
        for operand in reversed(operands):
            others = self.query(operand, outer, ctes)
            self._uses.note_outputs(others)
            branches.append(others)
            if not by_name:
                check_width(operand, node.key.upper(), len(columns), len(others))
        if by_name:
            name_outputs(node)
            columns = by_their_names(branches, node)
        self._modifiers(node, outer, ctes, columns)
        together = columns if by_name else united(branches)
        return sealed(together) if is_cut(node) else together

    def _modifiers(
        self, node: exp.Expr, outer: Scope | None, ctes: Ctes, columns: Sequence[OutputColumn]
    ) -> None:
        """ORDER BY, LIMIT and OFFSET of a set operation or of a parenthesised query."""
        check_positions(node, len(columns))
        scope = Scope(outer, (DerivedTable("", columns),))
        for key in ("order", "limit", "offset"):
            if node.args.get(key) is not None:
                self.expression(node.args[key], scope, ctes)
        if node.args.get("order") is not None:
            name_ordered(node, node.args["order"])

    def _select(self, select: exp.Select, outer: Scope | None, ctes: Ctes) -> list[OutputColumn]:
        index = len(self.selects)
        name_rolled_up(select)
        scope = self.relations.bind(select, outer, ctes)
        expand_columns(select, scope)
        if not select.expressions:
            raise SyntaxError("SELECT without columns")
        entries: list[tuple[exp.Expr, list[OutputColumn]]] = []
        first = first_of_each_alias(select)
        for number, item in enumerate(select.expressions):
            names = replace(scope, aliases=Aliases(first, number)) if first else scope
            entries.append((item, list(self._item(item, scope, names, ctes))))
        outputs = [column for _, columns in entries for column in columns]
        if select is not self._result:
            named = [(item, [column.name for column in columns]) for item, columns in entries]
            headings = make_unlike(named)
            outputs = [replace(c, name=name) for c, name in zip(outputs, headings, strict=True)]
        check_positions(select, len(outputs))
        aliases = Aliases(first, len(select.expressions))
        ambiguous_aliases = ambiguous_names(outputs)
        names = scope
        if first or ambiguous_aliases:
            names = replace(scope, aliases=aliases, repeated=ambiguous_aliases)
        for key in ("where", "group", "having", "qualify"):
            if select.args.get(key) is not None:
                self.expression(select.args[key], names, ctes)
        for window in select.args.get("windows") or ():
            self.expression(window, names, ctes)
        if select.args.get("order") is not None:
            listed_names = [column.name.lower() for column in outputs]
            name_ordered(select, select.args["order"])
            self.expression(select.args["order"], names, ctes, *listed_names)
        self._uses.note_outputs(
            [outputs[i] for i in referenced_outputs(select, [column.name for column in outputs])]
        )
        for key in ("limit", "offset"):
            if select.args.get(key) is not None:
                self.expression(select.args[key], names, ctes)
        if select.args.get("distinct") is not None:
            self.expression(select.args["distinct"], names, ctes)
            self._uses.note_outputs(outputs)
        groups = group_columns(select, outputs)
        self.selects.insert(index, BoundSelect(select, scope, aliases, groups))
        outputs = filterable(select, scope, groups, outputs)
        for key in ("into", "locks", "sample", "connect", "match", "laterals", "pivots"):
            for node in listed(select.args.get(key)):
                self._check(node)
        return outputs

    def _item(
        self, item: exp.Expr, scope: Scope, names: Scope, ctes: Ctes
    ) -> Iterator[OutputColumn]:
        """The columns of one entry of the SELECT list.

        `scope`: of the SELECT; `names`: the same with the names of the entries before.
        """
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star):
            check_undressed(item)
            name = output_name(item)
            self.expression(item, names, ctes)
            yield OutputColumn(name, branches=(self._branch(item, scope),), projections=(item,))
            return
        entries, covered = scope.star(), list(scope.visible())
        if isinstance(item, exp.Column) and item.table:
            relation = self.columns.relation_of(item, scope)
            entries = [(name, ((relation, name),)) for name in relation.column_names()]
            covered = [relation]
        self.stars.append((star, tuple(self.columns.note_starred(covered))))
        if not entries:
            raise SyntaxError("SELECT * needs a FROM clause", span=node_span(star))
        columns = [
            OutputColumn(name, origins, (Branch(scope, *origins[0]),), origins)
            for name, origins in entries
        ]
        yield from self._star_modifiers(star, columns, scope, names, ctes)

    def _star_modifiers(
        self,
        star: exp.Star,
        columns: list[OutputColumn],
        scope: Scope,
        names: Scope,
        ctes: Ctes,
    ) -> list[OutputColumn]:
        """EXCLUDE, REPLACE and RENAME; a star with one of them brings in all it covers."""
        check_unmatched(star)
        changes = modifiers_of(star)
        if not changes.any:
            return columns
        self._uses.note_outputs(columns)
        for node in changes.replaced:
            self.expression(node.this, names, ctes)
        relation_of = partial(self.columns.relation_of, scope=scope)
        return modified(columns, changes, scope, relation_of)

    def _branch(self, item: exp.Expr, scope: Scope) -> Branch:
        """What an entry of the SELECT list shows, if it is a column as it is."""
        while isinstance(item, exp.Alias | exp.Paren):
            item = item.this
        relation = relation_of(item)
        return Branch(scope, relation, item.name.lower()) if relation is not None else Branch(scope)
