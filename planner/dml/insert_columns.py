"""The column lists of INSERT and COPY."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    NotNullError,
    ProgrammingError,
    SourceSpan,
    SyntaxError,
)

if TYPE_CHECKING:
    from sqlglot import exp


def insert_columns(table: TableInfo, listed: "exp.Expr | None") -> tuple[ColumnSchema, ...]:
    """The columns that a parsed list names; without a list, those that `*` shows.

    Raises SyntaxError: something else than columns is listed; UndefinedColumnError: there is no
    such column; ProgrammingError: one is named twice; InvalidSchemaError: the hidden counter is
    named.
    """
    if listed is None:
        return table.schema.visible_columns
    from sqlglot import exp

    from pykudu_sql.planner.parse.source_spans import node_span

    columns: list[ColumnSchema] = []
    nodes = listed.expressions if isinstance(listed, exp.Tuple) else [listed.this]
    for node in nodes:
        if not isinstance(node, exp.Column | exp.Identifier):
            raise SyntaxError(
                "the list of columns takes their names",
                hint="(a, b) VALUES (1, 2)",
                span=node_span(listed),
            )
        columns.append(settable_column(table, node.name.lower(), columns, node_span(node)))
    return tuple(columns)


def column_names(tokens: TokenStream) -> list[Token]:
    """The names of a list in parentheses. Raises SyntaxError: something else stands there."""
    tokens.expect_symbol("(")
    names: list[Token] = []
    while not names or tokens.accept_symbol(","):
        names.append(tokens.current)
        tokens.name("a column name")
    tokens.expect_symbol(")")
    return names


def settable_column(
    table: TableInfo, name: str, before: Sequence[ColumnSchema], span: SourceSpan | None
) -> ColumnSchema:
    """A column of a list of those that rows bring values for; see `listed_column`.

    Raises InvalidSchemaError: it is the hidden counter.
    """
    column = listed_column(table, name, before, span)
    if table.schema.is_hidden(column):
        raise InvalidSchemaError(
            f"column '{column.name}' is numbered by the table and cannot be set", span=span
        )
    return column


def listed_column(
    table: TableInfo, name: str, before: Sequence[ColumnSchema], span: SourceSpan | None
) -> ColumnSchema:
    """A column of a list by its name, which must not stand in the list before.

    Raises UndefinedColumnError: there is no such column; ProgrammingError: it is named twice.
    """
    column = table.schema.by_name.get(name)
    if column is None:
        names = [c.name for c in table.schema.visible_columns]
        raise undefined_column(name, names, span)
    if column in before:
        raise ProgrammingError(f"column '{name}' is given twice", span=span, sqlstate="42701")
    return column


def check_required(
    table: TableInfo, listed: Sequence[ColumnSchema], span: SourceSpan | None
) -> None:
    """See that rows to be inserted have a value for each column that needs one.

    Raises NotNullError: one is left out.
    """
    for column in table.schema.visible_columns:
        is_filled = column.nullable or column.has_default or column.identity
        if not is_filled and column not in listed:
            raise missing_column(table, column, span)


def missing_column(table: TableInfo, column: ColumnSchema, span: SourceSpan | None) -> NotNullError:
    """The error for a column that must be given."""
    what = "key column" if column.id in table.schema.key_ids else "required column"
    hint = "add it to the list of columns, or give it a DEFAULT"
    if column.has_default:
        hint = f"add it to the list of columns: ({column.name}, ..) VALUES (DEFAULT, ..)"
    return NotNullError(
        f"no value provided for {what} '{column.name}' of table '{table.name}'",
        hint=hint,
        span=span,
    )
