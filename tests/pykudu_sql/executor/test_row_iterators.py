"""Iterators of rows and of tables as readers of Arrow."""

import resource
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection, Error
from pykudu_sql.executor.row_iterators import is_iterator, reader_of_items


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING, f FLOAT DEFAULT 1.5)")
        yield connection


def counted(connection: Connection) -> Any:
    return connection.execute("SELECT count(*), min(id), max(id), max(v) FROM t").fetchall()


@pytest.mark.parametrize(
    "items",
    [
        pytest.param(lambda: ({"id": i, "v": "a"} for i in range(20_000)), id="dicts"),
        pytest.param(lambda: ((i, "a") for i in range(20_000)), id="tuples"),
        pytest.param(lambda: map(list, zip(range(20_000), ["a"] * 20_000, strict=True)), id="map"),
        *(
            pytest.param(lambda make=make: map(make, range(0, 20_000, 5_000)), id=name)
            for name, make in (
                ("batches", lambda at: pa.record_batch(of_numbers(at))),
                ("tables", lambda at: pa.table(of_numbers(at))),
                ("pandas", lambda at: pd.DataFrame(of_numbers(at))),
                ("polars", lambda at: pl.DataFrame(of_numbers(at))),
            )
        ),
    ],
)
def test_all_that_an_iterator_gives_is_appended(connection: Connection, items: Any) -> None:
    assert connection.append("t", items()) == 20_000
    assert counted(connection) == [(20_000, 0, 19_999, "a")]
    assert connection.execute("SELECT DISTINCT f FROM t").fetchall() == [(1.5,)]


@pytest.mark.parametrize("collect", [iter, list, tuple])
@pytest.mark.parametrize(
    "make", [pa.record_batch, pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame]
)
def test_tables_in_an_iterator_or_a_list_are_appended_and_make_a_table(
    connection: Connection, make: Any, collect: Any
) -> None:
    def items() -> Any:
        return collect(make(of_numbers(at)) for at in range(0, 20_000, 5_000))

    assert connection.append("t", items()) == 20_000
    assert counted(connection) == [(20_000, 0, 19_999, "a")]
    connection.commit()
    assert connection.create_table("made", items(), key=["id"]) == 20_000
    assert connection.execute("SELECT count(*), max(v) FROM made").fetchall() == [(20_000, "a")]


def test_rows_with_a_field_named_columns_are_rows(connection: Connection) -> None:
    row = namedtuple("row", ["id", "columns"])
    connection.execute("CREATE TABLE c (id INT PRIMARY KEY, columns STRING)")
    assert connection.append("c", [row(1, "a"), row(2, "b")]) == 2
    assert connection.append("c", iter([row(3, "c")])) == 1


def of_numbers(start: int) -> dict[str, list[Any]]:
    numbers = list(range(start, start + 5_000))
    return {"id": numbers, "v": ["a"] * len(numbers)}


def test_other_operations_and_nothing(connection: Connection) -> None:
    assert connection.append("t", iter([])) == 0
    assert connection.append("t", ({"id": i} for i in (1, 2, 2)), "upsert") == 3
    assert connection.append("t", ((i,) for i in (1, 5)), "delete_ignore") == 1
    assert counted(connection) == [(1, 2, 2, None)]
    connection.commit()
    assert connection.create_table("u", ({"id": i} for i in range(3)), key=["id"]) == 3


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"id": 1}] * 8_999 + [{"id": "x"}], r"row 9000, column 'id': cannot read 'x' as INT"),
        ([{"id": 1}] * 8_192 + [{"v": "x"}], r"row 8193 has the columns \(v\), the first \(id\)"),
        ([{"id": 1}] * 8_500 + [{"v": "x"}], r"row 8501 does not fit"),
        ([{"id": 1}, 3], "cannot append an int"),
        ([None], "'NoneType' has no names and types of columns"),
        ([pa.table({"id": [1]}), pa.table({"v": ["a"]})], r"item 2 has the columns \(v\)"),
    ],
)
def test_an_item_that_does_not_fit_is_named_and_nothing_is_written(
    connection: Connection, items: list[Any], message: str
) -> None:
    with pytest.raises(Error, match=message):
        connection.append("t", iter(items), "upsert")
    assert counted(connection) == [(0, None, None, None)]


def test_errors_of_the_program_are_its_own(connection: Connection) -> None:
    def rows() -> Iterator[dict[str, int]]:
        yield from ({"id": i} for i in range(10_000))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        connection.append("t", rows())
    assert counted(connection) == [(0, None, None, None)]


def test_rows_that_do_not_fit_are_collected(connection: Connection) -> None:
    connection.execute("SET row_errors = 'collect'")
    assert connection.append("t", ({"id": i if i % 2 else "x"} for i in range(10))) == 5
    assert [error.position for error in connection.row_errors] == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("gives", [iter, list])
@pytest.mark.parametrize("dict_first", [True, False])
def test_dicts_and_tuples_do_not_mix(connection: Connection, gives: Any, dict_first: bool) -> None:
    rows: list[Any] = [{"id": 1, "v": "a"}, (2, "b")]
    with pytest.raises(Error, match="row 2 does not fit: it is") as caught:
        connection.append("t", gives(rows if dict_first else rows[::-1]))
    assert caught.value.sqlstate == "07001"
    assert counted(connection)[0][0] == 0


def test_rows_are_converted_some_at_a_time() -> None:
    sizes = []

    def batch_of(rows: Any, first: int) -> pa.RecordBatch:
        sizes.append(len(rows))
        return pa.record_batch({"a": [row[0] for row in rows]})

    reader = reader_of_items((("x" * 1000,) for _ in range(100)), batch_of, 10_000)
    assert reader is not None and not is_iterator(reader)
    assert reader.read_all().num_rows == 100
    assert max(sizes) < 12


def test_memory_does_not_grow_with_the_rows(tmp_path: Any) -> None:
    def rows(count: int) -> Iterator[tuple[int, str]]:
        return ((i, "v" * 2_000) for i in range(count))

    with pykudu_sql.connect(tmp_path / "db", memory_limit="300 MB") as stored:
        stored.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert stored.append("t", rows(200_000)) == 200_000
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 450_000
