"""The columns of expressions: each to the relation that it belongs to, or an error.

A name resolves qualified by its alias, else to the one relation that has the column, else to an
alias of the SELECT list, else in the query around it. More than one relation is an error, but for
those that USING joins.
"""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import bind_column, bind_field
from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.names import ambiguous, repeated, unresolved
from pykudu_sql.planner.bind.null_tests import is_null_tested
from pykudu_sql.planner.bind.qualifiers import EngineAliases, qualified_relation, struct_field
from pykudu_sql.planner.bind.relations import ColumnUses, Relation, Scope, TableReference
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.star_syntax import check_inner_star


class ColumnResolver:
    """Binds the columns of one statement, and notes which are used.

    The attributes are named as in `BoundQuery`.

    `uses`, `engine_aliases`: of the statement, which are added to.
    """

    def __init__(self, uses: ColumnUses, engine_aliases: EngineAliases) -> None:
        self.qualified: list[tuple[exp.Column, Relation]] = []
        self.starred: set[TableReference] = set()
        self._uses = uses
        self._engine_aliases = engine_aliases

    def resolve(self, column: exp.Column, scope: Scope, first: Sequence[str]) -> None:
        """Bind a column of an expression, or the `t.*` within one.

        `first`: names that resolve before columns. Raises UndefinedColumnError,
        UndefinedTableError: a name is unknown; ProgrammingError: it is ambiguous.
        """
        if isinstance(column.this, exp.Star):
            check_inner_star(column)
            self._use_whole([self.relation_of(column, scope)])
        elif column.table:
            self._resolve_qualified(column, scope)
        elif column.name.lower() not in first:
            self._resolve_name(column, scope)
        elif column.name.lower() in scope.repeated:
            raise repeated(column.name.lower(), column)

    def relation_of(self, column: exp.Column, scope: Scope) -> Relation:
        """The relation that a column's qualifier names.

        Raises UndefinedTableError: there is none; ProgrammingError: several tables have the name.
        """
        relation = qualified_relation(column, scope)
        self._engine_aliases.distinguish_nearer(relation, scope)
        self.qualified.append((column, relation))
        return relation

    def use_all(self, star: exp.Star, scope: Scope) -> None:
        """A star inside an expression: nothing in count(*), else every column."""
        check_inner_star(star)
        if not isinstance(star.parent, exp.Count):
            self._use_whole(scope.visible())

    def note_starred(self, relations: Iterable[Relation]) -> list[TableReference]:
        """The stored tables among the relations of a star, which are noted."""
        references = [relation for relation in relations if isinstance(relation, TableReference)]
        self.starred.update(references)
        return references

    def _use_whole(self, relations: Sequence[Relation]) -> None:
        """Note all columns of relations as used."""
        self.note_starred(relations)
        for relation in relations:
            for name in relation.column_names():
                self._uses.note(relation, name)

    def _resolve_qualified(self, column: exp.Column, scope: Scope) -> None:
        field = struct_field(column, scope)
        if field is not None:
            for relation, struct in field.struct:
                self._uses.note(relation, struct)
            bind_field(column, field)
            return
        relation, name = self.relation_of(column, scope), column.name.lower()
        if name not in relation.all_names():
            raise undefined_column(name, relation.column_names(), node_span(column.this))
        self._bind(column, [relation])

    def _resolve_name(self, column: exp.Column, scope: Scope) -> None:
        name = column.name.lower()
        for level in scope.chain():
            owners, is_one = level.owners(name)
            if is_one:
                self._bind(column, owners)
                return
            if owners and name not in level.aliases:
                raise ambiguous(column, owners)
            if owners or name in level.aliases:
                if not owners and name in level.repeated:
                    raise repeated(name, column)
                for relation in owners:
                    self._uses.note(relation, name)
                return
        raise unresolved(column, scope)

    def _bind(self, column: exp.Column, relations: Sequence[Relation]) -> None:
        bind_column(column, relations)
        note = self._uses.note_null_test if is_null_tested(column) else self._uses.note
        for relation in relations:
            note(relation, column.name.lower())
