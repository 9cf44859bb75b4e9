"""TPC-H at scale factor 0.1 over partitioned, flushed tables: DuckDB's answers on the same rows."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import pykudu_sql
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, has_generator, tpch_rows
from benchmarks.workloads.queries.analytics import result_rows, same_rows
from pykudu_sql import Connection

SCALE = 0.1

pytestmark = pytest.mark.skipif(not has_generator(), reason="tpchgen-cli is not installed")


@pytest.fixture(scope="module")
def peer() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": 2})
    for name in TPCH:
        connection.register("rows", tpch_rows(SCALE, name))
        connection.execute(f"CREATE TABLE {name} AS FROM rows")
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path: Path = tmp_path_factory.mktemp("tpch") / "tpch.db"
    with pykudu_sql.connect(str(path), autocommit=True, durability="off") as connection:
        for table in TPCH.values():
            keys = ", ".join(table.key)
            suffix = f"PARTITION BY HASH ({keys}) PARTITIONS {table.buckets}"
            connection.execute(table.ddl({}, suffix))
            connection.append(table.name, tpch_rows(SCALE, table.name))
            connection.execute(f"FLUSH TABLE {table.name}")
        yield connection


@pytest.mark.parametrize("number", QUERIES)
def test_a_query_has_the_answer_of_duckdb(
    connection: Connection, peer: duckdb.DuckDBPyConnection, number: int
) -> None:
    ours = connection.execute(QUERIES[number]).fetch_arrow_table()
    theirs = peer.sql(QUERIES[number]).to_arrow_table()
    assert ours.num_rows or number in (2, 18, 20)
    assert same_rows(result_rows(ours), result_rows(theirs))
