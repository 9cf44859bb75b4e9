"""Clauses that were left unfinished, where the parser passes over what is missing.

sqlglot reads GROUP BY and ORDER BY as one word each, so either without its BY is a name to it. In
front of nothing else such a word is a clause that was left unfinished, as it is in PostgreSQL. The
name of a common table expression stands where no clause can: `WITH offset AS (..)`. It also takes
SELECT, GROUP BY and DISTINCT of nothing, a second FROM and a frame of a window without a side.
"""

from collections.abc import Sequence
from itertools import pairwise, zip_longest

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.unsupported import unsupported_clause
from pykudu_sql.planner.token_rewrites.clause_order import check_clause_order
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_FROM, _GROUP_BY, _DISTINCT = TokenType.FROM, TokenType.GROUP_BY, TokenType.DISTINCT
_ENDS_CLAUSE = frozenset(
    {
        TokenType.R_PAREN, TokenType.HAVING, TokenType.QUALIFY, TokenType.ORDER_BY, TokenType.LIMIT,
        TokenType.WINDOW, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT,
    }
)  # fmt: skip
_BEHIND_COLUMNS = _ENDS_CLAUSE | {TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY}
_CHECKED = frozenset({TokenType.LIMIT, TokenType.APPLY, TokenType.OVER, TokenType.WINDOW})
_TWICE = 'leave one FROM out, or write AS "from" if it is a name'
_ARGUMENTS = {"GROUP": "GROUP BY a", "ORDER": "ORDER BY a", "OFFSET": "OFFSET 10"}


def check_aliases(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """See that no alias without AS is a word that begins a clause.

    Args:
        tree: of a statement.
        tokens: that it was parsed from.

    Raises SyntaxError: one is.
    """
    reserved = {
        token.start: token
        for before, token in pairwise(tokens)
        if token.text.upper() in _ARGUMENTS
        and token.token_type is not TokenType.IDENTIFIER
        and before.token_type is not TokenType.ALIAS
    }
    if not reserved:
        return
    for node in nodes_of(tree, exp.Alias, exp.TableAlias):
        if isinstance(node.parent, exp.CTE):
            continue
        name = node.args.get("alias" if isinstance(node, exp.Alias) else "this")
        token = reserved.get(name.meta.get("start", -1)) if isinstance(name, exp.Expr) else None
        if token is None:
            continue
        word = token.text.upper()
        raise SyntaxError(
            f'syntax error at or near "{token.text}"',
            hint=f'write {_ARGUMENTS[word]}, or AS "{token.text.lower()}" for a name',
            span=SourceSpan(token.start, len(token.text)),
        )


def check_clauses(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """See that clauses stand in their order, and that none lacks what it is about.

    Args:
        tree: of a statement.
        tokens: that it was parsed from.

    Raises SyntaxError: one does, or stands elsewhere; NotSupportedError: it is one of other
    databases.
    """
    check_clause_order(tokens)
    has_checked = False
    for token, following in zip_longest(tokens, tokens[1:]):
        kind, after = token.token_type, following.token_type if following else None
        has_checked = has_checked or kind in _CHECKED
        if kind is _FROM and after is _FROM and following is not None:
            raise _incomplete(following, _TWICE)
        if kind is TokenType.SELECT and after in _BEHIND_COLUMNS:
            raise SyntaxError(
                "SELECT without columns",
                hint="name them, or write SELECT * for all; EXISTS (SELECT 1 ..) needs none",
                span=_span(token),
            )
        if kind is _GROUP_BY and (after is None or after in _ENDS_CLAUSE):
            raise _incomplete(token, "name the columns of a group behind it, or ALL")
        if kind is TokenType.HASH:
            raise unsupported_clause("#n", _span(token))
        if kind is _DISTINCT and after is TokenType.R_PAREN:
            raise _incomplete(token, "an expression is expected behind it")
    for node in nodes_of(tree, exp.Limit, exp.Lateral, exp.WindowSpec) if has_checked else ():
        _check_node(node)


def _check_node(node: exp.Expr) -> None:
    if isinstance(node, exp.Limit) and node.expressions:
        raise unsupported_clause("LIMIT .. BY", _first_span(node))
    is_cross = node.args.get("cross_apply")
    if is_cross is not None:
        what = "CROSS APPLY" if is_cross else "OUTER APPLY"
        raise unsupported_clause(what, _first_span(node))
    start = node.args.get("start")
    if isinstance(start, exp.Expr) and node.args.get("start_side") is None:
        kind = node.args.get("kind") or "ROWS"
        raise SyntaxError(
            "the frame of a window lacks PRECEDING or FOLLOWING",
            hint=f"write {kind} 1 PRECEDING, or {kind} BETWEEN 1 PRECEDING AND CURRENT ROW",
            span=_first_span(start),
        )


def _incomplete(token: Token, hint: str) -> SyntaxError:
    return SyntaxError(
        f'syntax error at or near "{token.text}"',
        hint=hint,
        span=_span(token),
    )


def _span(token: Token) -> SourceSpan:
    return SourceSpan(token.start, len(token.text))


def _first_span(node: exp.Expr) -> SourceSpan | None:
    return next(filter(None, map(node_span, nodes_of(node, exp.Expr))), None)
