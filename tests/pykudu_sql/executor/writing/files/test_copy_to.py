"""COPY TO: the rows of a query as a file, which COPY FROM reads back as they were."""

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.reading import row_batches, scanned_rows
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.executor.writing.files import copy_options, copy_to
from pykudu_sql.files.writing import row_writers
from pykudu_sql.storage.errors import DataError, Error

NAMES = ("x.csv", "x.tsv", "x.csv.gz", "x.csv.zst", "x.json", "x.ndjson.gz", "x.parquet", "x.orc",
         "x.arrow")  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
ROW = st.tuples(
    TEXT | st.sampled_from(["", "NA", "a,b", 'q"', "l\nm", "r\r", "\\", "\x1f\x7f"]) | st.none(),
    st.decimals(-(10**6), 10**6, places=9) | st.none(),
    st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)) | st.none(),
    st.dates() | st.none(),
    st.booleans() | st.none(),
    st.binary(max_size=5) | st.none(),
)  # fmt: skip


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    opened = pykudu_sql.connect(autocommit=True, files=str(tmp_path))
    opened.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, s STRING, d DECIMAL(18,9), f DOUBLE, ts TIMESTAMP, "
        "day DATE, b BOOLEAN, bin BINARY)"
    )
    return opened


@pytest.mark.parametrize("words", ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN (PASSES)"])
def test_the_plan_of_a_copied_table_is_that_of_its_query(
    connection: Connection, words: str
) -> None:
    explained = "\n".join(
        line for (line,) in connection.execute(f"{words} COPY t TO 'x.csv'").fetchall()
    )
    assert "COPY TO 'x.csv'" in explained and "SELECT * FROM" in explained


def test_a_prepared_copy_of_a_table_is_explained_and_runs(
    connection: Connection, tmp_path: Path
) -> None:
    connection.execute("PREPARE p AS COPY t TO 'x.csv'")
    assert "COPY TO" in str(connection.execute("EXPLAIN EXECUTE p").fetchall())
    connection.execute("INSERT INTO t (k) VALUES (1)")
    assert connection.execute("EXECUTE p").rowcount == 1
    assert (tmp_path / "x.csv").exists()


def test_a_copied_table_has_the_rows_of_its_transaction_and_not_the_hidden_counter(
    connection: Connection, tmp_path: Path
) -> None:
    connection.execute("CREATE TABLE n (Word STRING, NON UNIQUE PRIMARY KEY (Word))")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO n VALUES ('new')")
    connection.execute("COPY n TO 'n.csv'")
    connection.execute("ROLLBACK")
    assert (tmp_path / "n.csv").read_text() == "word\nnew\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(ROW, max_size=6), st.sampled_from(NAMES))
def test_rows_come_back_as_they_were(
    connection: Connection, given_rows: list[tuple[Any, ...]], name: str
) -> None:
    connection.execute("DELETE FROM t")
    # Arrow reads the times of ORC as nanoseconds.
    assume(name != "x.orc" or all(r[3] is None or 1700 < r[3].year < 2200 for r in given_rows))
    numbered = [(number, *row) for number, row in enumerate(given_rows)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", numbered)
    assert connection.execute(f"COPY t TO '{name}'").rowcount == len(numbered)
    connection.execute("DELETE FROM t")
    assert connection.execute(f"COPY t FROM '{name}'").rowcount == len(numbered)
    assert connection.execute("SELECT * FROM t ORDER BY k").fetchall() == numbered


def test_texts_are_plain(connection: Connection, tmp_path: Path) -> None:
    values = "(1, 'a,\"b\"', 0.000000001, 1.5, '2026-01-31 12:00:00', '2026-01-31', true, x'00ff')"
    connection.execute(
        f"INSERT INTO t VALUES {values}, (2, '', NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    connection.execute("COPY t TO 'x.csv'")
    assert (tmp_path / "x.csv").read_text() == (
        "k,s,d,f,ts,day,b,bin\n"
        '1,"a,""b""",0.000000001,1.5,2026-01-31 12:00:00,2026-01-31,true,\\x00ff\n'
        '2,"",,,,,,\n'
    )
    connection.execute("COPY t TO 'x.json'")
    assert (tmp_path / "x.json").read_text() == (
        '{"k":1,"s":"a,\\"b\\"","d":0.000000001,"f":1.5,"ts":"2026-01-31T12:00:00",'
        '"day":"2026-01-31","b":true,"bin":"\\\\x00ff"}\n'
        '{"k":2,"s":"","d":null,"f":null,"ts":null,"day":null,"b":null,"bin":null}\n'
    )


def test_options_say_how_csv_is_written(connection: Connection, tmp_path: Path) -> None:
    query = "SELECT k, s FROM t ORDER BY k"
    connection.execute("INSERT INTO t (k, s) VALUES (1, 'NA'), (2, NULL), (3, 'a;b|')")
    options = "FORMAT csv, HEADER false, DELIMITER ';', QUOTE '|', NULL 'NA'"
    connection.execute(f"COPY ({query}) TO 'x' ({options})")
    assert (tmp_path / "x").read_text() == "1;|NA|\n2;NA\n3;|a;b|||\n"
    connection.execute("DELETE FROM t")
    connection.execute(f"COPY t (k, s) FROM 'x' ({options})")
    assert connection.execute(query).fetchall() == [(1, "NA"), (2, None), (3, "a;b|")]


def test_nested_values_and_odd_numbers_are_json(connection: Connection, tmp_path: Path) -> None:
    connection.execute(
        "COPY (SELECT [1, NULL] AS l, {'a': 'x\"', 'b': [0.5]} AS s, CAST(NULL AS INT[]) AS n, "
        "CAST('nan' AS DOUBLE) AS f, ['a'][2:1] AS e) TO 'x.json'"
    )
    read = json.loads((tmp_path / "x.json").read_text())
    assert read == {"l": [1, None], "s": {"a": 'x"', "b": [0.5]}, "n": None, "f": None, "e": []}


@pytest.mark.parametrize("moment", ["1600-01-01 00:00:00", "9999-12-31 23:59:59"])
def test_times_that_orc_would_not_give_back_are_refused(
    connection: Connection, tmp_path: Path, moment: str
) -> None:
    query = f"SELECT TIMESTAMP '{moment}' AS at UNION ALL SELECT NULL"
    with pytest.raises(DataError, match=f"column 'at': ORC files have no {moment}") as raised:
        connection.execute(f"COPY ({query}) TO 'x.orc'")
    assert raised.value.hint == "write Parquet, or CAST the column to STRING"
    assert not (tmp_path / "x.orc").exists()
    days = "SELECT 1 AS k, DATE '0001-01-01' AS d UNION ALL SELECT 2, DATE '9999-12-31'"
    connection.execute(f"COPY ({days}) TO 'y.orc'")
    connection.execute("CREATE TABLE y (k INT PRIMARY KEY, d DATE)")
    connection.execute("COPY y FROM 'y.orc'")
    assert connection.execute("SELECT * FROM y ORDER BY k").fetchall() == [
        (1, dt.date(1, 1, 1)),
        (2, dt.date(9999, 12, 31)),
    ]


def test_one_column_of_nulls_comes_back(connection: Connection) -> None:
    connection.execute("SET implicit_primary_key = true")
    connection.execute("CREATE TABLE two (v INT)")
    connection.execute("INSERT INTO two VALUES (1), (NULL), (NULL)")
    connection.execute("COPY two TO 'x.csv'")
    connection.execute("DELETE FROM two")
    assert connection.execute("COPY two FROM 'x.csv'").rowcount == 3
    assert connection.execute("SELECT count(*), count(v) FROM two").fetchone() == (3, 1)


def test_compression_and_format_are_as_said(connection: Connection, tmp_path: Path) -> None:
    connection.execute("INSERT INTO t (k) VALUES (1)")
    connection.execute("COPY t TO 'x' (FORMAT parquet, COMPRESSION gzip)")
    assert pq.ParquetFile(tmp_path / "x").metadata.row_group(0).column(0).compression == "GZIP"
    connection.execute("COPY t TO 'y.json' (COMPRESSION gzip)")
    assert (tmp_path / "y.json").read_bytes()[:2] == b"\x1f\x8b"
    for statement, message in (
        ("COPY t TO 'x.parquet' (HEADER)", "option of CSV"),
        ("COPY t TO 'x.csv' (COMPRESSION snappy)", "not packed"),
        ("COPY t TO 'x.xls'", "format"),
        ("COPY t TO 'x.csv' (QUOTE ',')", "same"),
    ):
        with pytest.raises(Error, match=message):
            connection.execute(statement)


def test_a_failed_copy_leaves_what_was_there(connection: Connection, tmp_path: Path) -> None:
    connection.execute("INSERT INTO t (k) VALUES (1)")
    (tmp_path / "x.csv").write_text("before")
    for query in (
        "SELECT error('no')",
        "SELECT INTERVAL '1' MONTH AS i FROM t",
        "SELECT 1 AS a, 2 AS A",
    ):
        with pytest.raises(Error):
            connection.execute(f"COPY ({query}) TO 'x.csv'")
    with pytest.raises(Error, match="x1"):
        connection.execute("COPY (SELECT CAST('x' || k AS INT) FROM t) TO 'new.csv'")
    assert os.listdir(tmp_path) == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "before"


def test_a_late_failure_leaves_nothing(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked_rows, "EXPORT_BYTES", 1000)
    query = (
        "SELECT CASE WHEN i = 499999 THEN CAST('x' || i AS INT) ELSE i END FROM range(500000) r(i)"
    )
    with pytest.raises(Error):
        connection.execute(f"COPY ({query}) TO 'x.csv'")
    assert os.listdir(tmp_path) == []
    assert (
        connection.execute("COPY (SELECT i FROM range(500000) r(i)) TO 'x.csv'").rowcount == 500000
    )
    with (tmp_path / "x.csv").open() as lines:
        assert sum(int(line) for line in lines if line != "i\n") == 499999 * 250000


def test_the_open_transaction_and_moments_are_read(connection: Connection, tmp_path: Path) -> None:
    connection.execute("INSERT INTO t (k) VALUES (1)")
    moment = connection.snapshot_timestamp()
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t (k) VALUES (2)")
    assert connection.execute("COPY t TO 'x.csv'").rowcount == 2
    connection.execute("COMMIT")
    assert connection.execute(f"COPY (SELECT k FROM t AS OF {moment}) TO 'x.csv'").rowcount == 1
    assert connection.execute("COPY (SELECT k FROM t WHERE k = ?) TO 'x.csv'", (2,)).rowcount == 1
    assert (tmp_path / "x.csv").read_text() == "k\n2\n"


def test_a_link_is_kept_and_its_file_replaced(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "x.csv").symlink_to("sub/real.csv")
    connection.execute("COPY (SELECT 1 AS a) TO 'x.csv'")
    assert (tmp_path / "x.csv").is_symlink()
    assert (tmp_path / "sub" / "real.csv").read_text() == "a\n1\n"


def test_a_connection_that_only_reads_replaces_no_file(tmp_path: Path) -> None:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k INT PRIMARY KEY)")
    with pykudu_sql.connect(tmp_path / "my.db", read_only=True, files=True) as opened:
        opened.execute(f"COPY t TO '{tmp_path}/x.csv'")
        with pytest.raises(Error, match="replaces no file") as raised:
            opened.execute(f"COPY t TO '{tmp_path}/x.csv'")
        assert raised.value.sqlstate == "58P02"


def test_a_full_disk_is_told(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copy_to.row_writer is row_writers.row_writer

    def full(path: str, **options: object) -> pa.NativeFile:
        return pa.OSFile("/dev/full", "w")

    monkeypatch.setattr(row_writers.pa, "output_stream", full)
    with pytest.raises(Error, match="No space left"):
        connection.execute("COPY (SELECT i FROM range(100000) r(i)) TO 'x.csv'")
    assert os.listdir(tmp_path) == []


def test_a_name_says_how_a_text_is_packed() -> None:
    assert copy_options.kind_of("x.csv.gz", {}).compression == "gzip"
    assert copy_options.kind_of("x.tsv.zst", {}).delimiter == "\t"


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.csv.gz"])
def test_to_export_a_table_loads_neither_the_engine_nor_pandas(tmp_path: Path, name: str) -> None:
    with pykudu_sql.connect(str(tmp_path / "db"), autocommit=True) as opened:
        opened.execute(
            "CREATE TABLE t (k INT PRIMARY KEY, s STRING, d DECIMAL(18,9), f DOUBLE, ts TIMESTAMP, "
            "b BOOLEAN, bin BINARY)"
        )
        opened.execute(
            "INSERT INTO t VALUES (1, 'a,\"b', 0.000000001, 1.5, '2024-01-02 03:04:05.6', true, "
            "X'00ff'), (2, '', 1.5, 0.1, '2024-01-02', false, X''), "
            "(3, NULL, NULL, NULL, NULL, NULL, NULL)"
        )
        opened.execute("FLUSH")
    program = (
        "import sys, pykudu_sql;"
        "c = pykudu_sql.connect(sys.argv[1], autocommit=True, files=sys.argv[2]);"
        "assert c.execute(f'COPY t TO {sys.argv[3]!r}').rowcount == 3;"
        "print(*sorted({'duckdb', 'pandas'} & set(sys.modules)))"
    )
    arguments = [str(tmp_path / "db"), str(tmp_path), name]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t",
        "SELECT b, k AS number, d FROM t",
        "SELECT k, s FROM t WHERE k >= 3",
        "SELECT s, k FROM t WHERE b = true AND k < 9",
        "SELECT k, s FROM t WHERE k < 0",
        "SELECT k, s FROM t ORDER BY k",
        "SELECT k, s FROM t ORDER BY k LIMIT 4",
        "SELECT k, s FROM t ORDER BY k LIMIT 4 OFFSET 2",
        "SELECT k, s FROM t LIMIT 3",
    ],
)
def test_rows_of_a_plain_scan_are_those_that_the_engine_hands_on(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(row_batches, "BATCH_ROWS", 2)
    connection.execute("INSERT INTO t (k, s, d, b) SELECT i, 'text ' || i, i / 4, i % 2 = 0 "
                       "FROM generate_series(1, 7) AS n(i)")  # fmt: skip
    connection.execute("FLUSH")
    connection.execute("INSERT INTO t (k, s) VALUES (8, NULL), (9, 'in memory')")
    by_scan, batches_of = list[bool](), scanned_rows.scanned_batches

    def noted(*arguments: Any) -> row_batches.RowBatches | None:
        batches = batches_of(*arguments)
        by_scan.append(batches is not None)
        return batches

    monkeypatch.setattr(scanned_rows, "scanned_batches", noted)
    for name in ("scan.parquet", "scan.csv"):
        connection.execute(f"COPY ({query}) TO '{name}'")
    assert by_scan == ["OFFSET" not in query] * 2
    monkeypatch.setattr(scanned_rows, "scanned_batches", lambda *_: None)
    for name in ("engine.parquet", "engine.csv"):
        connection.execute(f"COPY ({query}) TO '{name}'")
    scan, engine = (pq.read_table(tmp_path / f"{each}.parquet") for each in ("scan", "engine"))
    assert scan.equals(engine)
    assert (tmp_path / "scan.csv").read_bytes() == (tmp_path / "engine.csv").read_bytes()
