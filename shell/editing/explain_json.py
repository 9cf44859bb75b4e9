"""EXPLAIN of a query as the same statement with FORMAT JSON, from which the plan is drawn.

A pure function of tokens. Statements that change rows are left out: where there is nothing to draw,
the statement itself runs after this one, and would change them twice.
"""

from pykudu_sql.shell.editing.tokens import Kind, tokenize, words

_QUERIES = words("SELECT FROM VALUES WITH")
_CHANGES = words("INSERT UPSERT UPDATE DELETE MERGE")


def explain_as_json(sql: str) -> str | None:
    """An EXPLAIN of a query with FORMAT JSON added; None for any other statement."""
    tokens = [t for t in tokenize(sql) if t.kind not in (Kind.SPACE, Kind.COMMENT)]
    typed = [token.word for token in tokens]
    if typed[:1] != ["EXPLAIN"]:
        return None
    analyze = typed[1:2] == ["ANALYZE"]
    begins = 2 if analyze else 1
    if len(tokens) <= begins or typed[begins] not in _QUERIES or _CHANGES.intersection(typed):
        return None
    how = "ANALYZE, FORMAT JSON" if analyze else "FORMAT JSON"
    return f"EXPLAIN ({how}) {sql[tokens[begins].start :]}"
