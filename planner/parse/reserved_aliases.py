"""Words that begin a clause where the parser takes them for an alias: `SELECT a FROM t GROUP`.

sqlglot reads GROUP BY and ORDER BY as one word each, so either without its BY is a name to it. In
front of nothing else such a word is a clause that was left unfinished, as it is in PostgreSQL. The
name of a common table expression stands where no clause can: `WITH offset AS (..)`.
"""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

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
