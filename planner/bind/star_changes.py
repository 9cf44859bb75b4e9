"""EXCLUDE, REPLACE and RENAME behind the `*` of a SELECT list, and which columns remain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pykudu_sql.planner.bind.names import undefined_column
from pykudu_sql.planner.bind.sources import Branch, Frame, OutputColumn, Source
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SyntaxError

Meant = Callable[[exp.Column], Source]


@dataclass(frozen=True, slots=True)
class StarChanges:
    """The words behind one `*`.

    Attributes:
        excluded: columns that are left out.
        replaced: `value AS name`.
        renamed: `column AS name`.
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


def changes_of(star: exp.Star) -> StarChanges:
    """The words behind a `*`.

    Args:
        star: the node.

    Raises:
        SyntaxError: REPLACE or RENAME lacks a new name.
    """
    excluded, replaced, renamed = (
        listed(star.args.get(key)) for key in ("except_", "replace", "rename")
    )
    if not all(isinstance(node, exp.Alias) for node in (*replaced, *renamed)):
        raise SyntaxError(
            "REPLACE and RENAME behind * take what AS name, in parentheses",
            position=node_span(star),
        )
    return StarChanges(excluded, replaced, renamed)


def changed(
    columns: Sequence[OutputColumn], changes: StarChanges, frame: Frame, meant: Meant
) -> list[OutputColumn]:
    """The columns of a `*` after what stands behind it.

    Args:
        columns: that the star covers.
        changes: at least one.
        frame: of the SELECT.
        meant: the source that a column's qualifier names.

    Raises:
        UndefinedColumnError, UndefinedTableError: a name is unknown.
    """
    dropped = {id(each) for node in changes.excluded for each in _covered(node, columns, meant)}
    names = {
        id(each): node.alias
        for node in changes.renamed
        for each in _covered(node.this, columns, meant)
    }
    replaced = {node.alias.lower(): node.this for node in changes.replaced}
    return [
        OutputColumn(
            names.get(id(column), column.name),
            branches=(Branch(frame),) if column.name.lower() in replaced else column.branches,
            shown=(replaced[name],) if (name := column.name.lower()) in replaced else column.shown,
        )
        for column in columns
        if id(column) not in dropped
    ]


def _covered(node: exp.Expr, columns: Sequence[OutputColumn], meant: Meant) -> list[OutputColumn]:
    """The columns of a star that a name behind it means: all of the name, or those of a source."""
    name = node.name.lower()
    found = [column for column in columns if column.name.lower() == name]
    if isinstance(node, exp.Column) and node.table:
        source = meant(node)
        found = [column for column in found if (source, name) in column.origins]
    if not found:
        known = [column.name.lower() for column in columns]
        raise undefined_column(name, known, node_span(node))
    return found
