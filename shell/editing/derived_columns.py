"""Columns of subqueries that a statement names: `WITH x AS (SELECT ..)` and `(SELECT ..) AS x`.

A pure function of tokens. A column is known where it has an alias or is a plain column; those of
`*` are those of the tables behind it.
"""

from collections.abc import Sequence

from pykudu_sql.shell.editing.tokens import Kind, Token, words

_ENDS_LIST = words("FROM WHERE GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT QUALIFY WINDOW")


def derived_columns(tokens: Sequence[Token]) -> dict[str, tuple[str, ...]]:
    """The columns of each named subquery, by its name; without those that cannot be known."""
    columns_by_name: dict[str, tuple[str, ...]] = {}
    for i, token in enumerate(tokens):
        if token.text != "(" or i + 1 >= len(tokens) or tokens[i + 1].word != "SELECT":
            continue
        end = _closing(tokens, i)
        name = _name_before(tokens, i) or _name_behind(tokens, end)
        if name is not None:
            columns_by_name[name] = _columns(tokens[i + 2 : end])
    return columns_by_name


def _closing(tokens: Sequence[Token], opened: int) -> int:
    depth = 0
    for i in range(opened, len(tokens)):
        depth += (tokens[i].text == "(") - (tokens[i].text == ")")
        if depth == 0:
            return i
    return len(tokens)


def _name_before(tokens: Sequence[Token], opened: int) -> str | None:
    """Of `x AS (`, as WITH has it."""
    if opened >= 2 and tokens[opened - 1].word == "AS" and _is_name(tokens[opened - 2]):
        return tokens[opened - 2].name
    return None


def _name_behind(tokens: Sequence[Token], closed: int) -> str | None:
    """Of `) x` or `) AS x`, as FROM has it."""
    behind = [t for t in tokens[closed + 1 : closed + 3] if t.word != "AS"]
    return behind[0].name if behind and _is_name(behind[0]) else None


def _is_name(token: Token) -> bool:
    return token.kind in (Kind.WORD, Kind.QUOTED)


def _columns(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Names of a SELECT list, which ends at the next clause."""
    names, item, depth = [], list[Token](), 0
    for token in tokens:
        if depth == 0 and (token.text == "," or token.word in _ENDS_LIST):
            names.append(_name_of(item))
            item = []
            if token.word in _ENDS_LIST:
                break
            continue
        depth += (token.text == "(") - (token.text == ")")
        item.append(token)
    names.append(_name_of(item))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _name_of(item: Sequence[Token]) -> str | None:
    if not item or not _is_name(item[-1]):
        return None
    # `a`, `t.a`, `a AS b`, `f(a) b`: all end with the name; `1 + a` has none of its own.
    if len(item) == 1 or item[-2].word == "AS" or item[-2].text in (".", ")"):
        return item[-1].name
    return item[-1].name if _is_name(item[-2]) or item[-2].kind is Kind.NUMBER else None
