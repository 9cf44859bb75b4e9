"""COPY: rows from files into a table, and the rows of a table or a query to a file.

    COPY t [(cols)] FROM 'x.csv' | 'folder' | 'folder/*.parquet' [[WITH] (options)]
    COPY t [(cols)] | (query) TO 'x.parquet' [[WITH] (options)]

    FORMAT csv|json|parquet|orc|arrow, COMPRESSION name, HEADER [true|false], DELIMITER ';',
    NULL 'NA', QUOTE '"', PARTITION BY (a, b), OVERWRITE [true|false], ROW_GROUP_SIZE n

A whole table that is stored is read without a query. Nothing of a file is read while planning, and
whether the program permits files is for the executor to know.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from pykudu_sql.planner.bind.named_table import target_table
from pykudu_sql.planner.ddl_grammar.table_options import refuse_word
from pykudu_sql.planner.dml.insert_columns import column_names, settable_column
from pykudu_sql.planner.parse.error_spans import errors_at, spans_dropped
from pykudu_sql.planner.parse.lexer import Token, TokenKind, quote_name
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.table_copy import CopyTable
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import InvalidValueError, SyntaxError, UndefinedTableError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.copy_plans import CopyFrom, CopyOption, CopyOptions, CopyTo
    from pykudu_sql.planner.plan.query_plans import Query

_ROWS_ELSEWHERE: Final = "name a file; in Python append(table, rows) and fetchall() have rows"
_PROGRAMS: Final = {
    "STDIN": _ROWS_ELSEWHERE,
    "STDOUT": _ROWS_ELSEWHERE,
    "PROGRAM": "no program is run: name a file",
}
_FLAGS: Final[Mapping[str, bool]] = {
    "true": True, "on": True, "1": True, "false": False, "off": False, "0": False,
}  # fmt: skip
_TEXTS: Final = ("format", "compression", "delimiter", "null", "quote")
_MAKE_TABLE: Final = (
    "CREATE TABLE makes it; so do .import FILE TABLE --create of the shell and pykudu-sql load, "
    "with the types of the file"
)
_SWITCHES: Final = ("header", "overwrite")
_OPTIONS: Final = (*_TEXTS, *_SWITCHES, "partition_by", "row_group_size")
# As older PostgreSQL takes them, without parentheses.
_PLAIN_OPTIONS: Final = ("CSV", "FORMAT", "HEADER", "DELIMITER", "DELIMITERS", "NULL", "QUOTE")
_MOST_ROWS: Final = 1 << 31


def plan_copy(tokens: TokenStream, context: PlanContext) -> "CopyFrom | CopyTo | CopyTable":
    """Plan a COPY from its first word on.

    Raises SyntaxError: it does not follow the grammar; UndefinedTableError, UndefinedColumnError: a
    name is unknown; ReadOnlyError: rows are to be written and the session reads at a past moment;
    InvalidValueError: an option does not take that value.
    """
    tokens.expect("COPY")
    if tokens.at_symbol("("):
        source = tokens.rest
        query = _query(source.until(_behind_query(tokens)), context)
        tokens.expect("TO")
        return _copy_to(query, *_file(tokens))
    start_token = tokens.current
    name = tokens.table_name()
    listed = column_names(tokens) if tokens.at_symbol("(") else None
    if tokens.accept("FROM"):
        from pykudu_sql.planner.plan.copy_plans import CopyFrom

        table = _target_table(name, start_token, context)
        columns = None if listed is None else _columns(table, listed)
        return CopyFrom(table, columns, *_file(tokens))
    if not tokens.accept("TO"):
        raise tokens.error("FROM, TO")
    names = "*" if listed is None else ", ".join(quote_name(each.name) for each in listed)
    written = ".".join(map(quote_name, name.split(".")))
    selection = partial(_selection, f"SELECT {names} FROM {written}", start_token, context)
    stored = _stored_table(name, context) if listed is None else None
    if stored is None:
        return _copy_to(selection(), *_file(tokens))
    target, options = _file(tokens)
    return CopyTable(stored, target, options, lambda: _copy_to(selection(), target, options))


def _target_table(name: str, token: Token, context: PlanContext) -> TableInfo:
    """The table that files are to go into. Raises UndefinedTableError: with how to make it."""
    try:
        return target_table(name, token, context)
    except UndefinedTableError as error:
        if "did you mean" not in (error.hint or ""):
            error.hint = _MAKE_TABLE
        raise


def _stored_table(name: str, context: PlanContext) -> TableInfo | None:
    """The table that a name means now; None where it is a view, a frame or a table of the system.

    So it is where the session reads at a past moment.
    """
    if context.settings.as_of is not None or name in context.frames:
        return None
    return context.catalog.tables.get(context.catalog.full_name(name))


def _selection(sql: str, table_token: Token, context: PlanContext) -> "Query":
    """The plan of a query made of the name of a relation."""
    with errors_at(table_token.span), spans_dropped():
        return _query(SourceText(sql), context)


def _query(source: SourceText, context: PlanContext) -> "Query":
    from pykudu_sql.planner.query.query import plan_rows

    return plan_rows(source, context)


def _copy_to(query: "Query", target: str, options: "CopyOptions") -> "CopyTo":
    from pykudu_sql.planner.plan.copy_plans import CopyTo

    return CopyTo(query, target, options)


def _behind_query(tokens: TokenStream) -> int:
    """Pass over a query in parentheses; the offset behind it."""
    depth = 0
    while not tokens.at_end():
        token = tokens.take()
        if token.kind is TokenKind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
        if not depth:
            return token.end
    raise tokens.error("')'")


def _columns(table: TableInfo, listed: list[Token]) -> tuple[ColumnSchema, ...]:
    """The columns that a list names. Raises InvalidSchemaError: the hidden counter is one."""
    columns: list[ColumnSchema] = []
    for token in listed:
        columns.append(settable_column(table, token.name, columns, token.span))
    return tuple(columns)


def _file(tokens: TokenStream) -> "tuple[str, CopyOptions]":
    """The file's name and the options behind it, up to the end of the statement."""
    refuse_word(tokens, _PROGRAMS, "COPY with {}")
    name = tokens.string()
    options: dict[str, CopyOption] = {}
    if tokens.accept("WITH") or not tokens.at_end():
        if tokens.current.word in _PLAIN_OPTIONS:
            error = tokens.error("'('")
            error.hint = "options stand in parentheses: (FORMAT csv, DELIMITER ';', NULL 'NA')"
            raise error
        tokens.expect_symbol("(")
        while not options or tokens.accept_symbol(","):
            start_token = tokens.current
            option = tokens.name("an option")
            if option == "partition":
                tokens.expect("BY")
                option = "partition_by"
            if option not in _OPTIONS:
                raise SyntaxError(
                    f"COPY has no option '{option:.40}'",
                    hint=near(option, _OPTIONS) or "options are " + ", ".join(_OPTIONS).upper(),
                    span=start_token.span,
                )
            if option in options:
                raise SyntaxError(f"option {option.upper()} is given twice", span=start_token.span)
            options[option] = _value(option, tokens)
        tokens.expect_symbol(")")
    tokens.expect_end()
    return name, options


def _value(option: str, tokens: TokenStream) -> "CopyOption":
    start_token = tokens.current
    if option == "partition_by":
        return tuple(token.name for token in column_names(tokens))
    if option == "row_group_size":
        digits = tokens.take().text
        if not digits.isdigit() or not 0 < int(digits) < _MOST_ROWS:
            raise InvalidValueError("ROW_GROUP_SIZE takes a number of rows", span=start_token.span)
        return int(digits)
    if option in _SWITCHES:
        if tokens.at_symbol(",") or tokens.at_symbol(")"):
            return True
        word = tokens.string() if start_token.kind is TokenKind.STRING else tokens.take().text
        if word.lower() not in _FLAGS:
            raise InvalidValueError(f"{option.upper()} takes true or false", span=start_token.span)
        return _FLAGS[word.lower()]
    if option in ("format", "compression"):
        text = tokens.string() if start_token.kind is TokenKind.STRING else tokens.name("a name")
        return text.lower()
    text = tokens.string()
    if option == "null":
        if set(text) & {"\n", "\r", '"'}:
            raise InvalidValueError("NULL takes a text without quotes", span=start_token.span)
        return text
    text = "\t" if text == "\\t" else text
    if len(text) != 1 or not text.isascii() or text.isalnum() or text in "\n\r\0 .-+":
        raise InvalidValueError(
            f"{option.upper()} takes one character that is no letter, digit or sign",
            hint="such as ';' or '|', or '\\t' for a tab",
            span=start_token.span,
        )
    return text
