"""Statements and clauses of other databases that are not supported, and what to write instead."""

from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan

_FILES = "files are loaded by COPY t FROM 'file', and by connection.append(table, data)"
_RIGHTS = "who may read the files may read the database"
_PIVOT = "write a column for each value: sum(CASE WHEN k = 'a' THEN v END) AS a"
_UNPIVOT = "write SELECT .., 'a' AS k, a AS v FROM t UNION ALL SELECT .., 'b', b FROM t"
_LOCKS = "transactions need no locks: the first to commit wins"
_CURSORS = "a query's rows are read as they are needed: fetchmany() of a cursor"
_CHANGES = "CHANGES(t, a, b) lists what happened to a table"
_HEADS: Mapping[str, str] = {
    "GRANT": _RIGHTS,
    "REVOKE": _RIGHTS,
    "LOAD": _FILES,
    "ATTACH": "a connection has one database; open another connection",
    "DETACH": "close the connection",
    "CALL": "there are no procedures",
    "LOCK": _LOCKS,
    "PIVOT": _PIVOT,
    "UNPIVOT": _UNPIVOT,
    "CHECKPOINT": "FLUSH writes what is in memory to files",
    "REINDEX": "indexes are always up to date",
    "RENAME": "write ALTER TABLE a RENAME TO b",
    "UNLOCK": _LOCKS,
    "DECLARE": _CURSORS,
    "FETCH": _CURSORS,
    "DO": "there are no procedures",
    "KILL": "interrupt() of a connection, or Ctrl-C, ends its statement",
    "LISTEN": _CHANGES,
    "NOTIFY": _CHANGES,
    "DISCARD": "RESET name sets a setting back, DEALLOCATE ALL forgets prepared statements",
    "INSTALL": "there are no extensions",
    "EXPORT": "COPY t TO 'file' writes a table, pykudu-sql backup a database",
    "IMPORT": _FILES,
    "MSCK": "partitions are always known",
    "CACHE": "blocks that are read stay in memory by themselves",
    "UNCACHE": "blocks that are read stay in memory by themselves",
}
_TEMPORARY = "create a table and drop it again"
_PLAIN = "write CREATE TABLE"
_DEFINED: Mapping[str, str] = {
    "MATERIALIZED": "CREATE TABLE .. AS SELECT keeps the rows of a query",
    "TEMPORARY": _TEMPORARY,
    "TEMP": _TEMPORARY,
    "SEQUENCE": "the hidden counter of a NON UNIQUE PRIMARY KEY numbers rows",
    "FUNCTION": "SHOW FUNCTIONS lists those there are",
    "TRIGGER": _CHANGES,
    "ROLE": _RIGHTS,
    "USER": _RIGHTS,
    "PROCEDURE": "there are no procedures",
    "MACRO": "CREATE VIEW names a query, PREPARE one with parameters",
    "TYPE": "a CHECK constraint lists the values of a column",
    "DOMAIN": "a CHECK constraint lists the values of a column",
    "EXTENSION": "there are no extensions",
    "GLOBAL": _TEMPORARY,
    "LOCAL": _TEMPORARY,
    "VIRTUAL": _PLAIN,
    "FOREIGN": _PLAIN,
    "UNLOGGED": _PLAIN,
    "TRANSIENT": _PLAIN,
    "SYSTEM": "SET DATABASE name = value keeps a setting in the database",
    "SESSION": "SET name = value changes a setting of the session",
}
_DEFINING = frozenset({"CREATE", "ALTER", "DROP"})


_CLAUSES: Mapping[str, str] = {
    "PIVOT": _PIVOT,
    "UNPIVOT": _UNPIVOT,
    "TABLESAMPLE": "write WHERE random() < 0.1, or a condition on the key",
    "COLUMNS(...)": "it stands in a SELECT list, with *, names in [] or a regular expression",
    "SELECT INTO": "write CREATE TABLE t PRIMARY KEY (...) AS SELECT ..",
    "FOR UPDATE": "transactions need no locks: the first to commit wins",
    "@variables": "parameters are written ? or :name",
    "COLLATE": "texts compare by bytes; write lower(x) where case does not matter",
    "#>": "write json -> '$.a[0]'",
    "#>>": "write json ->> '$.a[0]'",
    "CONNECT BY": "write WITH RECURSIVE",
    "WITH OFFSET": "write WITH ORDINALITY, which counts from 1",
    "AT (...)": "write t FOR SYSTEM_TIME AS OF '2026-01-31 12:00:00'",
}
_NODES: Mapping[type[exp.Expr], str] = {
    exp.Columns: "COLUMNS(...)",
    exp.Pivot: "PIVOT",
    exp.TableSample: "TABLESAMPLE",
    exp.Into: "SELECT INTO",
    exp.Lock: "FOR UPDATE",
    exp.Parameter: "@variables",
    exp.SessionParameter: "@@variables",
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.HistoricalData: "AT (...)",
    exp.Connect: "CONNECT BY",
    exp.Collate: "COLLATE",
    exp.JSONBExtract: "#>",
    exp.JSONBExtractScalar: "#>>",
    exp.DDL: "a statement inside a query",
    exp.DML: "a statement inside a query",
}
_UNSUPPORTED_NODES = tuple(_NODES)
_OFFSET = TokenType.OFFSET
_BEGINS_WITH_QUERY = (["("], ["MATERIALIZED"], ["NOT"])


def unsupported_clause(what: str, span: SourceSpan | None) -> NotSupportedError:
    """The error for a clause of a query that is not supported; says what there is instead."""
    return NotSupportedError(f"{what} is not supported", hint=_CLAUSES.get(what), span=span)


def refuse_unsupported_node(node: exp.Expr) -> None:
    """Refuse a node of a query that stands for what is not supported; let others pass.

    Raises NotSupportedError: it does.
    """
    if isinstance(node, _UNSUPPORTED_NODES):
        what = next(what for kind, what in _NODES.items() if isinstance(node, kind))
        raise unsupported_clause(what, node_span(node))


def refuse_with_offset(tokens: Sequence[Token]) -> None:
    """Refuse BigQuery's `unnest(x) WITH OFFSET`, which the parser takes for WITH ORDINALITY.

    Raises NotSupportedError: there is one.
    """
    for i in [i for i, token in enumerate(tokens) if token.token_type is _OFFSET]:
        if not i or tokens[i - 1].token_type is not TokenType.WITH:
            continue
        behind = [each.text.upper() for each in tokens[i + 1 : i + 3]]
        if behind[:1] == ["("] or (behind[:1] == ["AS"] and behind[1:] in _BEGINS_WITH_QUERY):
            continue
        raise unsupported_clause("WITH OFFSET", SourceSpan(tokens[i].start, 6))


def refuse_unsupported_statement(tokens: TokenStream) -> None:
    """Refuse a known statement that is not supported and say what to write; let others pass.

    `tokens`: at the statement's first word. Raises NotSupportedError: it is one of those.
    """
    first, second = tokens.current, tokens.ahead(1)
    if first.word in _DEFINING and second.word in _DEFINED:
        what, hint = f"{first.word} {second.word}", _DEFINED[second.word]
    elif first.word in _HEADS:
        what, hint = first.word, _HEADS[first.word]
    else:
        return
    span = first.span
    raise NotSupportedError(f"{what} is not supported", hint=hint, span=span)
