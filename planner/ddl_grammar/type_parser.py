"""Names of types on tokens, as they stand behind a column's name: the type table reads them."""

from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream

_SECOND_WORDS = {"DOUBLE": ("PRECISION",), "CHARACTER": ("VARYING",), "CHAR": ("VARYING",)}
_ZONES = (("WITHOUT", "TIME", "ZONE"), ("WITH", "TIME", "ZONE"))


def type_name(tokens: TokenStream) -> str:
    """A type as written: `INT`, `DECIMAL(10,2)`, `CHARACTER VARYING(20)`, `TIMESTAMP(6)`.

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
        for words in _ZONES:
            if tokens.accept(*words):
                text += f" {' '.join(words)}"
    return text
