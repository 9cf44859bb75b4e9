"""Joins of tables that do not fit into the memory of scans."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.storage.scan.table_scan import TableScan

ROWS = 300_000
GROUPS = 500
QUERIES = [
    "select count(*), sum(f.v), max(g.word) from f join g on f.g = g.id",
    "select g.word, sum(f.v) from f join g on f.g = g.id where g.id < 9 group by g.word order by 1",
    "select count(*) from f left join g on f.g = g.id + 100 where g.id is null",
    "select count(*), max(a.v) from f a join f b on a.id = b.v",
    "select count(*) from g where exists (select * from f where f.g = g.id and f.v % 7 = 0)",
    "select sum(v) from f where g in (select id from g where word like '%1') and s <> 'x3'",
    "select s, count(*) from f join g on f.g = g.id group by s order by s",
    "select sum(v) from f where v > (select avg(v) from f)",
    "select count(*) from (select id from f union all select id from g)",
    "with w as (select g, sum(v) t from f group by g) select max(x.t - y.t) from w x join w y "
    "on x.g = y.g + 1",
]


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True, threads=2) as opened:
        opened.execute("create table f (id bigint primary key, g int, v bigint, s string)")
        opened.execute("create table g (id int primary key, word string)")
        columns = {
            "id": range(ROWS),
            "g": pa.array([i % GROUPS for i in range(ROWS)], pa.int32()),
            "v": [3 * i for i in range(ROWS)],
            "s": [f"x{i % 10}" for i in range(ROWS)],
        }
        opened.append("f", pa.table(columns))
        words = [f"w{i}" for i in range(GROUPS)]
        opened.append("g", pa.table({"id": pa.array(range(GROUPS), pa.int32()), "word": words}))
        opened.execute("flush table f")
        opened.execute("update f set v = -v where id % 1000 = 0")
        opened.execute("delete from f where id % 1000 = 1")
        yield opened


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("held", [0, 100_000], ids=["nothing held", "small sides held"])
def test_a_streamed_join_has_the_rows_of_one_in_memory(
    connection: pykudu_sql.Connection, sql: str, held: int
) -> None:
    connection.execute("set scan_memory_bytes = 1073741824")
    expected = connection.execute(sql).fetchall()
    connection.execute(f"set scan_memory_bytes = {held}")
    assert connection.execute(sql).fetchall() == expected


def test_the_smallest_sides_of_a_join_are_held(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    streamed: list[int] = []
    make = StreamedScan.__init__

    def note(scan: StreamedScan, rows: TableScan, *others: object) -> None:
        make(scan, rows, *others)  # type: ignore[arg-type]
        streamed.append(scan.row_count)

    monkeypatch.setattr(StreamedScan, "__init__", note)
    connection.execute("set scan_memory_bytes = 100000")
    connection.execute(QUERIES[0]).fetchall()
    assert streamed == [ROWS - ROWS // 1000]


def test_a_statement_reads_what_its_transaction_wrote_by_a_streamed_join(
    connection: pykudu_sql.Connection,
) -> None:
    connection.execute("set scan_memory_bytes = 0")
    before = connection.execute(QUERIES[0]).fetchall()
    connection.execute("begin")
    connection.execute(
        "insert into f select f.id + 1000000, g.id, 1, 's' from f join g on f.g = g.id"
    )
    ((count, _, _),) = connection.execute(QUERIES[0]).fetchall()
    connection.execute("rollback")
    assert count == 2 * before[0][0]
    assert connection.execute(QUERIES[0]).fetchall() == before
