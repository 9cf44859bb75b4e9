"""Statements to mutate: those of the golden scripts, and shapes of expressions and of clauses."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.records import ExplainRecord, QueryRecord, StatementRecord

_HERE = Path(__file__).resolve().parent
SCRIPTS = _HERE.parents[2] / "sql_tests"
# Where an expression may stand.
_CONTEXTS = ("{}", "SELECT {}", "SELECT {} FROM t", "SELECT a FROM t WHERE {}")


def connect() -> Connection:
    """An empty database in memory whose statements end soon."""
    return pykudu_sql.connect(
        ":memory:", autocommit=True, implicit_primary_key=True, statement_timeout=5000
    )


def world() -> Connection:
    """The tables that the shapes are about."""
    connection = connect()
    columns = "a INT PRIMARY KEY, b INT, c BIGINT, d DOUBLE, s STRING, at TIMESTAMP"
    for name in ("t", "u"):
        connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.execute(
            f"INSERT INTO {name} VALUES (1, 2, 3, 1.5, 'x', '2026-01-31 12:00:00'),"
            " (2, NULL, 4, NULL, 'abc', NULL), (3, 7, NULL, -1, NULL, '2026-02-01')"
        )
    connection.execute("CREATE VIEW v AS SELECT a, b FROM t")
    return connection


def scripts() -> Iterator[Sequence[str]]:
    """The statements of each golden script, in order."""
    for path in sorted(SCRIPTS.glob("*.test")):
        records = parse(path.read_text(encoding="utf-8"))
        yield [
            r.sql for r in records if isinstance(r, StatementRecord | QueryRecord | ExplainRecord)
        ]


def shapes() -> Sequence[str]:
    """Each shape of an expression where one may stand, and each shape of a clause."""
    lines = (_HERE / "shapes.sql").read_text(encoding="utf-8").splitlines()
    clauses = (_HERE / "clauses.sql").read_text(encoding="utf-8").splitlines()
    return [*clauses, *expressions(lines)]


def expressions(lines: Sequence[str]) -> Iterator[str]:
    """Lines as statements of their own and as expressions in some."""
    for line in filter(str.strip, lines):
        yield from (context.format(line) for context in _CONTEXTS)
