"""Many rows at once: executemany, append, and results as Arrow."""

import datetime as dt
import sqlite3
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, v STRING, n DOUBLE DEFAULT 0.5, d DECIMAL(9,2),"
            " at TIMESTAMP) PARTITION BY HASH (id) PARTITIONS 3"
        )
        yield connection


def rows(connection: Connection, columns: str = "id, v") -> list[tuple[Any, ...]]:
    return connection.execute(f"SELECT {columns} FROM t ORDER BY id").fetchall()


def test_executemany_inserts_one_batch(connection: Connection) -> None:
    given = [(i, f"v{i}") for i in range(5000)]
    cursor = connection.executemany("INSERT INTO t (id, v) VALUES (?, ?)", iter(given))
    assert cursor.rowcount == 5000
    assert rows(connection) == given


def test_executemany_takes_names_and_constants(connection: Connection) -> None:
    connection.executemany(
        "INSERT INTO t (id, v, n) VALUES (:id, 'same', :n)",
        [{"id": 1, "n": 2}, {"id": 2, "n": "2.5"}],
    )
    assert rows(connection, "id, v, n") == [(1, "same", 2.0), (2, "same", 2.5)]


def test_executemany_of_several_rows_a_statement(connection: Connection) -> None:
    connection.executemany("INSERT INTO t (id, v) VALUES (?, 'a'), (?, 'b')", [(1, 2), (3, 4)])
    assert rows(connection) == [(1, "a"), (2, "b"), (3, "a"), (4, "b")]


@pytest.mark.parametrize("bad", [(1, "again"), (7, None, "too many"), ("x", "y"), (None, "n")])
def test_executemany_does_all_or_nothing(connection: Connection, bad: tuple[Any, ...]) -> None:
    connection.execute("INSERT INTO t (id) VALUES (1)")
    with pytest.raises(pykudu_sql.Error):
        connection.executemany(
            "INSERT INTO t (id, v) VALUES (?, ?)", [(5, "five"), bad, (6, "six")]
        )
    assert rows(connection) == [(1, None)]


def test_a_value_that_does_not_fit_is_named_with_its_row_and_column(
    connection: Connection,
) -> None:
    with pytest.raises(pykudu_sql.DataError, match=r"row 3, column 'id'.*2\.5"):
        connection.executemany("INSERT INTO t (id) VALUES (?)", [(1,), (2,), (2.5,)])
    with pytest.raises(pykudu_sql.DataError, match=r"row 2, column 'id'.*out of range"):
        connection.executemany("INSERT INTO t (id) VALUES (?)", [(1,), (1 << 31,)])


def test_executemany_updates_and_deletes_by_key(connection: Connection) -> None:
    connection.append("t", {"id": [1, 2, 3, 4]})
    changed = connection.executemany(
        "UPDATE t SET v = ?, n = 1 WHERE id = ?", [("a", 1), ("b", 2), ("x", 99), ("y", None)]
    )
    assert changed.rowcount == 2
    gone = connection.executemany("DELETE FROM t WHERE id = ?", [(3,), (4,), (2.5,), (98,)])
    assert gone.rowcount == 2
    assert rows(connection, "id, v, n") == [(1, "a", 1.0), (2, "b", 1.0)]


def test_executemany_runs_statements_with_a_query_too_all_or_nothing(
    connection: Connection,
) -> None:
    connection.append("t", {"id": [1, 2]})
    connection.executemany("UPDATE t SET v = ? WHERE n < 1 AND id > ?", [("all", 0), ("two", 1)])
    assert rows(connection) == [(1, "all"), (2, "two")]
    with pytest.raises(pykudu_sql.IntegrityError):
        connection.executemany("INSERT INTO t (id) SELECT id + ? FROM t", [(10,), (0,)])
    assert len(rows(connection)) == 2


def test_executemany_of_what_is_no_sequence_is_an_error_of_the_interface(
    connection: Connection,
) -> None:
    for given in (None, 5):
        with pytest.raises(pykudu_sql.InterfaceError, match="sequence of parameters"):
            connection.executemany("INSERT INTO t (id) VALUES (?)", given)  # type: ignore[arg-type]


def test_executemany_takes_no_queries(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="executemany"):
        connection.executemany("SELECT * FROM t WHERE id = ?", [(1,)])


def test_executemany_of_nothing_does_nothing(connection: Connection) -> None:
    assert connection.executemany("INSERT INTO t (id) VALUES (?)", []).rowcount == 0


TABLE = pa.table({"v": ["a", None], "id": pa.array([1, 2], pa.int64())})


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        pd.DataFrame({"v": ["a", None], "id": [1, 2]}),
        {"v": ["a", None], "id": [1, 2]},
        {"ID": np.array([1, 2]), "V": pa.array(["a", None]).dictionary_encode()},
        {"id": (1, 2), "v": pd.Series(["a", None])},
    ],
    ids=["table", "batch", "reader", "frame", "lists", "arrays", "series"],
)
def test_append_takes_columns_in_any_shape_by_name(connection: Connection, data: object) -> None:
    assert connection.append("t", data) == 2
    assert rows(connection, "id, v, n") == [(1, "a", 0.5), (2, None, 0.5)]


def test_append_takes_a_cursor_of_another_connection(connection: Connection) -> None:
    with pykudu_sql.connect(":memory:") as other:
        cursor = other.execute("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS x(id, v)")
        assert connection.append("t", cursor) == 2
    assert rows(connection) == [(1, "a"), (2, "b")]


def test_missing_values_of_a_frame_become_null(connection: Connection) -> None:
    frame = pd.DataFrame({"id": [1, 2], "n": [1.5, np.nan], "at": [pd.Timestamp(0), pd.NaT]})
    connection.append("t", frame)
    assert rows(connection, "id, n, at") == [(1, 1.5, dt.datetime(1970, 1, 1)), (2, None, None)]
    connection.append("t", {"id": [3], "n": np.array([np.nan])})
    assert str(rows(connection, "n")[2]) == "(nan,)", "an array's NaN is a number"


def test_a_frame_of_mixed_values_is_read_value_by_value(connection: Connection) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "v": ["a", np.nan, 5, None]})
    connection.append("t", frame)
    assert rows(connection) == [(1, "a"), (2, None), (3, "5"), (4, None)]


PERIOD = pd.Period("2024-01-02", "D")
WORD = uuid.UUID(int=0x41424344)


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("at", pd.Series([PERIOD, PERIOD]), "cannot read a Period, '2024-01-02', as TIMESTAMP"),
        ("id", pd.Series([PERIOD, PERIOD]), "cannot read a Period, '2024-01-02', as INT"),
        ("v", np.array([WORD, WORD]), f"cannot read a UUID, '{WORD}', as STRING"),
        ("v", pd.Series([WORD, WORD]), f"cannot read a UUID, '{WORD}', as STRING"),
        ("n", np.array([1 + 2j, 1]), r"cannot read \(1\+2j\) as DOUBLE"),
        ("at", np.array([pd.NaT, None]), "cannot read NaT as TIMESTAMP"),
    ],
)
def test_objects_of_other_libraries_are_not_taken_for_the_numbers_that_they_store(
    connection: Connection, column: str, values: Any, told: str
) -> None:
    data = {"id": [1, 2]} | {column: values}
    for shape in (data, pd.DataFrame(data)) if isinstance(values, pd.Series) else (data,):
        with pytest.raises(pykudu_sql.DataError, match=rf"row 1, column '{column}': .*{told}"):
            connection.append("t", shape)
    assert not rows(connection)


def test_a_time_of_numpy_is_the_text_that_an_array_of_times_has(connection: Connection) -> None:
    for start, unit in enumerate(("D", "s", "ns")):
        time = np.datetime64("2024-01-02", unit)
        connection.append("t", {"id": [2 * start], "v": np.array([time])})
        connection.append(
            "t",
            {
                "id": [2 * start + 1],
                "v": np.array(
                    [
                        time,
                    ],
                    object,
                ),
            },
        )
    midnight = "2024-01-02 00:00:00"
    assert [v for _, v in rows(connection)] == ["2024-01-02"] * 2 + [midnight] * 4


def test_times_of_nanoseconds_are_rounded_whatever_brings_them(connection: Connection) -> None:
    time = np.datetime64("2024-01-02T03:04:05.123456500")
    connection.append("t", {"id": [1], "at": np.array([time])})
    connection.append("t", {"id": [2], "at": [time]})
    connection.append("t", {"id": [3], "at": [pd.Timestamp(time)]})
    connection.execute("INSERT INTO t (id, at) VALUES (4, ?)", (time,))
    rounded = dt.datetime(2024, 1, 2, 3, 4, 5, 123457)
    assert rows(connection, "at") == [(rounded,)] * 4


def test_append_rounds_decimals_and_turns_zones_into_utc(connection: Connection) -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    connection.append(
        "t",
        {
            "id": [1],
            "d": [Decimal("1.005")],
            "at": [dt.datetime(2026, 1, 31, 12, tzinfo=zone)],
        },
    )
    assert rows(connection, "d, at") == [(Decimal("1.01"), dt.datetime(2026, 1, 31, 10))]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"id": [1], "vv": ["x"]}, pykudu_sql.ProgrammingError, "did you mean 'v'"),
        ({"id": [1], "zzzz": ["x"]}, pykudu_sql.ProgrammingError, "columns are id, v"),
        ({"id": [1], "ID": [2]}, pykudu_sql.ProgrammingError, "twice"),
        ({"id": [1, 2], "v": ["x"]}, pykudu_sql.DataError, "differ in length"),
        ({"id": [1, "one"]}, pykudu_sql.DataError, "row 2, column 'id'"),
        ({"id": [1, None]}, pykudu_sql.IntegrityError, "column 'id'"),
        ({"v": ["x"]}, pykudu_sql.IntegrityError, "column 'id'"),
        ({"id": [1, 1]}, pykudu_sql.IntegrityError, "twice"),
        ({"id": [9, 3]}, pykudu_sql.IntegrityError, r"\(id\) = \(9\)"),
        ({"id": 5}, pykudu_sql.InterfaceError, "sequence"),
        ({"id": "12"}, pykudu_sql.InterfaceError, "sequence"),
        ({"id": [4], "v": ["x" * 70_000]}, pykudu_sql.DataError, "too large"),
        (pa.table({"id": pa.array([1 << 40])}), pykudu_sql.DataError, "column 'id'"),
        (pa.table([[1], [2]], names=["id", "id"]), pykudu_sql.ProgrammingError, "twice"),
        ([1, 2], pykudu_sql.InterfaceError, "cannot append a list"),
        (pd.DataFrame({"id": [1, "x"]}), pykudu_sql.DataError, "row 2, column 'id': cannot .* 'x'"),
        (pd.DataFrame({"id": [1j]}), pykudu_sql.DataError, "column 'id': cannot read a complex"),
        (pd.DataFrame([[1, 2]], columns=["id", "id"]), pykudu_sql.ProgrammingError, "twice"),
        (pd.Series([1]), pykudu_sql.InterfaceError, "cannot append a Series"),
        (pl.Series([1]), pykudu_sql.InterfaceError, "type 'Series' has no names"),
        (np.array([1]), pykudu_sql.InterfaceError, "cannot append an ndarray"),
        ({"id": np.array(5)}, pykudu_sql.InterfaceError, "sequence"),
    ],
)
def test_append_refuses_what_does_not_fit_and_changes_nothing(
    connection: Connection, data: object, error: type[pykudu_sql.Error], message: str
) -> None:
    connection.execute("INSERT INTO t (id) VALUES (9)")
    with pytest.raises(error, match=message):
        connection.append("t", data)
    assert rows(connection) == [(9, None)]


def test_append_looks_for_a_table_in_the_database_in_use(connection: Connection) -> None:
    connection.execute("CREATE DATABASE other")
    connection.execute("CREATE TABLE other.t (id INT PRIMARY KEY)")
    connection.execute("USE other")
    assert connection.append("t", {"id": [900]}) == 1
    assert connection.append("default.t", {"id": [901]}) == 1
    assert connection.execute("SELECT id FROM t").fetchall() == [(900,)]
    found = connection.execute("SELECT id FROM default.t WHERE id >= 900").fetchall()
    assert found == [(901,)]


def test_append_is_refused_while_the_session_reads_the_past(connection: Connection) -> None:
    before = rows(connection)
    connection.commit()
    connection.execute(f"SET as_of = {connection.snapshot_timestamp()}")
    with pytest.raises(pykudu_sql.OperationalError, match="reads at a past moment"):
        connection.append("t", {"id": [900]})
    connection.execute("SET as_of = DEFAULT")
    assert rows(connection) == before


@pytest.mark.parametrize("values", [[1e39], np.array([1e39]), pa.array([1e39])])
def test_a_number_beyond_float_does_not_become_infinite(
    connection: Connection, values: object
) -> None:
    connection.execute("CREATE TABLE single (id INT PRIMARY KEY, f FLOAT)")
    with pytest.raises(pykudu_sql.DataError, match="out of range for FLOAT"):
        connection.append("single", {"id": [1], "f": values})
    with pytest.raises(pykudu_sql.DataError, match="out of range for FLOAT"):
        connection.execute("INSERT INTO single SELECT 1, 1e39")


def test_append_to_a_table_that_is_not_there_suggests_a_near_name(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="does not exist"):
        connection.append("tt", {"id": [1]})


def test_results_come_as_arrow_in_every_way(connection: Connection) -> None:
    connection.append("t", {"id": list(range(10)), "v": [f"v{i}" for i in range(10)]})
    query = "SELECT id, v FROM t ORDER BY id"
    whole = connection.execute(query).fetch_arrow_table()
    assert whole.column("id").to_pylist() == list(range(10))
    assert pa.table(connection.execute(query)).equals(whole)
    cursor = connection.execute(query)
    cursor.fetchmany(4)
    assert cursor.fetch_arrow_table().equals(whole.slice(4))
    assert cursor.fetchall() == []
    reader = connection.execute(query).fetch_record_batch(3)
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == 10 and max(sizes) == 3
    assert connection.execute(query).fetch_df()["v"].tolist() == whole.column("v").to_pylist()


def test_a_row_by_key_comes_as_arrow_too(connection: Connection) -> None:
    connection.append("t", {"id": [1], "d": [Decimal("2.50")], "at": [dt.datetime(2026, 1, 31)]})
    table = connection.execute("SELECT at, d FROM t WHERE id = ?", (1,)).fetch_arrow_table()
    assert table.to_pylist() == [{"at": dt.datetime(2026, 1, 31), "d": Decimal("2.50")}]
    empty = connection.execute("SELECT at, d FROM t WHERE id = ?", (2,)).fetch_arrow_table()
    assert empty.schema == table.schema


def test_large_results_come_in_order_however_they_are_fetched(connection: Connection) -> None:
    connection.append("t", {"id": np.arange(20_000)})
    expected = [(i,) for i in range(20_000)]
    query = "SELECT id FROM t ORDER BY id"
    assert connection.execute(query).fetchall() == expected
    cursor = connection.execute(query)
    pieces: list[tuple[Any, ...]] = []
    for size in (1, 5000, 3, 4096, 1):
        pieces += cursor.fetchmany(size)
    assert pieces + cursor.fetchall() == expected
    assert list(connection.execute(query)) == expected


def test_a_collected_error_of_a_value_names_its_column_and_no_row(connection: Connection) -> None:
    beyond = "column 'd': value 1000000000 is out of range for DECIMAL(9,2)"
    unread = "column 'd': cannot read 'x' as DECIMAL(9,2)"
    connection.execute("SET row_errors = 'collect'")
    connection.executemany("INSERT INTO t (id, d) VALUES (?, ?)", [(1, 1), (2, 10**9), (3, "x")])
    assert [error.message for error in connection.row_errors] == [beyond, unread]
    connection.append("t", {"id": [4, 5, 6], "d": [1, 10**9, "x"]})
    assert [error.message for error in connection.row_errors] == [beyond, unread]
    connection.append("t", {"id": [7, 8], "d": pa.array(["1", "x"])})
    assert [error.message for error in connection.row_errors] == [unread]


@pytest.mark.parametrize(
    ("statement", "rows", "count"),
    [
        ("UPDATE t SET v = ? WHERE id = ?", [(5, 1), (6, 1), (7, 2), (8, 99), (9, 99)], 3),
        ("UPDATE t SET v = v + ? WHERE id = ?", [(5, 1), (6, 1), (7, 2), (8, 99)], 3),
        ("UPDATE t SET v = ? WHERE v < ?", [(2, 9), (3, 9)], 6),
        ("UPSERT INTO t (v, id) VALUES (?, ?)", [(1, 7), (2, 7), (3, 7), (4, 1)], 4),
        ("INSERT OR REPLACE INTO t (v, id) VALUES (?, ?)", [(1, 7), (2, 7), (4, 1)], 3),
        ("INSERT OR IGNORE INTO t (v, id) VALUES (?, ?)", [(1, 7), (2, 7), (4, 1)], 1),
        (
            "INSERT INTO t (v, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET v = excluded.v",
            [(1, 7), (2, 7), (4, 1)],
            3,
        ),
        ("DELETE FROM t WHERE v >= ? AND id = ?", [(0, 1), (0, 1), (0, 2)], 2),
    ],
)
@pytest.mark.parametrize("partitions", ["", " PARTITION BY HASH (id) PARTITIONS 3"])
def test_executemany_counts_each_set_of_parameters(
    statement: str, rows: list[tuple[int, int]], count: int, partitions: str
) -> None:
    peer = sqlite3.connect(":memory:")
    with pykudu_sql.connect(":memory:") as ours:
        for connection in (ours, peer):
            words = partitions if connection is ours else ""
            connection.execute(f"CREATE TABLE t (id INT PRIMARY KEY, v INT){words}")
            connection.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
        assert ours.executemany(statement, rows).rowcount == count
        if not statement.startswith("UPSERT"):
            assert peer.executemany(statement, rows).rowcount == count
            query = "SELECT * FROM t ORDER BY id"
            assert ours.execute(query).fetchall() == peer.execute(query).fetchall()
    peer.close()


def test_an_upsert_of_frames_counts_each_row() -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
        columns = {"id": [1, 1, 2], "v": [1, 2, 3]}
        assert connection.append("t", columns, "upsert") == 3
        assert connection.execute("SELECT * FROM t ORDER BY id").fetchall() == [(1, 2), (2, 3)]
