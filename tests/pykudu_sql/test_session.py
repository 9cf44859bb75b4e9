"""Sessions: several on one database, threads on one session, cached plans, interrupts."""

import gc
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.session.session import Session


def test_importing_the_package_loads_none_of_the_libraries_underneath() -> None:
    program = (
        "import sys, pykudu_sql;"
        "print(sorted({'pyarrow', 'duckdb', 'sqlglot', 'numpy', 'pandas', 'pyspark'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


def test_the_engine_is_loaded_by_the_first_query_only() -> None:
    program = (
        "import sys, pykudu_sql;"
        "c = pykudu_sql.connect(autocommit=True);"
        "c.execute('CREATE TABLE t (a INT PRIMARY KEY)');"
        "c.execute('INSERT INTO t VALUES (1)');"
        "assert c.execute('SELECT a FROM t WHERE a = 1').fetchone() == (1,);"
        "assert 'duckdb' not in sys.modules;"
        "c.execute('SELECT 1 + 1');"
        "assert 'duckdb' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_statements_of_few_rows_load_no_pandas() -> None:
    statements = (
        "CREATE TABLE t (a INT PRIMARY KEY, b STRING, c TIMESTAMP, d DECIMAL(9,2), e BOOLEAN)",
        "INSERT INTO t VALUES (1, 'x', now(), 1.5, TRUE)",
        "INSERT INTO t VALUES (2, 'y', now(), 2.5, NULL), (3, 'z', NULL, NULL, FALSE)",
        "UPSERT INTO t VALUES (3, 'w', now(), 0.5, TRUE)",
        "UPDATE t SET b = 'v' WHERE a = 2",
        "UPDATE t SET d = d + 1",
        "DELETE FROM t WHERE a = 1",
        "SELECT e, max(c), sum(d) FROM t WHERE b > 'a' GROUP BY e",
        "SELECT * FROM t WHERE e ORDER BY a LIMIT 1",
    )
    program = (
        "import sys, pykudu_sql;"
        "c = pykudu_sql.connect(autocommit=True);"
        f"[c.execute(sql) for sql in {statements!r}];"
        "assert c.execute('SELECT count(*) FROM t').fetchall() == [(2,)];"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_queries_over_rows_on_disk_and_their_changes_load_no_pandas(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    with pykudu_sql.connect(path, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY, b STRING, c INT, d DECIMAL(9,2))")
        rows = 3_000
        connection.append(
            "t",
            {
                "a": list(range(rows)),
                "b": [("x", "y", "z", None)[i % 4] for i in range(rows)],
                "c": [i // 100 for i in range(rows)],
                "d": [None] * rows,
            },
        )
        connection.execute("FLUSH TABLE t")
    statements = (
        "SELECT count(*), sum(c) FROM t WHERE b = 'x' OR b IS NULL",
        "SELECT b, c, count(*) FROM t WHERE c IN (3, 5) AND b <> 'x' GROUP BY b, c ORDER BY 1, 2",
        "SELECT count(*) FROM t AS o JOIN t AS i ON o.a = i.c WHERE i.b = 'y'",
        "UPDATE t SET c = c + 1, d = 1.5 WHERE a % 3 = 0",
        "DELETE FROM t WHERE a % 100 = 1",
        "SELECT sum(c), max(d) FROM t WHERE b = 'x' AND c < 20",
        "FLUSH TABLE t",
        "SELECT sum(c), max(d) FROM t WHERE b = 'x' AND c < 20",
        "OPTIMIZE TABLE t FULL",
        "SELECT * FROM t ORDER BY a",
    )
    program = (
        "import sys, pykudu_sql;"
        f"c = pykudu_sql.connect({path!r}, autocommit=True);"
        f"{{sql: c.execute(sql) for sql in {statements!r}}};"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_copy_of_a_table_to_a_file_loads_neither_what_plans_queries_nor_an_engine(
    tmp_path: Path,
) -> None:
    sql = f"COPY t TO '{tmp_path / 'x.csv'}'"
    program = (
        "import sys, pykudu_sql;"
        f"c = pykudu_sql.connect({str(tmp_path / 'db')!r}, autocommit=True, files=True);"
        f"c.execute({sql!r});"
        "print(*(name.removeprefix('pykudu_sql.') for name in sys.modules))"
    )
    with pykudu_sql.connect(str(tmp_path / "db"), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY, b STRING)")
        connection.execute("INSERT INTO t VALUES (1, 'x')")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (tmp_path / "x.csv").read_text() == "a,b\n1,x\n"
    unwanted = {
        "engine.duckdb_engine",
        "executor.plan_runners",
        "executor.reading.queries",
        "planner.commands.commands",
        "planner.ddl_grammar.syntax",
        "planner.plan.plan",
        "planner.plan.query_plans",
        "planner.query.query",
        "storage.catalog.alter",
        "storage.remote.history_scan",
        "storage.remote.system_tables",
        "duckdb",
        "sqlglot",
    }
    rooms = unwanted - {"duckdb", "sqlglot"}
    assert all(find_spec(f"pykudu_sql.{name}") for name in rooms)
    assert unwanted.isdisjoint(done.stdout.decode().split())


@pytest.mark.parametrize("sql", ["CREATE DATABASE d", "SHOW TABLES", "FLUSH", "SET as_of = NULL"])
def test_a_small_statement_loads_no_parser_of_queries(sql: str) -> None:
    program = (
        "import sys, pykudu_sql;"
        f"pykudu_sql.connect(autocommit=True).execute({sql!r});"
        "assert 'sqlglot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_query_without_a_table_loads_nothing_that_reads_writes_or_compacts_rows() -> None:
    program = (
        "import sys, pykudu_sql;"
        "c = pykudu_sql.connect(autocommit=True);"
        "assert c.execute('SELECT 1').fetchone() == (1,);"
        "print(*(name.removeprefix('pykudu_sql.') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    unwanted = {
        "engine.duckdb_engine",
        "executor.plan_runners",
        "planner.plan.plan",
        "storage.cfile.cfile_reader",
        "storage.cfile.cfile_writer",
        "storage.reader_store",
        "storage.recovery.database_reader",
        "storage.tablet.bootstrap",
        "storage.tablet.delta.deltafile",
        "storage.tablet.tablet",
        "storage.transaction.row_writer",
        "executor.reading.queries",
        "executor.writing.writes",
        "executor.inspection.listings",
        "planner.commands.commands",
        "planner.query.query",
        "planner.ddl_grammar.syntax",
        "planner.explain.explain",
        "storage.transaction.transaction",
        "storage.scan.table_scan",
        "storage.ingest.bulk_writer",
        "storage.upkeep.on_demand",
        "storage.upkeep.introspection",
        "storage.ingest.staging",
        "storage.tablet.maintenance.compaction",
        "storage.tablet.maintenance.flush",
        "duckdb",
        "numpy",
        "pyarrow",
        "sqlglot",
        "results.table_result",
        "storage.catalog.alter",
        "storage.catalog.check_constraint",
        "storage.catalog.system_catalog",
        "storage.cfile.encoding.type_encodings",
        "storage.common.partition.partition",
        "storage.maintenance.runner",
        "storage.tablet.maintenance.compaction_policy",
    }
    rooms = unwanted - {"duckdb", "numpy", "pyarrow", "sqlglot"}
    assert all(find_spec(f"pykudu_sql.{name}") for name in rooms)
    assert unwanted.isdisjoint(done.stdout.decode().split())


def test_connections_to_one_path_share_the_database_until_the_last_is_closed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "db"
    first = pykudu_sql.connect(path, autocommit=True)
    second = pykudu_sql.connect(f"{tmp_path}/./db", autocommit=True)
    first.execute("CREATE TABLE t (a INT PRIMARY KEY)")
    first.close()
    second.execute("INSERT INTO t VALUES (1)")
    second.close()
    with pykudu_sql.connect(path) as third:
        assert third.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_databases_in_memory_are_apart() -> None:
    with pykudu_sql.connect() as first, pykudu_sql.connect(":memory:") as second:
        first.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        assert first.list_tables() == ["t"]
        assert second.list_tables() == []


def test_a_second_connection_must_agree_on_the_settings_of_the_database(tmp_path: Path) -> None:
    with (
        pykudu_sql.connect(tmp_path / "db", durability="off"),
        pytest.raises(pykudu_sql.ProgrammingError, match="durability = 'off'"),
    ):
        pykudu_sql.connect(tmp_path / "db")


def test_a_second_process_is_told_who_holds_the_database(tmp_path: Path) -> None:
    program = (
        "import sys, pykudu_sql\n"
        "try: pykudu_sql.connect(sys.argv[1])\n"
        "except pykudu_sql.OperationalError as error: print(error.sqlstate, error)"
    )
    with pykudu_sql.connect(tmp_path / "db"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "db")],
            capture_output=True,
            check=True,
            text=True,
        )
    assert done.stdout.startswith("55006")


def test_read_only_refuses_writes_and_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with pytest.raises(pykudu_sql.OperationalError, match="no database"):
        pykudu_sql.connect(path, read_only=True)
    assert not path.exists()
    with pykudu_sql.connect(path, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
    with pykudu_sql.connect(path, read_only=True, autocommit=True) as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]
        for sql in ("INSERT INTO t VALUES (2)", "DELETE FROM t", "DROP TABLE t", "FLUSH"):
            with pytest.raises(pykudu_sql.OperationalError, match="read-only"):
                connection.execute(sql)
        with pytest.raises(pykudu_sql.OperationalError, match="read-only"):
            connection.append("t", {"a": [3]})


@pytest.fixture
def connection() -> Connection:
    connection = pykudu_sql.connect(":memory:", autocommit=True)
    connection.execute("CREATE TABLE t (a INT PRIMARY KEY, v STRING)")
    connection.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    return connection


def test_a_prepared_statement_follows_changes_of_the_catalog(connection: Connection) -> None:
    by_key, by_scan = "SELECT * FROM t WHERE a = ?", "SELECT * FROM t WHERE a + 0 = ?"
    for sql in (by_key, by_scan):
        assert connection.execute(sql, (1,)).fetchall() == [(1, "one")]
    connection.execute("ALTER TABLE t ADD COLUMN w INT DEFAULT 7")
    for sql in (by_key, by_scan):
        assert connection.execute(sql, (1,)).fetchall() == [(1, "one", 7)]
    connection.execute("ALTER TABLE t RENAME COLUMN v TO name")
    insert = "INSERT INTO t VALUES (?, ?, ?)"
    connection.execute(insert, (3, "three", 3))
    connection.execute("ALTER TABLE t DROP COLUMN w")
    with pytest.raises(pykudu_sql.ProgrammingError):
        connection.execute(insert, (4, "four", 4))
    connection.execute("DROP TABLE t")
    with pytest.raises(pykudu_sql.ProgrammingError, match="does not exist"):
        connection.execute(by_key, (1,))


def test_a_prepared_statement_follows_changes_of_the_settings(connection: Connection) -> None:
    create = "CREATE TABLE {} (a INT)"
    with pytest.raises(pykudu_sql.ProgrammingError, match="primary key"):
        connection.execute(create.format("u"))
    connection.execute("SET implicit_primary_key = true")
    connection.execute("SET default_hash_partitions = 3")
    connection.execute(create.format("u"))
    assert len(connection.execute("SHOW TABLETS u").fetchall()) == 3


def test_one_statement_runs_with_parameters_of_any_type(connection: Connection) -> None:
    sql = "SELECT v FROM t WHERE a = ? OR a + 0 = ?"
    for one in (1, 1.0, "1"):
        assert connection.execute(sql, (one, one)).fetchall() == [("one",)]
    assert connection.execute(sql, (None, None)).fetchall() == []


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT v FROM t WHERE a = ?", ()),
        ("SELECT v FROM t WHERE a = ?", (1, 2)),
        ("SELECT v FROM t WHERE a = ?", "1"),
        ("SELECT v FROM t WHERE a = ?", {"a": 1}),
        ("SELECT v FROM t WHERE a = :a", (1,)),
        ("SELECT v FROM t WHERE a = :a", {"b": 1}),
        ("SELECT v FROM t WHERE v = ?", ([1],)),
        ("SELECT v FROM t WHERE v = ?", (object(),)),
        ("SELECT 1", (1,)),
        (None, ()),
        (b"SELECT 1", ()),
    ],
)
def test_parameters_that_do_not_match_are_an_interface_error(
    connection: Connection, sql: str, parameters: object
) -> None:
    with pytest.raises((pykudu_sql.InterfaceError, pykudu_sql.DataError)):
        connection.execute(sql, parameters)  # type: ignore[arg-type]


def test_text_that_is_not_unicode_is_refused(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="Unicode"):
        connection.execute("SELECT '\ud800'")
    with pytest.raises(pykudu_sql.DataError):
        connection.execute("INSERT INTO t VALUES (5, ?)", ("\ud800",))


def test_threads_may_share_a_connection(connection: Connection) -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        for i in range(20):
            key = number * 1000 + i
            connection.execute("INSERT INTO t VALUES (?, ?)", (key, str(key)))
            found = connection.execute("SELECT v FROM t WHERE a = ?", (key,)).fetchone()
            scanned = connection.execute("SELECT v FROM t WHERE a + 0 = ?", (key,)).fetchone()
            if not found == scanned == (str(key),):
                wrong.append((key, found, scanned))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (82,)


def test_an_interrupted_statement_changes_nothing_and_the_next_one_runs(
    connection: Connection,
) -> None:
    connection.append("t", {"a": pa.array(range(1000, 101_000))})
    caught: list[pykudu_sql.Error] = []

    def work() -> None:
        try:
            connection.execute(
                "UPDATE t SET v = (SELECT CAST(count(*) AS STRING) FROM t x, t y"
                " WHERE x.a * y.a % 7 = t.a)"
            )
        except pykudu_sql.OperationalError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        connection.interrupt()
        thread.join(0.02)
    assert [error.sqlstate for error in caught] == ["57014"]
    assert connection.execute("SELECT v FROM t WHERE a = 1").fetchone() == ("one",)


def test_errors_point_at_the_place_and_suggest_a_near_name(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError) as caught:
        connection.execute("SELECT vv\nFROM t")
    assert caught.value.sqlstate == "42703"
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (1, 8)
    assert "LINE 1: SELECT vv\n               ^^" in str(caught.value)


def test_a_connection_that_is_forgotten_gives_the_database_back(tmp_path: Path) -> None:
    path = tmp_path / "db"
    connection: Connection | None = pykudu_sql.connect(path, durability="off")
    assert connection is not None
    connection = None
    pykudu_sql.connect(path, durability="normal").close()


class _Holder:
    """Refers to itself, so that only the collector finds what it holds."""

    def __init__(self, held: object) -> None:
        self.held = held
        self.itself = self


def test_a_database_closes_while_its_maintenance_collects_another_connection(
    tmp_path: Path,
) -> None:
    for number in range(20):
        _Holder(pykudu_sql.connect(tmp_path / f"{number}", durability="off"))
    closing = pykudu_sql.connect(tmp_path / "closing", durability="off")
    manager = closing._session.database.store.maintenance
    awake, collected = threading.Event(), threading.Event()

    def collect() -> None:
        # As a collection that starts within an allocation while the database is closed.
        awake.set()
        manager._stop.wait(60)
        gc.collect()
        collected.set()

    manager.wake = collect  # type: ignore[method-assign]
    assert awake.wait(60)
    closer = threading.Thread(target=closing.close, daemon=True)
    closer.start()
    assert collected.wait(60)
    closer.join(60)
    assert not closer.is_alive()
    pykudu_sql.connect(tmp_path / "0", durability="normal").close()


def test_a_statement_goes_on_while_it_collects_a_result_of_its_own_session() -> None:
    connection = pykudu_sql.connect(
        ":memory:", autocommit=True, threads=1, result_memory_bytes=1000
    )
    cursor = connection.execute("SELECT * FROM range(1000000)")
    cursor.fetchone()
    _Holder(cursor)
    del cursor
    ended = threading.Event()

    def collect() -> None:
        with connection._session._state.engine._lock:  # type: ignore[attr-defined]
            gc.collect()
        ended.set()

    threading.Thread(target=collect, daemon=True).start()
    assert ended.wait(60)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.close()


def test_names_of_columns_and_tables_are_listed_for_completion(connection: Connection) -> None:
    assert connection.list_tables() == ["t"]
    assert connection.list_columns("t") == ["a", "v"]
    with pytest.raises(pykudu_sql.ProgrammingError):
        connection.list_columns("nosuch")
    assert connection.path == ":memory:"


def test_the_statement_cache_is_bounded(connection: Connection) -> None:
    session: Session = connection._session
    for i in range(600):
        connection.execute(f"SELECT v FROM t WHERE a = {i}")
    assert len(list(session._plans.counted())) == 512
