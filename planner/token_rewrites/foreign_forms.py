"""Forms of other databases that the parser knows under other tokens, or not at all.

`SELECT TOP 5 ..` of T-SQL, `a MOD b`, `group_concat(x ORDER BY y SEPARATOR ';')` and the rows of
`VALUES ROW(1, 2), ROW(3, 4)` of MySQL, and whole numbers in binary and octal, `0b101` and `0o17`,
which are no zero with an alias.
"""

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING, token_like
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan

_WORDS = frozenset({"TOP", "MOD", "SEPARATOR"})
_BEFORE_TOP = frozenset({"SELECT", "DISTINCT", "ALL"})
_SET_OPERATIONS = frozenset({TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT})
_ENDS_OPERAND = frozenset(
    {
        TokenType.NUMBER, TokenType.STRING, TokenType.VAR, TokenType.IDENTIFIER,
        TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.PLACEHOLDER,
    }
)  # fmt: skip
_BEGINS_OPERAND = frozenset(
    {TokenType.NUMBER, TokenType.VAR, TokenType.IDENTIFIER, TokenType.PLACEHOLDER}
)
_DIGITS = re.compile(r"(?:b[01]+|o[0-7]+)\Z", re.IGNORECASE)
_NUMBER, _PLACEHOLDER, _VAR = TokenType.NUMBER, TokenType.PLACEHOLDER, TokenType.VAR


def with_known_forms(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with such forms as the parser takes them.

    Raises NotSupportedError: a TOP that no LIMIT stands for.
    """
    tokens = _with_whole_numbers(tokens)
    tokens = _with_plain_rows(tokens)
    words = {token.text.upper() for token in tokens if token.token_type is _VAR} & _WORDS
    if "TOP" in words:
        tokens = [_top(tokens, i) for i in range(len(tokens))]
    if "MOD" in words:
        tokens = [_remainder(tokens, i) for i in range(len(tokens))]
    if "SEPARATOR" in words:
        tokens = _with_separators(tokens)
    return tokens


def _with_whole_numbers(tokens: list[Token]) -> list[Token]:
    """The tokens with `0` and `b101`, where they touch, as one number."""
    places = [
        i
        for i in range(1, len(tokens))
        if tokens[i].token_type is _VAR
        and tokens[i - 1].text == "0"
        and tokens[i - 1].end + 1 == tokens[i].start
        and _DIGITS.match(tokens[i].text)
    ]
    if not places:
        return tokens
    numbers = {i: token_like(tokens[i], _NUMBER, str(int(f"0{tokens[i].text}", 0))) for i in places}
    removed = {i - 1 for i in places}
    return [numbers.get(i, token) for i, token in enumerate(tokens) if i not in removed]


def _with_plain_rows(tokens: list[Token]) -> list[Token]:
    """The tokens without ROW before the rows of VALUES."""
    removed: set[int] = set()
    for i, token in enumerate(tokens):
        if token.token_type is not TokenType.VALUES:
            continue
        place = i + 1
        while _is_row(tokens, place):
            removed.add(place)
            place = _behind_brackets(tokens, place + 1)
            if place >= len(tokens) or tokens[place].token_type is not TokenType.COMMA:
                break
            place += 1
    return [token for i, token in enumerate(tokens) if i not in removed] if removed else tokens


def _is_row(tokens: Sequence[Token], i: int) -> bool:
    if i + 1 >= len(tokens) or tokens[i].token_type is TokenType.IDENTIFIER:
        return False
    return tokens[i].text.upper() == "ROW" and tokens[i + 1].token_type is TokenType.L_PAREN


def _behind_brackets(tokens: Sequence[Token], i: int) -> int:
    """The place behind the brackets that open at one."""
    depth = 0
    for place in range(i, len(tokens)):
        kind = tokens[place].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        if not depth:
            return place + 1
    return len(tokens)


def _top(tokens: Sequence[Token], i: int) -> Token:
    """A token, as TOP where a SELECT's number of rows stands behind it."""
    token = tokens[i]
    if token.text.upper() != "TOP" or not i or tokens[i - 1].text.upper() not in _BEFORE_TOP:
        return token
    behind = [each.token_type for each in tokens[i + 1 : i + 4]]
    in_parentheses = len(behind) == 3 and behind[::2] == [TokenType.L_PAREN, TokenType.R_PAREN]
    count = behind[1] if in_parentheses else behind[0] if behind else None
    if count not in (_NUMBER, _PLACEHOLDER):
        return token
    span = SourceSpan(token.start, len(token.text))
    after = i + (4 if in_parentheses else 2)
    odd = " ".join(each.text.upper() for each in tokens[after : after + 2])
    if odd.startswith("PERCENT") or odd == "WITH TIES":
        word = odd if odd == "WITH TIES" else "PERCENT"
        raise NotSupportedError(
            f"TOP .. {word} is not supported",
            hint="write a number of rows; rank() OVER (ORDER BY ..) in QUALIFY keeps ties",
            span=span,
        )
    if _is_in_set_operation(tokens, i):
        raise NotSupportedError(
            "TOP in one part of a UNION is not supported",
            hint="put that SELECT into parentheses",
            span=span,
        )
    return token_like(token, TokenType.TOP, token.text)


def _is_in_set_operation(tokens: Sequence[Token], i: int) -> bool:
    """Whether the SELECT at a place is one of several that are united, without parentheses."""
    for step in (-1, 1):
        opening, closing = (OPENING, CLOSING) if step > 0 else (CLOSING, OPENING)
        depth, place = 0, i
        while 0 <= place < len(tokens) and depth >= 0:
            kind = tokens[place].token_type
            depth += (kind in opening) - (kind in closing)
            if depth == 0 and kind in _SET_OPERATIONS:
                return True
            place += step
    return False


def _remainder(tokens: Sequence[Token], i: int) -> Token:
    """A token, as `%` where it is MOD between operands."""
    token = tokens[i]
    if token.text.upper() != "MOD" or token.token_type is not _VAR or not 0 < i < len(tokens) - 1:
        return token
    kinds = tokens[i - 1].token_type, tokens[i + 1].token_type
    is_operator = kinds[0] in _ENDS_OPERAND and kinds[1] in _BEGINS_OPERAND
    return token_like(token, TokenType.MOD, "%") if is_operator else token


def _with_separators(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `SEPARATOR ';'` as the second argument of its call, before ORDER BY."""
    result = list(tokens)
    for i in [i for i, token in enumerate(tokens) if token.text.upper() == "SEPARATOR"]:
        if i + 1 >= len(tokens) or tokens[i + 1].token_type is not TokenType.STRING:
            continue
        depth, place, before = 0, i - 1, i
        while place >= 0 and depth >= 0:
            kind = tokens[place].token_type
            depth += (kind in CLOSING) - (kind in OPENING)
            if depth == 0 and kind is TokenType.ORDER_BY:
                before = place
            place -= 1
        separator = [token_like(tokens[i], TokenType.COMMA, ","), tokens[i + 1]]
        result[before : i + 2] = [*separator, *tokens[before:i]]
    return result
