"""Names of types on tokens, as they stand behind a column's name: the type table reads them."""

from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream

_SECOND_WORDS = {"DOUBLE": ("PRECISION",), "CHARACTER": ("VARYING",), "CHAR": ("VARYING",)}

# What stands in their parentheses are texts or types.
_NESTED = frozenset({"ENUM", "SET", "STRUCT", "ROW", "MAP", "UNION", "ARRAY", "LIST"})
_LONGEST = {"VARCHAR": "STRING", "NVARCHAR": "STRING", "VARBINARY": "BINARY"}
_BRACKETS = {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}


def type_name(tokens: TokenStream) -> str:
    """A type as written: `INT`, `DECIMAL(10,2)`, `CHARACTER VARYING(20)`, `TIMESTAMP(6)`.

    What has no zone is not said to have none, and `VARCHAR(MAX)` is STRING. `ENUM(..)`, `INT[]`,
    `MAP<STRING, INT>` and `STRUCT(a INT)` come as their word alone: the type table refuses it.

    Raises SyntaxError: something else comes next.
    """
    if tokens.current.kind is not TokenKind.WORD:
        raise tokens.error("a type")
    text = tokens.take().text.upper()
    for word in _SECOND_WORDS.get(text, ()):
        if tokens.accept(word):
            text += f" {word}"
    if tokens.at_symbol("[") or tokens.at_symbol("<"):
        nested = "ARRAY" if tokens.at_symbol("[") else text
        _pass_brackets(tokens)
        return nested
    has_any_length = tokens.at_symbol("(") and tokens.ahead(1).word == "MAX"
    if has_any_length or (text in _NESTED and tokens.at_symbol("(")):
        _pass_brackets(tokens)
        return _LONGEST.get(text, text) if has_any_length else text
    base = text
    if tokens.accept_symbol("("):
        sizes = [str(tokens.whole_number())]
        while tokens.accept_symbol(","):
            sizes.append(str(tokens.whole_number()))
        tokens.expect_symbol(")")
        text += f"({','.join(sizes)})"
    if tokens.accept("UNSIGNED"):
        tokens.accept("ZEROFILL")
        return f"{base} UNSIGNED"
    if text.startswith("TIMESTAMP"):
        if tokens.accept("WITH", "TIME", "ZONE"):
            return "TIMESTAMP WITH TIME ZONE"
        tokens.accept("WITHOUT", "TIME", "ZONE")
    return text


def _pass_brackets(tokens: TokenStream) -> None:
    """Pass over brackets and what is in them. Raises SyntaxError: they do not end."""
    depth = _BRACKETS[tokens.take().text]
    while depth:
        if tokens.at_end():
            raise tokens.error("a closing bracket")
        depth += _BRACKETS.get(tokens.take().text, 0)
