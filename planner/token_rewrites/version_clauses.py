"""`AS OF` of a table, rewritten on tokens to the version clause that sqlglot knows."""

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING, token_like

_STARTS_MOMENT = frozenset({
    TokenType.NUMBER, TokenType.STRING, TokenType.PLACEHOLDER, TokenType.COLON,
    TokenType.CURRENT_TIMESTAMP, TokenType.CURRENT_DATE, TokenType.L_PAREN, TokenType.PARAMETER,
})  # fmt: skip
_NAMES = frozenset(
    {TokenType.VAR, TokenType.CURRENT_TIMESTAMP, TokenType.CURRENT_DATE, TokenType.L_PAREN}
)
_ADDS = frozenset({TokenType.PLUS, TokenType.DASH})
_ALIAS = TokenType.ALIAS
_BEFORE_AS_OF = ("SYSTEM_TIME", "TIMESTAMP", "VERSION")


def with_versions(tokens: list[Token]) -> list[Token]:
    """`AS OF [TIMESTAMP] x`, where it is not an alias named "of", as `FOR TIMESTAMP x`.

    `[FOR SYSTEM_TIME] AS OF SNAPSHOT name` becomes `FOR VERSION AS OF 'name'`. TIMESTAMP before a
    moment that is no literal is left out.
    """
    if all(token.token_type is not _ALIAS for token in tokens):
        return tokens
    out: list[Token] = []
    skip = 0
    for i, token in enumerate(tokens):
        if skip:
            skip -= 1
            continue
        if token.token_type is _ALIAS and _is_as_of(tokens, i):
            if out and out[-1].text.upper() == "SYSTEM_TIME":
                del out[-2:]
            if _names_snapshot(tokens, i):
                out.append(token_like(token, TokenType.FOR, "FOR"))
                out.append(token_like(tokens[i + 1], TokenType.VAR, "VERSION"))
                out.append(token_like(tokens[i + 3], TokenType.STRING, tokens[i + 3].text))
                skip = 3
                continue
            explicit = tokens[i + 2].text.upper() == "TIMESTAMP" and not _computes(tokens, i + 3)
            out.append(token_like(token, TokenType.FOR, "FOR"))
            out.append(token_like(tokens[i + 1], TokenType.TIMESTAMP, "TIMESTAMP"))
            skip = 2 if explicit else 1
        elif token.token_type is _ALIAS and _has_typed_call(tokens, i):
            out += tokens[i : i + 2]
            skip = 2
        else:
            out.append(token)
    return out


def _is_as_of(tokens: list[Token], i: int) -> bool:
    if i + 2 >= len(tokens) or tokens[i + 1].text.upper() != "OF":
        return False
    if i and tokens[i - 1].text.upper() in _BEFORE_AS_OF:
        return _names_snapshot(tokens, i) and _is_system_time(tokens, i)
    after = tokens[i + 2]
    call = i + 3 < len(tokens) and tokens[i + 3].token_type is TokenType.L_PAREN
    explicit = after.text.upper() == "TIMESTAMP" or _names_snapshot(tokens, i)
    is_date = after.text.upper() == "DATE" and _is_string(tokens, i + 3)
    return after.token_type in _STARTS_MOMENT or explicit or call or is_date


def _has_typed_call(tokens: list[Token], i: int) -> bool:
    """Whether `TIMESTAMP` and a name follow: `FOR SYSTEM_TIME AS OF TIMESTAMP now()`."""
    words = [token.text.upper() for token in tokens[max(0, i - 1) : i + 3]]
    if len(words) < 4 or words[0] not in _BEFORE_AS_OF or words[2:] != ["OF", "TIMESTAMP"]:
        return False
    return i + 3 < len(tokens) and tokens[i + 3].token_type in _NAMES


def with_closed_windows(tokens: list[Token]) -> list[Token]:
    """The tokens with the first moment of `FOR SYSTEM_TIME FROM a TO b` in parentheses.

    The parser takes `INTERVAL 1 HOUR TO` for an interval from one unit to another.
    """
    starts = [
        i + 1
        for i in range(1, len(tokens))
        if tokens[i].token_type is TokenType.FROM and tokens[i - 1].text.upper() == "SYSTEM_TIME"
    ]
    out, done = list[Token](), 0
    for start in starts:
        end = _window_end(tokens, start)
        if end is None or end - start < 2:
            continue
        first, last = tokens[start], tokens[end - 1]
        out += tokens[done:start]
        out.append(token_like(first, TokenType.L_PAREN, "("))
        out += tokens[start:end]
        out.append(token_like(last, TokenType.R_PAREN, ")"))
        done = end
    return out + tokens[done:] if done else tokens


def _window_end(tokens: list[Token], start: int) -> int | None:
    """Where the TO behind a moment stands."""
    depth = 0
    for i in range(start, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0:
            return None
        if depth == 0 and i > start and tokens[i].text.upper() == "TO":
            return i
    return None


def _is_string(tokens: list[Token], i: int) -> bool:
    return i < len(tokens) and tokens[i].token_type is TokenType.STRING


def _computes(tokens: list[Token], i: int) -> bool:
    """Whether a literal's text is here and something is added to it: `TIMESTAMP '..' + ..`."""
    is_followed = i + 1 < len(tokens) and tokens[i + 1].token_type in _ADDS
    return is_followed and _is_string(tokens, i)


def _is_system_time(tokens: list[Token], i: int) -> bool:
    """Whether `FOR SYSTEM_TIME` stands before this place."""
    before = [token.text.upper() for token in tokens[max(0, i - 2) : i]]
    return before == ["FOR", "SYSTEM_TIME"]


def _names_snapshot(tokens: list[Token], i: int) -> bool:
    """Whether `AS OF` at this place is followed by `SNAPSHOT name`."""
    if i + 3 >= len(tokens) or tokens[i + 2].text.upper() != "SNAPSHOT":
        return False
    name = tokens[i + 3]
    quoted = name.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
    return quoted or name.text.isidentifier()
