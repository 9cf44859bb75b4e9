"""COPY FROM: rows of files in one commit or none, bad ones with file and line."""

import datetime as dt
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.executor.writing.collecting import faults, first_fault
from pykudu_sql.executor.writing.files import copy_from
from pykudu_sql.executor.writing.present_keys import IN_COPY
from pykudu_sql.files.reading import csv_rows, json_rows
from pykudu_sql.storage.errors import DataError, Error

Rows = list[tuple[Any, ...]]


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    opened = pykudu_sql.connect(autocommit=True, files=str(tmp_path))
    opened.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, word STRING, price DECIMAL(9,2), n INT DEFAULT 7)"
    )
    return opened


def rows(connection: Connection) -> Rows:
    return connection.execute("SELECT * FROM t ORDER BY k").fetchall()


def test_a_header_names_the_columns_in_any_order(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('\ufeff\nWord,K,price\n"a,\nb",2,1.50\n"",1,\n,3,0\n')
    assert connection.execute("COPY t FROM 'x.csv'").rowcount == 3
    assert [(k, word, str(p), n) for k, word, p, n in rows(connection)] == [
        (1, "", "None", 7),
        (2, "a,\nb", "1.50", 7),
        (3, None, "0.00", 7),
    ]


def test_without_a_header_columns_are_those_of_the_table_or_the_list(
    connection: Connection, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("1;NA\n2;'it''s'\n")
    options = "FORMAT csv, HEADER false, DELIMITER ';', QUOTE '''', NULL 'NA'"
    outcome = connection.execute(f"COPY t (k, word) FROM 'x.txt' ({options})")
    assert (outcome.rowcount, outcome.message) == (2, "Copied 2 row(s)")
    assert [row[:2] for row in rows(connection)] == [(1, None), (2, "it's")]


def test_a_list_of_columns_leaves_the_others_of_the_file_unread(
    connection: Connection, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("more,k,word\nx,1,a\n")
    (tmp_path / "x.json").write_text('{"more": {"a": 1}, "k": 2}\n{"k": 3, "word": "c"}\n')
    pq.write_table(pa.table({"more": [[1]], "K": [4], "word": ["d"]}), tmp_path / "x.parquet")
    for name in ("x.csv", "x.json", "x.parquet"):
        connection.execute(f"COPY t (word, k) FROM '{name}'")
    assert [row[:2] for row in rows(connection)] == [(1, "a"), (2, None), (3, "c"), (4, "d")]


def test_a_key_that_an_object_lacks_takes_its_default(
    connection: Connection, tmp_path: Path
) -> None:
    lines = ['{"k": 1}', '{"k": 2, "n": null}', '{"k": 3, "n": 3, "WORD": 5}', "", '{"k":"4"}']
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    connection.execute("COPY t FROM 'x.jsonl'")
    assert [(k, word, n) for k, word, _, n in rows(connection)] == [
        (1, None, 7), (2, None, None), (3, "5", 3), (4, None, 7),
    ]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_objects_is_read_like_lines(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None
) -> None:
    monkeypatch.setattr("pykudu_sql.files.reading.json_array._READ_BYTES", 10)
    monkeypatch.setattr(json_rows, "BLOCK_BYTES", 7)
    monkeypatch.setattr(json_rows, "_BATCH_OBJECTS", 3)
    documents = [{"k": k, "word": "é]}," * k, "price": 0.25} for k in range(10)]
    text = json.dumps(documents, indent=indent, ensure_ascii=False)
    (tmp_path / "x.json").write_text(text)
    assert connection.execute("COPY t FROM 'x.json'").rowcount == 10
    assert [row[1] for row in rows(connection)] == ["é]}," * k for k in range(10)]


def test_digits_are_not_lost(connection: Connection, tmp_path: Path) -> None:
    connection.execute("CREATE TABLE wide (k BIGINT PRIMARY KEY, d DECIMAL(38,10))")
    number = "1234567890123456789012345678.0123456789"
    (tmp_path / "x.csv").write_text(f"k,d\n9223372036854775807,{number}\n")
    (tmp_path / "x.json").write_text(f'{{"k": 9007199254740993, "d": {number}}}')
    (tmp_path / "y.json").write_text(f'[{{"k": 9007199254740995, "d": {number}}}]')
    for name in ("x.csv", "x.json", "y.json"):
        connection.execute(f"COPY wide FROM '{name}'")
    read = connection.execute("SELECT k, d FROM wide ORDER BY k").fetchall()
    assert [k for k, _ in read] == [9007199254740993, 9007199254740995, 9223372036854775807]
    assert {str(d) for _, d in read} == {number}


def test_several_files_are_one_statement(connection: Connection, tmp_path: Path) -> None:
    for name, key in (("a.csv.gz", 1), ("b.csv.gz", 2)):
        (tmp_path / name).write_bytes(gzip.compress(f"k\n{key}\n".encode()))
    assert connection.execute("COPY t FROM '*.csv.gz'").rowcount == 2
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"k\n3\nx\n"))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"k\n4\n"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"k\n5\n"))
    with pytest.raises(DataError, match=r"'c\.csv\.gz', line 3: column 'k'"):
        connection.execute("COPY t FROM '*.csv.gz'")
    assert [row[0] for row in rows(connection)] == [1, 2]


def test_a_transaction_takes_it_back(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("k\n1\n")
    connection.execute("BEGIN")
    connection.execute("COPY t FROM 'x.csv'")
    assert len(rows(connection)) == 1
    connection.execute("ROLLBACK")
    assert rows(connection) == []


BAD_CSV = 'k,n\n1,1\n\n2,x\n"3\n",3\n4\n1,5\n5,6\n'
BAD_JSON = (
    '{"k": 1, "n": 1}\n\n{"k": 2, "n": "x"}\n{"k": 3}\nnot JSON\n{"k": 1, "n": 5}\n{"k": 5}\n'
)
BAD_ARRAY = '[{"k": 1, "n": 1},\n\n{"k": 2, "n": 1.5}, {"k": 3},\n{"k": {}},\n{"k": 1}, {"k": 5}]'
TORN_ARRAY = '[{"k": 1},\n{"k": 2, "n": "x"},{"k": 3},\n{"k": 4 5},\n{"k": 1},{"k": 5}]'


@pytest.mark.parametrize(
    ("name", "text", "first", "places"),
    [
        ("x.csv", BAD_CSV, "line 4", ["line 4", "line 7", "line 8"]),
        ("x.json", BAD_JSON, "line 3", ["line 3", "line 5", "line 6"]),
        ("x.json", BAD_ARRAY, "line 3", ["line 3", "line 4", "line 5"]),
        ("y.json", TORN_ARRAY, "line 2", ["line 2", "line 3", "line 4"]),
    ],
)
@pytest.mark.parametrize("block", [8 << 20, 16])
def test_bad_rows_are_told_with_their_lines(
    connection: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    first: str,
    places: list[str],
    block: int,
) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", block)
    monkeypatch.setattr(json_rows, "BLOCK_BYTES", block)
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=f"'{name}', {first}: ") as raised:
        connection.execute(f"COPY t FROM '{name}'")
    assert "row_errors" in str(raised.value)
    assert rows(connection) == []
    connection.execute("SET row_errors = 'collect'")
    outcome = connection.execute(f"COPY t FROM '{name}'")
    assert outcome.message == "Copied 3 row(s), 3 row(s) failed"
    assert [row[0] for row in rows(connection)] == [1, 3, 5]
    errors = connection.row_errors
    assert [e.message.partition(": ")[0] for e in errors] == [
        f"'{name}', {place}" for place in places
    ]
    assert [e.status for e in errors] == ["InvalidArgument"] * 2 + ["AlreadyPresent"]
    assert [e.key for e in errors if e.key] == ["(k) = (2)", "(k) = (1)"]


REFUSED = (
    "CREATE TABLE r (k INT PRIMARY KEY, s STRING, n INT NOT NULL DEFAULT 1 CHECK (n > 0)) "
    "PARTITION BY RANGE (k) (PARTITION VALUES < 100)"
)


@pytest.mark.parametrize(
    ("text", "place", "message", "sqlstate"),
    [
        ("k,s\n1,\n\n,\n", 4, "NULL values not allowed for non-nullable column 'k'", "23502"),
        ("k,n\n1,1\n2,\n", 3, "NULL values not allowed for non-nullable column 'n'", "23502"),
        ("k\n1\n2\n1\n", 4, "key given twice in one INSERT", "23505"),
        ("k\n1\n9\n", 3, "key already present in table 'r': (k) = (9)", "23505"),
        ("k\n9\n9\n", 3, "key given twice in one INSERT", "23505"),
        ("k\n1\n700\n", 3, "no range partition covers (k) = 700", "23514"),
        ("k,n\n1,1\n2,0\n", 3, "the row (k) = (2) of table 'r' violates CHECK", "23514"),
        ("k,s\n1,a\n2," + "x" * 70_000, 3, "value too large for column 's'", "22001"),
    ],
)
@pytest.mark.parametrize("is_open", [False, True])
def test_a_row_that_the_table_refuses_is_told_with_its_line(
    connection: Connection,
    tmp_path: Path,
    text: str,
    place: int,
    message: str,
    sqlstate: str,
    is_open: bool,
) -> None:
    connection.execute(REFUSED)
    connection.execute("INSERT INTO r (k) VALUES (9)")
    (tmp_path / "x.csv").write_text(text)
    if is_open:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO r (k) VALUES (50)")
    with pytest.raises(Error) as raised:
        connection.execute("COPY r FROM 'x.csv'")
    assert raised.value.message.startswith(f"'x.csv', line {place}: {message}")
    assert raised.value.sqlstate == sqlstate
    found = connection.execute("SELECT k FROM r ORDER BY k").fetchall()
    assert found == ([(9,), (50,)] if is_open else [(9,)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"k": 1}\n{"k": 2, "zz": 3}\n{"k": 3}\n', "a key 'zz' that table 't' has not"),
        ('[{"k": 1},\n{"k": 2, "zz": 3},\n{"k": 3}]', "a key 'zz' that table 't' has not"),
        ('{"k": 1}\n{"k": 2, "word": "b}\n{"k": 3}\n', "the line is no JSON"),
        ('{"k": 1}\n{"k": 2, "word": "b"\n{"k": 3}\n', "the line is no JSON"),
        ('{"k": 1}\n{"k": 2, "word": ["b"]}\n{"k": 3}\n', "column 'word': a nested value"),
    ],
)
def test_an_object_that_is_no_row_is_left_out_alone(
    connection: Connection, tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(Error, match=f"'x.json', line 2: {reason}"):
        connection.execute("COPY t FROM 'x.json'")
    connection.execute("SET row_errors = 'collect'")
    assert connection.execute("COPY t FROM 'x.json'").rowcount == 2
    (error,) = connection.row_errors
    assert error.message.startswith(f"'x.json', line 2: {reason}")


def test_a_bad_row_of_columns_is_told_with_its_number(
    connection: Connection, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"k": [1, 2, 3], "n": [1.0, 2.5, None]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"x\.parquet', row 2: column 'n'"):
        connection.execute("COPY t FROM 'x.parquet'")
    connection.execute("SET row_errors = 'collect'")
    connection.execute("COPY t FROM 'x.parquet'")
    assert [(row[0], row[3]) for row in rows(connection)] == [(1, 1), (3, None)]


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_an_empty_file_has_no_rows_alone_and_among_others(
    connection: Connection, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("")
    assert connection.execute(f"COPY t FROM '{name}'").rowcount == 0
    (tmp_path / "y.csv").write_text("k\n1\n")
    (tmp_path / "z.csv").write_text("")
    assert connection.execute("COPY t FROM '*.csv'").rowcount == 1
    assert [row[0] for row in rows(connection)] == [1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "\n\n", "is empty"),
        ("x.csv", "k,zz\n1,2\n", "a column 'zz'"),
        ("x.csv", "k,K\n1,2\n", "a column 'k_1'"),
        ("x.csv", "word\na\n", "'k'"),
        ("x.parquet", "k\n1\n", "cannot be read as Parquet"),
        ("x.orc", "k\n1\n", "cannot be read as ORC"),
        ("x.arrow", "k\n1\n", "cannot be read as Arrow"),
        ("x.csv.gz", "k\n1\n", "cannot be unpacked"),
        ("x.json.zst", "{}", "cannot be unpacked"),
        ("x.dat", "k\n1\n", "FORMAT csv"),
    ],
)
@pytest.mark.parametrize("mode", ["fail", "collect"])
def test_what_concerns_a_whole_file_ends_the_statement(
    connection: Connection, tmp_path: Path, name: str, text: str, message: str, mode: str
) -> None:
    (tmp_path / name).write_text(text)
    connection.execute(f"SET row_errors = '{mode}'")
    with pytest.raises(Error, match=message):
        connection.execute(f"COPY t FROM '{name}'")
    assert rows(connection) == []


@pytest.mark.parametrize("rest", ["", "\n", "\n3,c", "\r\n3,c\r\n"])
def test_a_quote_that_is_never_closed_is_a_bad_row(
    connection: Connection, tmp_path: Path, rest: str
) -> None:
    (tmp_path / "x.csv").write_bytes(b'k,word\n\n1,"a\nb"\n2,"b' + rest.encode())
    with pytest.raises(Error, match=r"x\.csv', line 5: .*a quote is not closed"):
        connection.execute("COPY t FROM 'x.csv'")
    assert rows(connection) == []
    connection.execute("SET row_errors = 'collect'")
    connection.execute("COPY t FROM 'x.csv'")
    assert [row[0] for row in rows(connection)] == ([1, 3] if "3" in rest else [1])
    (error,) = connection.row_errors
    assert error.message.startswith("'x.csv', line 5: ")


def test_an_orc_file_of_others_with_far_times_says_so(
    connection: Connection, tmp_path: Path
) -> None:
    times = pa.array([dt.datetime(9999, 1, 1)], pa.timestamp("us"))
    orc.write_table(pa.table({"k": [1], "at": times}), tmp_path / "x.orc")
    connection.execute("CREATE TABLE far (k INT PRIMARY KEY, at TIMESTAMP)")
    with pytest.raises(DataError, match="has times that are read of Parquet only"):
        connection.execute("COPY far FROM 'x.orc'")


def test_types_of_another_family_are_refused(connection: Connection, tmp_path: Path) -> None:
    pq.write_table(pa.table({"k": ["1"]}), tmp_path / "x.parquet")
    with pytest.raises(Error, match=r"column 'k' is INT, and in .* it is string"):
        connection.execute("COPY t FROM 'x.parquet'")


def test_files_with_other_columns_are_refused(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,word\n1,a\n")
    (tmp_path / "b.csv").write_text("k\n2\n")
    with pytest.raises(Error, match=r"b\.csv' has other columns"):
        connection.execute("COPY t FROM '*.csv'")
    assert connection.execute("COPY t (k) FROM '*.csv'").rowcount == 2


def test_more_rows_than_a_chunk_go_in_as_one_commit(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 500)
    lines = [f"{k},w{k}" for k in range(1000)]
    (tmp_path / "x.csv").write_text("\n".join(["k,word", *lines]))
    assert connection.execute("COPY t FROM 'x.csv'").rowcount == 1000
    assert connection.execute("SELECT count(*), max(word) FROM t").fetchone() == (1000, "w999")
    (tmp_path / "y.csv").write_text("\n".join(["k", *map(str, range(1000, 2000)), "5"]))
    with pytest.raises(Error, match=r"'y\.csv', line 1002: key already present"):
        connection.execute("COPY t FROM 'y.csv'")
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (1000,)


def test_a_session_without_files_reads_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("k\n1\n")
    with pykudu_sql.connect(autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        with pytest.raises(Error) as raised:
            opened.execute(f"COPY t FROM '{tmp_path}/x.csv'")
        assert raised.value.sqlstate == "42501"


@given(st.lists(st.booleans(), max_size=40))
def test_the_first_fault_is_the_first_of_all(good: list[bool]) -> None:
    def attempt(start: int, stop: int) -> None:
        if not all(good[start:stop]):
            raise DataError("bad")

    found = faults(len(good), attempt)
    assert set(first_fault(len(good), attempt)) == ({min(found)} if found else set())


@given(st.sets(st.integers(0, 30)))
def test_positions_of_kept_rows_pass_over_those_left_out(left_out: set[int]) -> None:
    kept = [position for position in range(60) if position not in left_out]
    positions = copy_from._AcceptedPositions([*left_out])
    assert [positions.position(number) for number in range(len(kept))] == kept


@pytest.mark.parametrize("first", ["null", '{"k":1,"s":"\\ud83d"}'], ids=["null", "surrogate"])
def test_a_line_that_is_no_row_does_not_end_the_process(tmp_path: Path, first: str) -> None:
    (tmp_path / "rows.json").write_text(f'{first}\n{{"k":2,"s":"ok"}}\n')
    with pykudu_sql.connect(autocommit=True, files=tmp_path, row_errors="collect") as connection:
        connection.execute("CREATE TABLE b (k INT PRIMARY KEY, s STRING)")
        cursor = connection.execute("COPY b FROM 'rows.json'")
        assert cursor.rowcount == 1 and "line 1" in cursor.row_errors[0].message


def test_a_key_that_is_there_is_answered_with_what_copy_can_do(
    connection: Connection, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("k\n1\n")
    connection.execute("INSERT INTO t (k) VALUES (1)")
    with pytest.raises(Error) as caught:
        connection.execute(f"COPY t FROM '{tmp_path}/x.csv'")
    assert caught.value.hint == IN_COPY
    connection.execute("SET row_errors = 'collect'")
    connection.execute(f"COPY t FROM '{tmp_path}/x.csv'")
