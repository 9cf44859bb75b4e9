"""Tables and files that jobs are tried on, in this process and on Spark."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pykudu_sql
from pykudu_sql import Connection

Rows = list[tuple[object, ...]]
RANGED_TABLE = (
    "CREATE TABLE t (day DATE, id BIGINT, name VARCHAR(2), price DECIMAL(5,2), "
    "PRIMARY KEY (day, id)) PARTITION BY HASH (id) PARTITIONS 2, RANGE (day, id) "
    "(PARTITION ('2026-01-01', 0) <= VALUES < ('2026-02-01', 0), "
    "PARTITION ('2026-03-01', 5) <= VALUES)"
)
REJECTED_ROWS = """\
day,id,name,price
2026-01-05,1,a,1.50

2026-01-05,1,"two
lines",2
2026-02-10,2,late,3
,3,none,3
2026-01-06,4,"x
y",1.234
2026-01-06,x,b,1
2026-01-07,7,there,1
2026-03-01,5,edge,1
2026-03-01,4,before,1
"""
# The lines of those that do not fit a `RANGED_TABLE` with the row (2026-01-07, 7), and why.
REASONS_OF_REJECTS = [
    (4, "key (day, id) = (2026-01-05, 1) is given twice"),
    (6, "no range partition covers (day, id) = ('2026-02-10', 2)"),
    (7, "column 'day' must not be NULL"),
    (8, "column 'price': '1.234' is no DECIMAL(5,2)"),
    (10, "column 'id': 'x' is no BIGINT"),
    (11, "key (day, id) = (2026-01-07, 7) is present already"),
    (13, "no range partition covers (day, id) = ('2026-03-01', 4)"),
]
PLAIN_TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING, i INT, d DATE, b BINARY)"
COLUMNS_OF_ALL_TYPES = (
    "id BIGINT PRIMARY KEY, a BOOLEAN, b TINYINT, c SMALLINT, d INT, e FLOAT, f DOUBLE, "
    "g DECIMAL(5,2), h DECIMAL(38,38), j DATE, k TIMESTAMP, l STRING, m VARCHAR(5), n BINARY"
)
VALUES_OF_ALL_TYPES = (
    True, -128, -32768, -(2**31), 0.1, -0.1, Decimal("-999.99"), Decimal("0." + "9" * 38),
    dt.date(1, 1, 1),
)  # fmt: skip
TEXTS = ("", " x ", 'q"u,o\nte\r\n', "\\N", "NULL", "\\", "#", "\u2028\x7f\x01", "\\x00")


def run(path: str, *statements: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def content(path: str, sql: str = "SELECT * FROM t ORDER BY id") -> Rows:
    with pykudu_sql.connect(path, read_only=True) as connection:
        return [tuple(row) for row in connection.execute(sql).fetchall()]


def make_tables_of_all_types(connection: Connection, moment: dt.datetime) -> int:
    """Table `t` with rows of extreme values, and an empty `copy` of its kind; the rows of `t`."""
    connection.execute(f"CREATE TABLE t ({COLUMNS_OF_ALL_TYPES})")
    connection.execute(f"CREATE TABLE copy ({COLUMNS_OF_ALL_TYPES})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * 14)})",
        [
            (i, *VALUES_OF_ALL_TYPES, moment, text, text[:5], text.encode())
            for i, text in enumerate(TEXTS)
        ],
    )
    connection.execute("INSERT INTO t (id) VALUES (-1)")
    return len(TEXTS) + 1


def read_rejects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_texts(folder: Path, files: dict[str, str]) -> list[str]:
    """Files of some texts by name; their paths."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]
