"""EXCLUDE, REPLACE and RENAME behind the `*` of a SELECT list, and which columns remain."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.names import repeated
from pykudu_sql.planner.bind.relations import Branch, OutputColumn, Relation, Scope
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SyntaxError

RelationFinder = Callable[[exp.Column], Relation]


@dataclass(frozen=True, slots=True)
class StarModifiers:
    """The words behind one `*`.

    `excluded`: columns that are left out; `replaced`: `value AS name`; `renamed`: `column AS name`.
    """

    excluded: Sequence[exp.Expr]
    replaced: Sequence[exp.Expr]
    renamed: Sequence[exp.Expr]

    @property
    def any(self) -> bool:
        """Whether there are some."""
        return bool(self.excluded or self.replaced or self.renamed)


def listed(value: object) -> list[exp.Expr]:
    """The nodes of an argument that has one, several or none."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, exp.Expr) else []


def modifiers_of(star: exp.Star) -> StarModifiers:
    """The words behind a `*`.

    `star`: the node. Raises SyntaxError: REPLACE or RENAME lacks a new name.
    """
    excluded, replaced, renamed = (
        listed(star.args.get(key)) for key in ("except_", "replace", "rename")
    )
    if not all(isinstance(node, exp.Alias) for node in (*replaced, *renamed)):
        raise SyntaxError(
            "REPLACE and RENAME behind * take what AS name, in parentheses", span=node_span(star)
        )
    return StarModifiers(excluded, replaced, renamed)


def modified(
    columns: Sequence[OutputColumn],
    changes: StarModifiers,
    scope: Scope,
    relation_of: RelationFinder,
) -> list[OutputColumn]:
    """The columns of a `*` after its EXCLUDE, REPLACE and RENAME.

    Args:
        columns: that the star covers.
        changes: at least one.
        relation_of: finds the relation that a column's qualifier names.

    Raises UndefinedColumnError, UndefinedTableError: a name is unknown.
    """
    dropped = {each for node in changes.excluded for each in _covered(node, columns, relation_of)}
    names = {
        each: node.alias
        for node in changes.renamed
        for each in _covered(node.this, columns, relation_of)
    }
    replaced = {node.alias.lower(): node.this for node in changes.replaced}
    return [
        OutputColumn(
            names.get(column, column.name),
            branches=(Branch(scope),) if column.name.lower() in replaced else column.branches,
            projections=(replaced[name],)
            if (name := column.name.lower()) in replaced
            else column.projections,
        )
        for column in columns
        if column not in dropped
    ]


def _covered(
    node: exp.Expr, columns: Sequence[OutputColumn], relation_of: RelationFinder
) -> list[OutputColumn]:
    """The columns of a star that a name behind it means: all of it, or those of a relation."""
    name = node.name.lower()
    matches = [column for column in columns if column.name.lower() == name]
    if isinstance(node, exp.Column) and node.table:
        relation = relation_of(node)
        matches = [column for column in matches if (relation, name) in column.origins]
    if not matches:
        names = [column.name.lower() for column in columns]
        raise undefined_column(name, names, node_span(node))
    sources = [origin for column in matches for origin in column.origins]
    if len({id(relation) for relation, _ in sources}) < len(sources):
        raise repeated(name, node, "several columns that * covers in one place have the name")
    return matches
