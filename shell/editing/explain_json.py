"""EXPLAIN as the shell asks for it, to draw the plan: the same statement with FORMAT JSON.

A pure function of tokens. Only queries are asked so: they may run once more when there is nothing
to draw, and what changes rows must not.
"""

from pykudu_sql.shell.editing.tokens import Kind, tokenize, words

_QUERIES = words("SELECT FROM VALUES WITH")
_CHANGES = words("INSERT UPSERT UPDATE DELETE MERGE")


def as_json(sql: str) -> str | None:
    """The statement that explains as JSON what `sql` explains as text; None for another one."""
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
