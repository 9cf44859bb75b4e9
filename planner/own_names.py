"""Words that sqlglot's parser takes otherwise than Impala does, renamed while they are tokens.

The parser makes nodes of the functions it knows, and turns away numbers of arguments it does not
expect. Here such a call gets a name that the parser does not know and `borrowed_functions` does:
which one, is told by the number of arguments, and for some by whether one is a text. A time that
is written as a plain text, `year('2026-08-17')`, gets the word TIMESTAMP before it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import Token, TokenType

from pykudu_sql.planner.guards import CLOSING, OPENING

# By upper-case name and number of arguments.
_RENAMED: Mapping[tuple[str, int], str] = MappingProxyType(
    {
        ("DATEDIFF", 2): "days_between",
        ("EXTRACT", 2): "extract_unit",
        ("GETBIT", 2): "bit_at",
        ("INSTR", 3): "instr_from",
        ("INSTR", 4): "instr_from",
        ("MONTHS_BETWEEN", 2): "months_apart",
        ("NEGATIVE", 1): "minus",
        ("NEXT_DAY", 2): "day_after",
        ("REGEXP_REPLACE", 3): "replace_pattern",
        ("TO_TIMESTAMP", 2): "time_of_text",
        ("WIDTH_BUCKET", 4): "bucket_of",
    }
)
_CANDIDATES = frozenset((*(word for word, _ in _RENAMED), "DECODE", "TRUNC"))
INNER_NAMES = frozenset(_RENAMED.values()) - {"days_between"} | {"decode_pairs", "trunc_time"}
OUTER_NAMES = frozenset(map(str.lower, _CANDIDATES))
# What stands in the statement for a name that calls got here.
WRITTEN_NAMES: Mapping[str, str] = MappingProxyType(
    {name: word.lower() for (word, _), name in _RENAMED.items()}
    | {"decode_pairs": "decode", "trunc_time": "trunc"}
)
_ONE_TIME_WORDS = """
    YEAR QUARTER MONTH WEEK WEEKOFYEAR DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE SECOND
    MILLISECOND MICROSECOND DAYNAME MONTHNAME LAST_DAY
"""
_OF_ONE_TIME = frozenset(_ONE_TIME_WORDS.split())
_OF_UNIT_AND_TIME = frozenset({"DATE_TRUNC", "DATE_PART"})
_BEGINS_OPERAND = frozenset({"SELECT", "VALUES", "ALL", "DISTINCT"})


def with_own_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a statement with such calls renamed."""
    result: list[Token] = []
    for i, token in enumerate(tokens):
        result.append(_renamed(tokens, i))
        if _asks_for_the_present(tokens, i):
            result.append(token_like(token, TokenType.CURRENT_TIMESTAMP, "current_timestamp"))
        elif _is_before_bare_time(tokens, i):
            result.append(token_like(token, TokenType.TIMESTAMP, "TIMESTAMP"))
    return result


def token_like(token: Token, token_type: TokenType, text: str) -> Token:
    """A token in the place of another."""
    return Token(token_type, text, token.line, token.col, token.start, token.end, [])


def _renamed(tokens: Sequence[Token], i: int) -> Token:
    token = tokens[i]
    word = token.text.upper()
    if word == "MINUS" and _joins_queries(tokens, i):
        return token_like(token, TokenType.EXCEPT, "EXCEPT")
    if word not in _CANDIDATES:
        return token
    count = _arguments(tokens, i)
    name = _RENAMED.get((word, count))
    if word == "DECODE" and count > 2:
        name = "decode_pairs"
    elif word == "TRUNC" and count == 2 and _last_is_text(tokens, i):
        name = "trunc_time"
    return token if name is None else token_like(token, TokenType.VAR, name)


def _joins_queries(tokens: Sequence[Token], i: int) -> bool:
    """Whether a query stands behind this, as behind Impala's and Spark's word for EXCEPT."""
    behind = [token.text.upper() for token in tokens[i + 1 : i + 3]]
    return bool(behind) and (behind[0] in _BEGINS_OPERAND or behind == ["(", "SELECT"])


def _arguments(tokens: Sequence[Token], i: int) -> int:
    """How many arguments the call at a place has; 0 if it is none."""
    if i + 2 >= len(tokens) or tokens[i + 1].token_type is not TokenType.L_PAREN:
        return 0
    depth = commas = 0
    for token in tokens[i + 1 :]:
        depth += token.token_type in OPENING
        depth -= token.token_type in CLOSING
        commas += depth == 1 and token.token_type is TokenType.COMMA
        if depth == 0:
            break
    return commas + 1


def _last_is_text(tokens: Sequence[Token], i: int) -> bool:
    """Whether the call at a place ends in a text: `trunc(x, 'MM')`."""
    depth = 0
    for place in range(i + 1, len(tokens)):
        kind = tokens[place].token_type
        depth += kind in OPENING
        depth -= kind in CLOSING
        if depth == 0:
            before = tokens[place - 2].token_type, tokens[place - 1].token_type
            return before == (TokenType.COMMA, TokenType.STRING)
    return False


def _is_before_bare_time(tokens: Sequence[Token], i: int) -> bool:
    """Whether a text stands behind this as the time that a function takes."""
    if i + 2 >= len(tokens) or tokens[i + 1].token_type is not TokenType.STRING:
        return False
    if tokens[i + 2].token_type is not TokenType.R_PAREN or i == 0:
        return False
    if tokens[i].token_type is TokenType.L_PAREN:
        return tokens[i - 1].text.upper() in _OF_ONE_TIME
    is_second = i > 2 and tokens[i].token_type is TokenType.COMMA
    return is_second and tokens[i - 3].text.upper() in _OF_UNIT_AND_TIME


def _asks_for_the_present(tokens: Sequence[Token], i: int) -> bool:
    """Whether this is the parenthesis of `unix_timestamp()`."""
    if i == 0 or i + 1 >= len(tokens) or tokens[i - 1].text.upper() != "UNIX_TIMESTAMP":
        return False
    kinds = (tokens[i].token_type, tokens[i + 1].token_type)
    return kinds == (TokenType.L_PAREN, TokenType.R_PAREN)
