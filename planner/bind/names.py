"""Names that are not found, or found too often: errors that point at the place and suggest."""

from collections.abc import Iterable

from sqlglot import exp

from pykudu_sql.planner.bind.sources import Frame, Source
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.errors import (
    ProgrammingError,
    SourcePosition,
    SourceSpan,
    UndefinedColumnError,
    UndefinedTableError,
)

_OWN = "__"  # what names that statements are rewritten with begin with


def undefined_column(
    name: str, known: Iterable[str], position: SourcePosition | SourceSpan | None
) -> UndefinedColumnError:
    """No column of that name; suggests a near one, or lists what there is."""
    names = [each for each in dict.fromkeys(known) if not each.startswith(_OWN)]
    hint = near(name, names) or (f"columns are {', '.join(names[:20])}" if names else None)
    return UndefinedColumnError(f"column '{name}' does not exist", hint=hint, position=position)


def unresolved(column: exp.Column, frame: Frame) -> UndefinedColumnError:
    """The error for an unqualified column that no source has."""
    known = [n for f in frame.chain() for source in f.visible() for n in source.column_names()]
    error = undefined_column(column.name.lower(), known, node_span(column))
    if column.this.args.get("quoted") and "did you mean" not in (error.hint or ""):
        error.hint = "strings are written with single quotes; double quotes name columns"
    return error


def ambiguous(column: exp.Column, sources: Iterable[Source]) -> ProgrammingError:
    """The error for an unqualified column that several sources have."""
    name = column.name.lower()
    owners = [_label(source) for source in sources]
    return ProgrammingError(
        f"column '{name}' is ambiguous: {' and '.join(owners)} have one",
        hint=f"write {owners[0]}.{name}",
        position=node_span(column),
        sqlstate="42702",
    )


def undefined_alias(column: exp.Column, frame: Frame) -> UndefinedTableError:
    """The error for a qualifier that is no source of the query."""
    alias = ".".join(part.name.lower() for part in column.parts[:-1])
    known = [_label(source) for f in frame.chain() for source in f.visible()]
    return UndefinedTableError(
        f"'{alias}' is no table of this query",
        hint=near(alias, known) or (f"tables are {', '.join(known)}" if known else None),
        position=node_span(column.args["table"]),
    )


def ambiguous_table(column: exp.Column, sources: Iterable[Source]) -> ProgrammingError:
    """The error for a qualifier that several tables of a query have as their name."""
    labels = [_label(source) for source in sources]
    return ProgrammingError(
        f"table '{column.table.lower()}' is ambiguous: {' and '.join(labels)} have the name",
        hint=f"write {labels[0]}.{column.name.lower()}",
        position=node_span(column.args["table"]),
        sqlstate="42P09",
    )


def _label(source: Source) -> str:
    """A source as a qualifier names it in full."""
    if source.database in (None, DEFAULT_DATABASE):
        return source.alias
    return f"{source.database}.{source.alias}"


def with_position(error: UndefinedTableError, node: exp.Expr) -> UndefinedTableError:
    """An error of the catalog with the place of the name in the statement."""
    return UndefinedTableError(error.message, hint=error.hint, position=node_span(node))
