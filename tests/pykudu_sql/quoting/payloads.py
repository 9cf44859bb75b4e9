"""Statements with a name or a text that would be SQL if it were printed as it is."""

import random
from collections.abc import Iterator
from pathlib import Path

from pykudu_sql.planner.parse.lexer import Token, TokenKind, tokenize
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.records import Failure, QueryRecord, StatementRecord
from pykudu_sql.storage.errors import Error

SCRIPTS = Path(__file__).resolve().parents[3] / "sql_tests"
# Functions that no statement may reach, in lower case.
MARKERS = ("current_setting", "getenv", "read_text", "duckdb_settings")
CALLS = ("(current_setting('temp_directory'))", "getenv('HOME')", "(FROM read_text('/etc/hosts'))")

# What stands before a call and behind it, so that something around may take both for its own.
_FRAMES = (
    ("x), ", ", (y"), ("day, ", ", interval 1 day"), ("int), ", ", CAST(1 AS int"),
    ("year FROM now()), ", ", extract(year"), ("year FROM now()) || ", " || extract(year"),
    ("varchar), ", ", CAST('x' AS varchar"), ("1), ", ", (1"), ("day) + ", " + (day"),
    ("day', now()), ", ", date_trunc('day"), ("' || ", " || '"), ("'', ", ", ''"), ('", ', ', "'),
    ("*/ ", " /*"), ("/* */", ""), ("--\n", "\n--"), ("\n", "\n"), ("; SELECT ", ";"),
    ("$$ ", " $$"),
    ("$x$", "$x$"), ("\\' ", " \\'"), ("a.", ".b"), ("int := ", ""), ("x => ", ""), ("int ", ""),
    (") x, ", " (y"), ("ROWS ", ""), ("] , ", ", ["), ("} , ", ", {"), ("\u2019, ", ", \u2019"),
    ("\u00a0", "\u00a0"), ("\u0130, ", ""), ("\ufeff", ""), ("\U0001f600", ""),
    ("", ""), ("upper(", ")"), ("NULL AS ", ""), ("FROM ", " AS t"), ("decimal(1, ", ")"),
    ("struct(a int), ", ", (x int"), ("%Y', ", ", '%Y"), ("$.a', ", ", '$.b"), ("$[", "]"),
)  # fmt: skip
# Statements with the places that the scripts have too few of, over the tables of SETUP.
SHAPES = Path(__file__).with_name("shapes.sql").read_text(encoding="utf-8").split(";\n")[:-1]
SETUP = (
    "CREATE TABLE t (k INT PRIMARY KEY, b STRING, v DOUBLE, ts TIMESTAMP)",
    "CREATE TABLE u (k INT PRIMARY KEY, b STRING, v DOUBLE, ts TIMESTAMP)",
    "INSERT INTO t VALUES (1, 'x', 1.5, '2020-01-01'), (2, 'y', NULL, '2021-01-01')",
    "INSERT INTO u VALUES (1, 'x', 1.5, '2020-01-01'), (3, 'z', NULL, '2021-01-01')",
)


def corpus() -> Iterator[list[str]]:
    """Runs of statements, each to be played in a database of its own."""
    yield [*SETUP, *SHAPES]
    for script in sorted(SCRIPTS.glob("*.test")):
        records = parse(script.read_text(encoding="utf-8"))
        yield [
            record.sql
            for record in records
            if isinstance(record, QueryRecord)
            or (isinstance(record, StatementRecord) and not isinstance(record.expected, Failure))
        ]


def mutations(sql: str, count: int, rng: random.Random) -> Iterator[str]:
    """A statement, so many times, each time with a payload in place of a token or behind it."""
    try:
        tokens = [token for token in tokenize(sql) if token.kind is not TokenKind.END]
    except Error:
        return
    places = [token for token in tokens[1:] if token.kind is not TokenKind.SYMBOL] or tokens
    for _ in range(count):
        yield _mutated(sql, rng.choice(places), rng)


def _mutated(sql: str, token: Token, rng: random.Random) -> str:
    before, behind = rng.choice(_FRAMES)
    quoted = _quoted(f"{before}{rng.choice(CALLS)}{behind}", rng)
    match rng.randrange(8):
        case 0:
            return f"{sql[: token.end]} {quoted}{sql[token.end :]}"
        case 1:
            return f"{sql[: token.end]}.{quoted}{sql[token.end :]}"
        case 2:
            return f"{sql[: token.start]}{quoted}.{sql[token.start :]}"
        case 3:
            return f"{sql[: token.start]}{quoted}({token.text}){sql[token.end :]}"
        case _:
            return f"{sql[: token.start]}{quoted}{sql[token.end :]}"


def _quoted(text: str, rng: random.Random) -> str:
    mark = rng.choice(("'", '"', '"', "`"))
    return mark + text.replace(mark, mark * 2) + mark
