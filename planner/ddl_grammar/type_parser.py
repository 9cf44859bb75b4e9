"""Names of types on tokens, as they stand behind a column's name: the type table reads them."""

from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream

_SECOND_WORDS = {"DOUBLE": ("PRECISION",), "CHARACTER": ("VARYING",), "CHAR": ("VARYING",)}


def type_name(tokens: TokenStream) -> str:
    """A type as written: `INT`, `DECIMAL(10,2)`, `CHARACTER VARYING(20)`, `TIMESTAMP(6)`.

    What has no zone is not said to have none.

    Raises SyntaxError: something else comes next.
    """
    if tokens.current.kind is not TokenKind.WORD:
        raise tokens.error("a type")
    text = tokens.take().text.upper()
    for word in _SECOND_WORDS.get(text, ()):
        if tokens.accept(word):
            text += f" {word}"
    if tokens.accept_symbol("("):
        sizes = [str(tokens.whole_number())]
        while tokens.accept_symbol(","):
            sizes.append(str(tokens.whole_number()))
        tokens.expect_symbol(")")
        text += f"({','.join(sizes)})"
    if text.startswith("TIMESTAMP"):
        if tokens.accept("WITH", "TIME", "ZONE"):
            return "TIMESTAMP WITH TIME ZONE"
        tokens.accept("WITHOUT", "TIME", "ZONE")
    return text
