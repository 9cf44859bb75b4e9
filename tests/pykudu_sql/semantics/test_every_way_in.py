"""One value is stored alike, whichever way it comes in; what one way refuses, all refuse."""

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql import Connection

Way = Callable[[Connection, pa.Array, Any], object]


def _table(values: pa.Array) -> pa.Table:
    return pa.table({"k": pa.array(range(len(values)), pa.int32()), "v": values})


def _file(connection: Connection, values: pa.Array) -> None:
    pq.write_table(_table(values), "rows.parquet")
    connection.execute("COPY t FROM 'rows.parquet'")


def _many(connection: Connection, value: Any) -> None:
    rows = [(k, value) for k in range(1000)]
    connection.cursor().executemany("INSERT INTO t VALUES (?, ?)", rows)


def _update(connection: Connection, value: Any) -> None:
    connection.execute("INSERT INTO t VALUES (0, NULL)")
    connection.execute("UPDATE t SET v = ? WHERE k >= 0", [value])


WAYS: dict[str, Way] = {
    "parameter": lambda c, _, v: c.execute("INSERT INTO t VALUES (0, ?)", [v]),
    "computed": lambda c, _, v: c.execute("INSERT INTO t SELECT 0, ?", [v]),
    "list": lambda c, _, v: c.append("t", [(0, v)]),
    "executemany": lambda c, _, v: _many(c, v),
    "update": lambda c, _, v: _update(c, v),
    "frame": lambda c, a, _: c.execute("INSERT INTO t SELECT k, v FROM frame"),
    "arrow": lambda c, a, _: c.append("t", _table(a)),
    "chunks": lambda c, a, _: c.append("t", _table(pa.chunked_array([a.slice(0, 0), a]))),
    "numpy": lambda c, _, v: c.append("t", {"k": np.array([0]), "v": np.array([v])}),
    "pandas": lambda c, _, v: c.append("t", pd.DataFrame({"k": [0], "v": [v]})),
}

_EAST = dt.timezone(dt.timedelta(hours=2))

STORED: list[tuple[str, Any, Any]] = [
    ("DECIMAL(9,2)", 1.005, Decimal("1.01")),
    ("DECIMAL(9,2)", -1.005, Decimal("-1.01")),
    ("DECIMAL(9,2)", 2.675, Decimal("2.68")),
    ("DECIMAL(9,2)", 1.0049, Decimal("1.00")),
    ("DECIMAL(9,0)", 0.5, Decimal(1)),
    ("DECIMAL(9,0)", 2.5, Decimal(3)),
    ("DECIMAL(9,2)", 1e-300, Decimal("0.00")),
    ("DECIMAL(38,30)", 0.1, Decimal("0.1")),
    ("DECIMAL(38,38)", 1.2345678901234566e-25, Decimal("1.2345678901235e-25")),
    ("DECIMAL(38,0)", 1e30, Decimal(10**30)),
    ("DECIMAL(9,2)", "1.005", Decimal("1.01")),
    ("DOUBLE", 2**53 + 1, float(2**53)),
    ("BIGINT", 3.0, 3),
    ("BOOLEAN", 1, True),
    ("BOOLEAN", "t", True),
    ("BOOLEAN", "F", False),
    ("STRING", 1.0, "1.0"),
    ("STRING", 1e10, "10000000000.0"),
    ("STRING", 1e15, "1000000000000000.0"),
    ("STRING", 1e16, "1e+16"),
    ("STRING", 1e-05, "1e-05"),
    ("STRING", 1.5e-07, "1.5e-07"),
    ("STRING", 0.0001, "0.0001"),
    ("STRING", Decimal("0.0000001"), "0.0000001"),
    ("STRING", dt.datetime(2024, 1, 1, 5), "2024-01-01 05:00:00"),
    ("STRING", dt.datetime(2024, 1, 1, 5, 0, 0, 500_000), "2024-01-01 05:00:00.5"),
    ("STRING", dt.date(2024, 1, 1), "2024-01-01"),
    ("VARCHAR(2)", 123.0, "12"),
    ("STRING", dt.datetime(2026, 1, 31, 1, tzinfo=_EAST), "2026-01-30 23:00:00"),
    ("DATE", dt.datetime(2026, 1, 31, 1, tzinfo=_EAST), dt.date(2026, 1, 30)),
    ("DATE", "2026-01-31 12:00:00", dt.date(2026, 1, 31)),
    ("DATE", "2026-01-31 01:00:00+02:00", dt.date(2026, 1, 30)),
    ("INT", "+5", 5),
    ("INT", " 5 ", 5),
    ("TIMESTAMP", "2026-01-31 12:00:00.1234567", dt.datetime(2026, 1, 31, 12, 0, 0, 123456)),
    ("TIMESTAMP", "2026-01-31 12:00:00 +02:00", dt.datetime(2026, 1, 31, 10)),
]

REFUSED: list[tuple[str, Any]] = [
    ("TIMESTAMP", 1_700_000_000_000_000),
    ("TIMESTAMP", 1.0),
    ("DATE", 19_000),
    ("BOOLEAN", 2),
    ("BOOLEAN", "yes!"),
    ("INT", 2.5),
    ("INT", 2**32 - 1),
    ("BIGINT", 2**63 + 5),
    ("DECIMAL(18,0)", 2**63 + 5),
    ("INT", 1e20),
    ("DECIMAL(38,2)", float("inf")),
    ("DECIMAL(9,2)", 1e8),
    ("BIGINT", dt.datetime(2024, 1, 1)),
    ("INT", "0x10"),
    ("INT", "1_000"),
    ("INT", "\u0663"),
    ("DOUBLE", "1_000"),
    ("DOUBLE", True),
    ("DOUBLE", b"5"),
    ("DECIMAL(9,2)", "1_000"),
    ("DECIMAL(9,2)", "1" + "0" * 400),
    ("BOOLEAN", b"true"),
    ("DATE", "2026-01-31x12:00:00"),
    ("TIMESTAMP", "2026-01-31+02:00"),
    ("TIMESTAMP", "9999-12-31 23:59:59-02:00"),
    ("TIMESTAMP", "0000-01-01"),
]


@pytest.fixture
def connection(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.chdir(tmp_path)
    with pykudu_sql.connect(":memory:", autocommit=True, files=True) as connection:
        yield connection


def _store(connection: Connection, way: str, kind: str, value: Any, values: pa.Array) -> list[Any]:
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t (k INT PRIMARY KEY, v {kind})")
    connection.register("frame", _table(values))
    WAYS[way](connection, values, value)
    return connection.execute("SELECT v FROM t ORDER BY k").fetchall()


def _array(value: Any, *more: Any) -> pa.Array:
    is_large = isinstance(value, int) and value >= 2**63
    return pa.array([value, *more], pa.uint64() if is_large else None)


@pytest.mark.parametrize("way", WAYS)
def test_a_value_is_stored_alike(connection: Connection, way: str) -> None:
    stored = {
        (kind, str(value)): _store(connection, way, kind, value, _array(value))[0][0]
        for kind, value, _ in STORED
    }

    assert stored == {(kind, str(value)): cell for kind, value, cell in STORED}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_is_refused_alike(connection: Connection, way: str) -> None:
    for kind, value in REFUSED:
        with pytest.raises(pykudu_sql.DataError):
            _store(connection, way, kind, value, _array(value))


@pytest.mark.parametrize("way", ["arrow", "chunks", "frame"])
def test_null_beside_a_value_changes_nothing(connection: Connection, way: str) -> None:
    for kind, value, cell in STORED:
        assert _store(connection, way, kind, value, _array(value, None)) == [(cell,), (None,)]
    for kind, value in REFUSED:
        with pytest.raises(pykudu_sql.DataError):
            _store(connection, way, kind, value, _array(value, None))


def test_a_file_of_doubles_is_rounded_like_any_other(connection: Connection) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v DECIMAL(9,2))")
    _file(connection, pa.array([1.005, 2.675, None]))

    rows = connection.execute("SELECT v FROM t ORDER BY k").fetchall()
    assert rows == [(Decimal("1.01"),), (Decimal("2.68"),), (None,)]


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"computed", "update"}))
def test_a_short_float_is_stored_as_it_is_written(connection: Connection, way: str) -> None:
    """What a query computes of a parameter is a DOUBLE, which has more digits."""
    for kind, value, cell in [
        ("STRING", np.float32(0.1), "0.1"),
        ("STRING", np.float32(1e10), "10000000000.0"),
        ("STRING", np.float16(0.5), "0.5"),
        ("DECIMAL(9,2)", np.float32(1.005), Decimal("1.01")),
        ("DECIMAL(9,2)", np.float16(1.005), Decimal("1.00")),
        ("DOUBLE", np.float32(0.1), float(np.float32(0.1))),
    ]:
        assert _store(connection, way, kind, value, _array(value))[0] == (cell,)


def test_objects_of_a_frame_are_what_they_are_alone(connection: Connection) -> None:
    """Integers beyond 64 bits, and times with nanoseconds, which Arrow would cut."""
    late = pd.Timestamp("2026-01-31 23:59:59.9999999")
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n DECIMAL(38,0), at TIMESTAMP)")
    numbers, times = (pd.Series([value, None], dtype=object) for value in (2**64, late))
    connection.append("t", pd.DataFrame({"k": [0, 1], "n": numbers, "at": times}))
    connection.execute("INSERT INTO t VALUES (2, ?, ?)", [2**64, late])
    connection.execute("INSERT INTO t SELECT 3, ?, ?", [2**64, late])

    rows = connection.execute("SELECT n, at FROM t WHERE k <> 1 ORDER BY k").fetchall()
    assert rows == [(Decimal(2**64), dt.datetime(2026, 2, 1))] * 3


def test_a_literal_is_read_as_its_type_first(connection: Connection) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, s STRING, b BINARY)")
    connection.execute(
        "INSERT INTO t (k, s) VALUES (0, TIMESTAMP '2026-01-31 12:00:00.50+02:00'), "
        "(1, DATE '2026-01-31')"
    )
    rows = connection.execute("SELECT s FROM t ORDER BY k").fetchall()
    assert rows == [("2026-01-31 10:00:00.5",), ("2026-01-31",)]
    for literal in ("TIMESTAMP 'abc'", "TIMESTAMP '9999-12-31 23:59:59-02:00'", "DATE '20260131'"):
        with pytest.raises(pykudu_sql.DataError):
            connection.execute(f"INSERT INTO t (k, s) VALUES (2, {literal})")
    with pytest.raises(pykudu_sql.DataError):
        connection.execute("INSERT INTO t (k, b) VALUES (2, DATE '2026-01-31')")


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_a_text_of_a_file_is_stored_alike_or_refused(
    connection: Connection, name: str, tmp_path: Any
) -> None:
    """A file's text that would lose a part is refused besides."""
    texts = [(kind, value, cell) for kind, value, cell in STORED if isinstance(value, str)]
    refused = [(kind, value, None) for kind, value in REFUSED if isinstance(value, str)]
    for kind, value, cell in [*texts, *refused]:
        line = f'k,v\n0,"{value}"' if name.endswith("csv") else f'{{"k": 0, "v": "{value}"}}'
        (tmp_path / name).write_text(line + "\n")
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(f"CREATE TABLE t (k INT PRIMARY KEY, v {kind})")
        try:
            connection.execute(f"COPY t FROM '{name}'")
        except pykudu_sql.DataError:
            continue
        assert connection.execute("SELECT v FROM t").fetchall() == [(cell,)]
