"""`SELECT 1`: a row of literals, which needs neither sqlglot nor an engine.

Connection pools run it before every use, and a shell started for one statement should not load a
query engine for it. Whole numbers, strings and truth values are read here; anything else, names
given by AS among them, is left to the query planner, which gives literals the same types and names.
"""

from pykudu_sql.planner.parse.lexer import TokenKind, unquote
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.plan import ConstantColumn, ConstantRow
from pykudu_sql.storage.common.types.types import DataType, Kind

_INT = DataType(Kind.INT32)
_STRING = DataType(Kind.STRING)
_BOOL = DataType(Kind.BOOL)
_DIGITS = 9
MAX_CHARACTERS = 1000


def constant_row(text: str, start: int) -> ConstantRow | None:
    """The row that a SELECT consists of, or None when it is more than a row of literals.

    `start`: offset of SELECT. Raises SyntaxError: a string, a quoted name or a comment has no end.
    """
    if len(text) - start > MAX_CHARACTERS:
        return None
    tokens = TokenStream(text, start)
    if not tokens.accept("SELECT"):
        return None
    columns: list[ConstantColumn] = []
    while True:
        column = _literal(tokens)
        if column is None:
            return None
        columns.append(column)
        if tokens.current.kind is TokenKind.END:
            return ConstantRow(tuple(columns))
        if not tokens.accept_symbol(","):
            return None


def _literal(tokens: TokenStream) -> ConstantColumn | None:
    token = tokens.current
    match token.kind:
        case TokenKind.NUMBER if token.text.isascii() and token.text.isdigit():
            if len(token.text) > _DIGITS or (token.text[0] == "0" and token.text != "0"):
                return None
            column = ConstantColumn(token.text, _INT, int(token.text))
        case TokenKind.STRING:
            column = ConstantColumn(token.text, _STRING, unquote(token.text))
        case TokenKind.WORD if token.word in ("TRUE", "FALSE"):
            column = ConstantColumn(token.text, _BOOL, token.word == "TRUE")
        case _:
            return None
    tokens.take()
    return column
