"""Which tokens of a statement a query at the cursor sees: a pure function of tokens.

A query in parentheses is a scope of its own. What stands in the scope of the cursor, or in one
around it, can be named there; what is in a subquery beside it cannot. A query behind FROM, JOIN or
AS sees nothing of what is around it.
"""

from collections.abc import Sequence

from pykudu_sql.shell.editing.tokens import Token

_BEGINS_QUERY = ("SELECT", "WITH", "FROM", "VALUES")
_BEFORE_RELATION = ("FROM", "JOIN", "AS")
Scope = tuple[int, ...]  # where queries begin, from the outermost that is seen
_OUTERMOST: Scope = (-1,)


def scopes(tokens: Sequence[Token]) -> list[Scope]:
    """The scope before each token, and behind the last."""
    scope_at, opened = [_OUTERMOST], [_OUTERMOST]
    for i, token in enumerate(tokens):
        if token.text == "(":
            before = tokens[i - 1].word if i else ""
            following = tokens[i + 1].word if i + 1 < len(tokens) else ""
            around = () if before in _BEFORE_RELATION else opened[-1]
            opened.append((*around, i) if following in _BEGINS_QUERY else opened[-1])
        elif token.text == ")" and len(opened) > 1:
            opened.pop()
        scope_at.append(opened[-1])
    return scope_at


def is_visible(relation: Scope, cursor: Scope) -> bool:
    """Whether a relation of one scope can be named at a cursor in another."""
    return cursor[: len(relation)] == relation
