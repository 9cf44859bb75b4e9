"""The columns behind USING of a join or MERGE: plain names, of which sqlglot keeps the last part.

Its parser reads `USING (s.t.a)` as `USING (a)`, and takes what is no name as well.
"""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_JOIN_WORDS = ("kind", "side", "method", "on", "using")


def is_comma(join: exp.Join) -> bool:
    """Whether a join is written as a comma."""
    return not any(join.args.get(key) for key in _JOIN_WORDS)


def check_using_lists(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """See that behind USING stand names without qualifiers, at least one.

    Args:
        tree: of a statement.
        tokens: that it was parsed from.

    Raises SyntaxError: something else does.
    """
    if all(token.token_type is not TokenType.USING for token in tokens):
        return
    dotted = {name.start for dot, name in pairwise(tokens) if dot.token_type is TokenType.DOT}
    for node in nodes_of(tree, exp.Join, exp.Merge):
        listed = node.args.get("using" if isinstance(node, exp.Join) else "using_cond")
        if listed == []:
            raise _no_names(node_span(node.args["this"]))
        for name in listed or ():
            if not isinstance(name, exp.Identifier) or name.meta.get("start") in dotted:
                raise _no_names(node_span(name))


def _no_names(span: SourceSpan | None) -> SyntaxError:
    return SyntaxError(
        "behind USING stand names of columns that both tables have",
        hint="USING (a, b), or ON with a condition",
        span=span,
    )
