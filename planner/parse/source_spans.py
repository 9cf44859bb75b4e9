"""Where nodes of a tree stand in their statement; see `error_positions` for what becomes of it."""

from sqlglot import exp

from pykudu_sql.storage.errors import SourceSpan


def node_span(node: exp.Expr) -> SourceSpan | None:
    """Where a node stands in its statement, None if the parser kept no place."""
    for candidate in (node, node.this if isinstance(node.this, exp.Expr) else None):
        if candidate is not None and "start" in candidate.meta:
            start, end = candidate.meta["start"], candidate.meta["end"]
            return SourceSpan(start, end - start + 1)
    return None
