"""What COPY writes it reads again as the same values, in every format; readers all see the same."""

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection

_TEXTS = [
    *("", "NULL", "null", "\\N", "a,b", 'q"uote', "'", "line\nbreak", "cr\rlf\r\n", " blanks "),
    *("\x00", "a\x00b", "\xe9\U0001f600", "\ufeffbom", "\\x41", "\t", "true", "5", "#", "\u2028"),
    *("\x1a", "\x85", "''", '""'),
]
VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, 127, 0],
    "BIGINT": [-(2**63), 2**63 - 1],
    "FLOAT": [0.0, -0.0, math.nan, math.inf, -math.inf, 2.0**128 - 2.0**104, 2.0**-149, 2.0**24],
    "DOUBLE": [0.0, -0.0, math.nan, math.inf, -math.inf, 1.7976931348623157e308, 5e-324, 0.1, 1e16],
    "DECIMAL(9,2)": [Decimal("9999999.99"), Decimal("-9999999.99"), Decimal("0.00")],
    "DECIMAL(18,18)": [Decimal("0." + "9" * 18), Decimal("-1e-18")],
    "DECIMAL(38,0)": [Decimal("9" * 38), Decimal("-" + "9" * 38)],
    "DECIMAL(38,38)": [Decimal("0." + "9" * 38), Decimal("-1e-38")],
    "DATE": [dt.date.min, dt.date.max, dt.date(1582, 10, 10), dt.date(1969, 12, 31)],
    "TIMESTAMP": [dt.datetime.min, dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)],
    "STRING": _TEXTS,
    "VARCHAR(5)": ["", "abcde", "\xe9\U0001f600\xe9\U0001f600\xe9", " ", "\x00"],
    "BINARY": [b"", b"\x00", b"\xff\xfe", b"\\x41", bytes(range(256)), b"\\x", b"\n", b'"', b","],
}
FORMATS = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "arrow", "orc")


@pytest.fixture
def connection(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.chdir(tmp_path)
    with pykudu_sql.connect("db", autocommit=True, files=True) as connection:
        yield connection


def _filled(connection: Connection, kind: str) -> str:
    """The table of a type's values, as a text, since NaN equals nothing and -0.0 does zero."""
    rows = list(enumerate([*VALUES[kind], None]))
    connection.execute(f"CREATE TABLE t (k INT PRIMARY KEY, v {kind})")
    connection.cursor().executemany("INSERT INTO t VALUES (?, ?)", rows)
    return repr(rows)


@pytest.mark.parametrize("kind", VALUES)
def test_all_readers_see_what_was_written(connection: Connection, kind: str) -> None:
    rows = _filled(connection, kind)
    query = "SELECT k, v FROM t ORDER BY k"

    table = connection.execute(query).fetch_arrow_table()
    assert repr(connection.execute(query).fetchall()) == rows
    assert repr([tuple(row.values()) for row in table.to_pylist()]) == rows
    connection.execute("FLUSH t")
    assert repr(connection.execute(query).fetchall()) == rows


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("kind", VALUES)
def test_what_is_copied_out_is_copied_in(
    connection: Connection, kind: str, file_format: str
) -> None:
    rows = _filled(connection, kind)
    path = f"rows.{file_format}"
    if kind == "TIMESTAMP" and file_format == "orc":
        with pytest.raises(pykudu_sql.DataError, match="ORC files have no"):
            connection.execute(f"COPY t TO '{path}'")
        return
    for source in ("t", "(SELECT k, v FROM t WHERE k >= 0 OR k * 2 < 0)"):
        connection.execute(f"COPY {source} TO '{path}'")
        connection.execute("DROP TABLE IF EXISTS again")
        connection.execute(f"CREATE TABLE again (k INT PRIMARY KEY, v {kind})")
        connection.execute(f"COPY again FROM '{path}'")

        copied = connection.execute("SELECT k, v FROM again ORDER BY k").fetchall()
        expected = rows
        if file_format == "jsonl":  # which has no word for them
            expected = rows.replace("-inf", "None").replace("inf", "None").replace("nan", "None")
        assert repr(copied) == expected
