"""`FROM (DESCRIBE t)`, `WITH d AS (SHOW TABLES)`, `FROM (SUMMARIZE t)`: listings as relations.

What stands in the parentheses is planned as the statement that it is, and run while the query
around it is planned; its rows take its place, as those of a view that only this query has. A plan
with such rows is not kept. Offsets in the statement stay as they are, but behind the shortest form
of a WITH query, `AS (DESC t)`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pykudu_sql.planner.parse.lexer import Token, TokenKind, quote_name, quote_string, tokenize
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import LISTED_PREFIX, ListedRows, PlanContext
from pykudu_sql.planner.statements import plan_statement
from pykudu_sql.storage.catalog.namespace import ViewColumn, ViewInfo
from pykudu_sql.storage.errors import NotSupportedError, StatementTooComplexError

_MAY_LIST = re.compile(r"\(\s*(?:DESCRIBE|DESC|SHOW|SUMMARIZE)\b", re.IGNORECASE)
_WORDS = frozenset({"DESCRIBE", "DESC", "SHOW", "SUMMARIZE"})
_BEFORE_QUERY = frozenset({"AS", "MATERIALIZED"})
_BEFORE = frozenset({"FROM", "JOIN", ",", "("}) | _BEFORE_QUERY
_KEEPS_TEXT = (
    ("PREPARE",),
    ("CREATE", "VIEW"),
    ("CREATE", "OR", "REPLACE", "VIEW"),
    ("ALTER", "VIEW"),
)
MAX_LISTINGS = 32


def with_listed_relations(text: str, context: PlanContext) -> tuple[str, PlanContext]:
    """A statement with names in the place of listings, and the context that knows their rows.

    Raises NotSupportedError: the statement is kept as a text; Error: a listing cannot be planned or
    run; its place is shown.
    """
    if _MAY_LIST.search(text) is None:
        return text, context
    listed: dict[str, ViewInfo] = {}
    while (listing := _last_listing(text)) is not None:
        start, end, is_query = listing
        _check_not_stored(text, start)
        within = replace(context, listed=listed)
        rows = context.list_rows(plan_statement(SourceText(text[: end - 1], start + 1), within))
        if len(listed) == MAX_LISTINGS:
            raise StatementTooComplexError(f"a query cannot read more than {MAX_LISTINGS} listings")
        name = f"{LISTED_PREFIX}{len(listed)}"
        listed[name] = _relation(name, rows, context.settings.database)
        relation = f"(FROM{quote_name(name)})" if is_query else quote_name(name)
        text = f"{text[:start]}{relation.ljust(end - start)}{text[end:]}"
    return text, replace(context, listed=listed) if listed else context


def _check_not_stored(text: str, start: int) -> None:
    tokens = TokenStream(text)
    if any(tokens.at(*words) for words in _KEEPS_TEXT):
        raise NotSupportedError(
            f"{tokens.current.word} cannot keep a listing",
            hint="the schemas sys and information_schema have tables of the same facts",
            span=TokenStream(text, start + 1).current.span,
        )


def _last_listing(text: str) -> tuple[int, int, bool] | None:
    """Where the last listing of a text stands, its parentheses included, and whether as a query.

    None stands within it.
    """
    tokens = list(tokenize(text))
    starts = [i for i in range(1, len(tokens) - 2) if _is_listing(tokens, i)]
    if not starts:
        return None
    depth = 0
    for token in tokens[starts[-1] :]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            is_query = tokens[starts[-1] - 1].word in _BEFORE_QUERY
            return tokens[starts[-1]].start, token.end, is_query
    return None


def _is_listing(tokens: Sequence[Token], i: int) -> bool:
    before, word, behind = tokens[i - 1], tokens[i + 1], tokens[i + 2]
    return (
        tokens[i].text == "("
        and word.word in _WORDS
        and (before.word or before.text) in _BEFORE
        and behind.kind in (TokenKind.WORD, TokenKind.QUOTED)
    )


def _relation(name: str, rows: ListedRows, database: str) -> ViewInfo:
    """The rows of a listing as the view that a query reads."""
    columns = tuple(
        ViewColumn(column.lower(), column.lower(), type_name)
        for column, type_name in zip(rows.names, rows.types, strict=True)
    )
    return ViewInfo(name, name, _query(rows), database, columns)


def _query(rows: ListedRows) -> str:
    outputs = ", ".join(
        f"CAST(c{i} AS {type_name}) AS {quote_name(name.lower())}"
        for i, (name, type_name) in enumerate(zip(rows.names, rows.types, strict=True))
    )
    columns = ", ".join(f"c{i}" for i in range(len(rows.names)))
    values = ", ".join(_row(row) for row in rows.rows)
    nothing = "" if rows.rows else " WHERE false"
    values = values or _row([None] * len(rows.names))
    return f"SELECT {outputs} FROM (VALUES {values}) AS listed({columns}){nothing}"


def _row(row: Sequence[Any]) -> str:
    return f"({', '.join(map(_literal, row))})"


def _literal(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | Decimal():
            return str(value)
        case bytes():
            return f"x'{value.hex()}'"
    return quote_string(str(value))
