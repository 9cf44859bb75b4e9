"""`SELECT 1`: a row of literals, which needs neither sqlglot nor an engine.

Connection pools run it before every use, and a shell started for one statement should not load a
query engine for it. Whole numbers, strings and truth values are read here; anything else, names
given by AS among them, is left to the query planner, which gives literals the same types and names.
"""

from pykudu_sql.planner.parse.lexer import TokenKind, unquote
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.parse.written_literals import written_literal
from pykudu_sql.planner.plan.command import ConstantColumn, ConstantRow
from pykudu_sql.storage.common.types.types import DataType, Kind

_INT = DataType(Kind.INT32)
_STRING = DataType(Kind.STRING)
_BOOL = DataType(Kind.BOOL)
_DIGITS = 9
MAX_CHARACTERS = 1000


def constant_row(tokens: TokenStream) -> ConstantRow | None:
    """The row that a SELECT consists of, or None when it is more than a row of literals.

    `tokens`: of the statement, none of which is passed over. Raises SyntaxError: a string, a quoted
    name or a comment has no end.
    """
    if len(tokens.text) - tokens.current.start > MAX_CHARACTERS or not tokens.at("SELECT"):
        return None
    columns: list[ConstantColumn] = []
    position = 1
    while (column := _literal(tokens, position)) is not None:
        columns.append(column)
        behind = tokens.ahead(position + 1)
        if behind.kind is TokenKind.END:
            return ConstantRow(tuple(columns))
        if behind.text != ",":
            return None
        position += 2
    return None


def _literal(tokens: TokenStream, position: int) -> ConstantColumn | None:
    token = tokens.ahead(position)
    match token.kind:
        case TokenKind.NUMBER if token.text.isascii() and token.text.isdigit():
            if len(token.text) > _DIGITS or (token.text[0] == "0" and token.text != "0"):
                return None
            return ConstantColumn(token.text, _INT, int(token.text))
        case TokenKind.STRING:
            literal = written_literal(tokens.text, token.start)
            written = token.text if literal is None else literal.written
            return ConstantColumn(written, _STRING, unquote(token.text))
        case TokenKind.WORD if token.word in ("TRUE", "FALSE"):
            return ConstantColumn(token.text, _BOOL, token.word == "TRUE")
    return None
