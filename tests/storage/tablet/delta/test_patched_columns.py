"""Scans of "now" between changes have the rows of the plain path, and readers keep theirs."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.types.arrays import combine
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView
from pykudu_sql.storage.tablet.delta.patched_columns import PatchedColumns
from pykudu_sql.storage.tablet.rowset.base_columns import WholeBase
from tests.storage.small_store import SmallStore

ROWS = 60
Rows = dict[int, tuple[int, str | None]]
KEYS = st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=9, unique=True)
TEXTS: st.SearchStrategy[str | None] = st.sampled_from(
    ["", "a", "of twelve by", "of thirteen b", "a long text " * 4]
)


def write(connection: Connection, rows: Mapping[int, tuple[int, str | None]]) -> None:
    columns = {
        "k": pa.array(list(rows), pa.int32()),
        "v": pa.array([number for number, _ in rows.values()], pa.int32()),
        "s": pa.array([text for _, text in rows.values()], pa.string()),
    }
    connection.append("t", pa.table(columns), "upsert")


def check(connection: Connection, rows: Rows) -> None:
    """Whole columns, columns of a filter, calls of the engine, single rows."""
    listed = sorted((key, *cells) for key, cells in rows.items())
    read = connection.execute("SELECT k, v, s FROM t").fetchall()
    assert sorted(read, key=lambda row: row[0]) == listed
    texts = [text for _, text in rows.values() if text is not None]
    query = "SELECT sum(v), max(s), min(s), count(s), sum(length(s)) FROM t"
    ((total, *of_texts),) = connection.execute(query).fetchall()
    assert total == (sum(number for number, _ in rows.values()) if rows else None)
    last, first = max(texts, default=None), min(texts, default=None)
    assert of_texts[:3] == [last, first, len(texts)]
    for text in ("of thirteen b", "a"):
        keys = [key for key, _, other in listed if other == text]
        where = connection.execute("SELECT k FROM t WHERE s = ? ORDER BY k", (text,)).fetchall()
        assert [key for (key,) in where] == keys
        query = "SELECT k, v FROM t WHERE v < 300 AND s LIKE 'of%' ORDER BY k"
        assert connection.execute(query).fetchall() == [
            (key, number)
            for key, number, other in listed
            if number < 300 and other is not None and other.startswith("of")
        ]
    groups = connection.execute("SELECT s, count(*) FROM t GROUP BY s").fetchall()
    assert sum(count for _, count in groups) == len(rows)
    joined = "SELECT count(*) FROM t AS a JOIN t AS b ON a.s = b.s AND a.k = b.k"
    assert connection.execute(joined).fetchall() == [(len(texts),)]


@settings(max_examples=25)
@given(st.data())
def test_whatever_happens_between_scans_they_have_the_rows(data: st.DataObject) -> None:
    connection = pykudu_sql.connect(":memory:", autocommit=True, maintenance=False)
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT, s STRING)")
    rows: Rows = {key: (key, f"the text of {key}") for key in range(ROWS)}
    write(connection, rows)
    connection.execute("FLUSH t")
    check(connection, rows)
    texts = TEXTS | st.none() if data.draw(st.booleans()) else TEXTS
    steps = ["upsert"] * 6 + ["delete", "flush", "optimize", "insert"]
    for number in range(data.draw(st.integers(1, 8))):
        match data.draw(st.sampled_from(steps)):
            case "upsert":
                changed = {key: (number, data.draw(texts)) for key in data.draw(KEYS)}
                write(connection, changed)
                rows |= changed
            case "delete":
                for key in data.draw(KEYS):
                    connection.execute("DELETE FROM t WHERE k = ?", (key,))
                    rows.pop(key, None)
            case "flush":
                connection.execute("FLUSH t")
            case "optimize":
                connection.execute("OPTIMIZE t")
            case "insert":
                key = ROWS + number
                rows[key] = (key, "a")
                connection.execute("INSERT INTO t VALUES (?, ?, 'a')", (key, key))
        if data.draw(st.booleans()):
            check(connection, rows)
    check(connection, rows)
    connection.close()


def flushed() -> SmallStore:
    small = SmallStore()
    small.upsert({key: key for key in range(ROWS)})
    small.store.flush()
    return small


def values(small: SmallStore, time: int | None = None) -> pa.Array:
    bound = None if time is None else bound_at(time)
    table = small.store.begin().table_scan(
        small.table, ScanSpec((small.table.schema.columns[1].id,)), bound
    )
    return combine(table.column("v"))


def test_a_reader_keeps_the_rows_of_its_moment() -> None:
    small = flushed()
    small.upsert({1: 100})
    before = values(small)
    small.upsert({1: 101, 2: 201})
    after = values(small)
    assert before.to_pylist()[:3] == [0, 100, 2]
    assert after.to_pylist()[:3] == [0, 101, 201]


def test_cells_that_nobody_reads_any_more_take_the_next_changes() -> None:
    small = flushed()
    small.upsert({1: 100})
    address = values(small).buffers()[1].address
    small.upsert({1: 101})
    assert values(small).buffers()[1].address == address


@pytest.mark.parametrize("is_held", [False, True])
def test_base_cells_that_nobody_reads_any_more_take_the_first_changes(is_held: bool) -> None:
    small = flushed()
    before = values(small)
    address = before.buffers()[1].address
    held = before.slice(1, 2) if is_held else None
    del before
    time = small.upsert({0: 0})
    small.upsert({1: 100})
    patched = values(small)
    assert patched.to_pylist()[:3] == [0, 100, 2]
    assert (patched.buffers()[1].address == address) is not is_held
    assert held is None or held.to_pylist() == [1, 2]
    assert values(small, time).to_pylist()[:3] == [0, 1, 2]


def test_an_earlier_moment_is_read_beside_the_newest() -> None:
    small = flushed()
    time = small.upsert({1: 100})
    small.upsert({1: 101})
    assert values(small).to_pylist()[1] == 101
    assert values(small, time).to_pylist()[1] == 100
    small.upsert({2: 201})
    assert values(small).to_pylist()[:3] == [0, 101, 201]


def test_changes_that_were_flushed_since_are_not_missed() -> None:
    small = flushed()
    small.upsert({1: 100})
    values(small)
    small.upsert({2: 200})
    small.store.flush()
    assert small.rowset.tracker.redo
    small.upsert({3: 300})
    assert values(small).to_pylist()[:4] == [0, 100, 200, 300]


def test_a_view_from_before_the_last_change_gets_its_own_cells() -> None:
    small = flushed()
    small.upsert({1: 100})
    rowset, column = small.rowset, small.table.schema.columns[1]
    earlier = rowset.view(small.store.begin().bound, None)
    small.upsert({1: 101})
    later = rowset.view(small.store.begin().bound, None)
    assert isinstance(earlier, CurrentView) and isinstance(later, CurrentView)

    def read(view: CurrentView) -> int:
        base = WholeBase(rowset.base, column, None)
        array = rowset.base.patched_columns.whole(view, column, base)
        assert array is not None
        return int(array[1].as_py())

    assert [read(later), read(earlier), read(later)] == [101, 100, 101]


def test_a_column_without_changes_is_none_of_its_business() -> None:
    small = flushed()
    small.upsert({1: 100})
    view = small.rowset.view(small.store.begin().bound, None)
    assert isinstance(view, CurrentView)
    key = small.table.schema.columns[0]
    base = WholeBase(small.rowset.base, key, None)
    assert PatchedColumns(small.store.cache).whole(view, key, base) is None


def test_scans_beside_a_writer_see_whole_commits(tmp_path: Path) -> None:
    def connect() -> Connection:
        path = str(tmp_path / "db")
        return pykudu_sql.connect(path, autocommit=True, maintenance=False, durability="off")

    connection = connect()
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT, s STRING)")
    rows = 5000

    def commit(number: int) -> None:
        write(connection, {key: (number, f"the text of commit {number}") for key in range(rows)})

    commit(0)
    connection.execute("FLUSH t")
    stop = threading.Event()

    def read(reader: Connection) -> list[tuple[int, int, str, str]]:
        read_rows = []
        while not stop.is_set():
            query = "SELECT min(v), max(v), min(s), max(s) FROM t WHERE k >= 0"
            read_rows += reader.execute(query).fetchall()
        reader.close()
        return read_rows

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(read, connect()) for _ in range(3)]
        for number in range(1, 10):
            commit(number)
        stop.set()
        for each in running:
            for least, greatest, first, last in each.result():
                assert least == greatest and first == last == f"the text of commit {least}"
    connection.close()
