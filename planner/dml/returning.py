"""RETURNING: expressions over the rows that a statement wrote.

The list is bound over the statement's own relations, so names mean what they mean in its WHERE.
Then every column of the table becomes one of the relation `WRITTEN`, which holds the rows as
written, and every column of another relation one that the statement's query carries along.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery, bind_column
from pykudu_sql.planner.bind.qualifiers import column_of, qualified_relation, struct_field
from pykudu_sql.planner.bind.relations import (
    Branch,
    DerivedTable,
    Origins,
    OutputColumn,
    Relation,
    Scope,
    TableReference,
)
from pykudu_sql.planner.functions.output_names import output_name
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.change_plans import (
    ACTION,
    WRITTEN,
    Returning,
    source_column_name,
    written_name,
)
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.query.query import finish
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError

# Marks the rows of a relation that a join found; no `*` shows it.
PRESENT = "__present"
_UNSUPPORTED: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Query, "a subquery"),
    (exp.AggFunc, "an aggregate function"),
    (exp.Window, "a window function"),
)


@dataclass(eq=False, slots=True)
class ReturnedRows:
    """A RETURNING list that is bound.

    Attributes:
        query: over `WRITTEN`.
        column_ids: columns of the target that it reads.
        source_columns: columns of other relations that it reads, qualified.
    """

    query: Query
    column_ids: list[int] = field(default_factory=list)
    source_columns: list[exp.Column] = field(default_factory=list)

    def alone(self) -> Returning:
        """The plan for rows that are inserted, of which nothing was there before."""
        return Returning(self.query, tuple(self.column_ids))


def read_returning(
    items: Sequence[exp.Expr], select: exp.Select, target: exp.Table, context: PlanContext
) -> ReturnedRows:
    """Bind a RETURNING list.

    Args:
        items: of the parser; they are used up.
        select: with the statement's relations and joins; left as it is.
        target: the mention in it of the table that is written.

    Raises UndefinedTableError, UndefinedColumnError: a name is unknown; ProgrammingError: a name is
    ambiguous, or an aggregate stands in the list; NotSupportedError: a subquery stands in the list.
    """
    _refuse(items)
    place = next(i for i, node in enumerate(nodes_of(select, exp.Table)) if node is target)
    probe = select.copy()
    mention = nodes_of(probe, exp.Table)[place]
    probe.set("expressions", list(items))
    actions = _hide_actions(probe)
    probe.set("where", None)
    bound = bind(probe, context)
    reader = _Reader(bound.scope_of(probe), mention)
    names: list[str] = []
    projected: list[exp.Expr] = []
    for item in list(probe.expressions):
        for name, node in reader.expand(item):
            names.append(name)
            projected.append(node)
    written = exp.Select(
        expressions=projected, from_=exp.From(this=exp.Table(this=exp.to_identifier(WRITTEN)))
    )
    for node in actions:
        node.replace(exp.column(ACTION))
    over = BoundQuery(
        written,
        names=tuple(names),
        volatile=bound.volatile,
        timestamp_parameters=bound.timestamp_parameters,
        maybe_absent=bound.maybe_absent,
        supplies=reader.read,
    )
    return ReturnedRows(finish(over, context), reader.column_ids, reader.source_columns)


def _refuse(items: Sequence[exp.Expr]) -> None:
    for kind, what in _UNSUPPORTED:
        for item in items:
            offender = item.find(kind)
            if offender is None:
                continue
            span = node_span(offender)
            if kind is exp.Query:
                raise NotSupportedError(
                    f"{what} in RETURNING is not supported",
                    hint="run it as a query of its own",
                    span=span,
                )
            raise ProgrammingError(
                f"{what} is not allowed in RETURNING", span=span, sqlstate="42803"
            )


def _hide_actions(probe: exp.Select) -> list[exp.Expr]:
    """Stand-ins for the calls of merge_action(), which only RETURNING knows, while it is bound."""
    placeholders: list[exp.Expr] = []
    for item in probe.expressions:
        for call in nodes_of(item, exp.Anonymous):
            if call.name.lower() == "merge_action" and not call.expressions:
                stand_in = exp.Paren(this=exp.Literal.string("merge_action"))
                name = exp.to_identifier("merge_action")
                named = exp.Alias(this=stand_in, alias=name) if call is item else stand_in
                call.replace(named)
                placeholders.append(stand_in)
    return placeholders


class _Reader:
    """Turns bound items into items over `WRITTEN`, noting what they read.

    The columns there have the types of those that they stand for.
    """

    def __init__(self, scope: Scope, target: exp.Table) -> None:
        self._scope = scope
        self._target = target
        self.column_ids: list[int] = []
        self.source_columns: list[exp.Column] = []
        self.read: Origins = ()

    def expand(self, item: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
        """The columns of one item, by name."""
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            yield from self._star(item, star)
            return
        name = output_name(item)
        node = item.this if isinstance(item, exp.Alias) else item
        parent = exp.Paren(this=node)
        for column in nodes_of(parent, exp.Column):
            column.replace(self._value(column))
        yield name, parent.this

    def _star(self, item: exp.Expr, star: exp.Star) -> Iterator[tuple[str, exp.Expr]]:
        if star.args.get("replace") or star.args.get("rename"):
            raise NotSupportedError("RETURNING * takes EXCLUDE, but no REPLACE or RENAME")
        dropped = {node.name.lower() for node in star.args.get("except_") or ()} | {PRESENT}
        relations = self._relations()
        if isinstance(item, exp.Column) and item.table:
            relations = [qualified_relation(item, self._scope)]
        for relation in relations:
            for name in relation.column_names():
                if name not in dropped:
                    yield name, self._written(relation, name)

    def _relations(self) -> list[Relation]:
        """All relations, the target first."""
        return sorted(self._scope.visible(), key=lambda relation: not self._is_target(relation))

    def _value(self, column: exp.Column) -> exp.Expr:
        """What a name of the list means: a column, or a field of a struct that is one."""
        name = column.name.lower()
        if not column.table:
            return self._written(self._scope.relations_with(name)[0], name)
        field = struct_field(column, self._scope)
        if field is None:
            return self._written(qualified_relation(column, self._scope), name)
        struct = exp.Paren(this=self._written(*field.struct[0]))
        return exp.Dot.build([struct, *(part.copy() for part in field.path)])

    def _is_target(self, relation: Relation) -> bool:
        return isinstance(relation, TableReference) and relation.node is self._target

    def _written(self, relation: Relation, name: str) -> exp.Column:
        if isinstance(relation, TableReference) and self._is_target(relation):
            column_id = relation.column(name).id
            if column_id not in self.column_ids:
                self.column_ids.append(column_id)
            return self._standing_for(relation, name, written_name(column_id))
        mine = column_of(relation, name, self._scope)
        if mine not in self.source_columns:
            self.source_columns.append(mine)
        place = source_column_name(self.source_columns.index(mine))
        return self._standing_for(relation, name, place)

    def _standing_for(self, relation: Relation, name: str, place: str) -> exp.Column:
        """The column of `WRITTEN` that has the values of another."""
        origin = (relation, name)
        if origin not in self.read:
            self.read = (*self.read, origin)
        branches = (Branch(self._scope, relation, name),)
        output = OutputColumn(place, branches=branches, projections=(origin,))
        column = exp.column(place)
        bind_column(column, [DerivedTable(WRITTEN, [output])])
        return column
