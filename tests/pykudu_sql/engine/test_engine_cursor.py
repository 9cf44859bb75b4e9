"""What stays in a cursor from one query to the next, and what does not."""

import gc
import weakref
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from pykudu_sql.engine import duckdb_engine, engine_cursor
from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions
from pykudu_sql.engine.engine_cursor import EngineCursor
from pykudu_sql.engine.query_engine import with_limits
from pykudu_sql.storage.common.progress import Counter

OPTIONS = EngineOptions(threads=2, memory_limit=256 << 20, spill_directory=None)
SQL = "SELECT sum(a) AS s FROM r"


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    opened = DuckDB(OPTIONS)
    engine = DuckDBEngine(opened)
    yield engine
    engine.close()
    opened.close()


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The relations for which the catalog was changed."""
    made: list[str] = []

    class Noting(EngineCursor):
        def __init__(self, connection: duckdb.DuckDBPyConnection, replaces: bool) -> None:
            super().__init__(_Noted(connection), replaces)  # type: ignore[arg-type]

    class _Noted:
        def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> object:
            if name in ("register", "unregister", "sql"):
                made.append(name)
            return getattr(self._connection, name)

    monkeypatch.setattr("pykudu_sql.engine.engine_cursor.EngineCursor", Noting)
    return made


def total(engine: DuckDBEngine, numbers: list[int], parameters: tuple[object, ...] = ()) -> int:
    sql = SQL if not parameters else f"{SQL} WHERE a > ?"
    relations = {"r": pa.table({"a": pa.array(numbers, pa.int64())})}
    return int(engine.execute(sql, relations, parameters).table.column(0)[0].as_py())


def test_a_query_that_comes_again_changes_no_catalog_and_is_not_bound_again(
    engine: DuckDBEngine, changes: list[str]
) -> None:
    assert total(engine, [1]) == 1
    assert changes == ["register", "sql", "unregister"]
    assert total(engine, [2, 3]) == 5
    changes.clear()
    assert [total(engine, [n, n]) for n in range(5)] == [0, 2, 4, 6, 8]
    assert changes == []


def test_one_with_parameters_is_bound_again(engine: DuckDBEngine, changes: list[str]) -> None:
    for _ in range(2):
        assert total(engine, [1, 2, 3], (1,)) == 5
    changes.clear()
    assert [total(engine, [1, 2, 3], (least,)) for least in range(3)] == [6, 5, 3]
    assert changes == ["sql"] * 3


def test_queries_over_different_columns_take_turns(
    engine: DuckDBEngine, changes: list[str]
) -> None:
    relations = [{"r": pa.table({name: [1, 2]})} for name in "abc"]
    for turn in range(4):
        if turn == 2:
            changes.clear()
        for name, each in zip("abc", relations, strict=True):
            answer = engine.execute(f"SELECT max({name}) FROM r", each, ())
            assert answer.table.column(0).to_pylist() == [2]
    assert changes == []


def test_other_columns_under_a_name_are_read_where_cursors_are_few(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "MAX_CURSORS", 1)
    for _ in range(3):
        for kind, expected in ((pa.int64(), "BIGINT"), (pa.string(), "STRING")):
            relation = pa.table({"a": pa.array([7], pa.int64()).cast(kind)})
            answer = engine.execute("SELECT max(a) FROM r", {"r": relation}, ())
            assert answer.types == (expected,)
    assert len(engine._idle) == 1


def test_rows_are_let_go_with_their_query(engine: DuckDBEngine) -> None:
    for _ in range(3):
        relation = pa.table({"a": [1, 2]})
        gone = weakref.ref(relation)
        stream = engine.stream(SQL, {"r": relation}, (), 1 << 20, Counter("rows"))
        assert stream.is_all
        del relation, stream
        gc.collect()
        assert gone() is None


def test_a_duckdb_that_reads_no_replaced_rows_has_them_registered_each_time(
    engine: DuckDBEngine, changes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDB, "_replaces_all", False)
    monkeypatch.setattr(
        "pykudu_sql.engine.relations.replaceable_table.reads_replaced", lambda connection: False
    )
    assert [total(engine, [n, n]) for n in range(3)] == [0, 2, 4]
    assert changes == ["register", "sql", "unregister"] * 3


def test_one_duckdb_is_asked_for_all_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def ask(connection: object) -> bool:
        asked.append(connection)
        return True

    monkeypatch.setattr(DuckDB, "_replaces_all", False)
    monkeypatch.setattr("pykudu_sql.engine.relations.replaceable_table.reads_replaced", ask)
    for _ in range(2):
        database = DuckDB(OPTIONS)
        assert [database.cursor()._replaces for _ in range(3)] == [False, True, True]
        database.close()
    assert len(asked) == 1


def test_views_are_bounded(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_cursor, "_MOST_VIEWS", 2)
    names = [f"r{number}" for number in range(5)]
    relations = {name: pa.table({"a": [1]}) for name in names}
    sql = "SELECT " + " + ".join(f"(SELECT sum(a) FROM {name})" for name in names)
    for _ in range(3):
        assert engine.execute(sql, relations, ()).table.column(0).to_pylist() == [5]
    assert max(len(cursor._views) for cursor in engine._idle) == 2


def test_a_relation_with_limits_is_another_one_than_without(engine: DuckDBEngine) -> None:
    plain = pa.table({"a": pa.array([1, -5, None], pa.int32()), "b": ["x", "y", "z"]})
    sql = "SELECT a, b, stats(a)::VARCHAR AS s FROM r"
    for _ in range(2):
        for rows, known in ((plain, False), (with_limits(plain, {"a": 8}), True)):
            result = engine.execute(sql, {"r": rows}, ()).table
            assert result.select(["a", "b"]).to_pydict() == plain.to_pydict()
            assert result.schema.field("a").type == pa.int32()
            first = result.column("s")[0].as_py()
            assert ("'max': 7" in first and "'min': -7" in first) is known
