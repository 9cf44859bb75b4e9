"""Statements that reach for files, settings or functions of the engine: refused, without a trace.

Long IN lists keep what NULL means in them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import Connection, Error, InternalError


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT, a STRING)")
        connection.execute("INSERT INTO t VALUES (1, 2, 'x'), (2, NULL, 'y'), (3, 4, NULL)")
        yield connection


def outcome(connection: Connection, sql: str) -> Error | None:
    """The error of a statement, None if it ran; anything but an error of ours is raised."""
    try:
        connection.execute(sql).fetchall()
    except Error as error:
        return error
    return None


@pytest.mark.parametrize("count", [10, 1_001])
def test_long_in_lists_keep_what_null_means(connection: Connection, count: int) -> None:
    listed = ", ".join(str(number) for number in range(2, count))
    found = connection.execute(f"SELECT k FROM t WHERE v IN ({listed}) ORDER BY k").fetchall()
    assert found == [(1,), (3,)]
    found = connection.execute(f"SELECT k FROM t WHERE v IN (NULL, {listed}) ORDER BY k")
    assert found.fetchall() == [(1,), (3,)]
    found = connection.execute(f"SELECT k FROM t WHERE k NOT IN ({listed}) ORDER BY k")
    assert found.fetchall() == [(1,)]
    found = connection.execute(f"SELECT k FROM t WHERE k NOT IN ({listed}, NULL)")
    assert found.fetchall() == []
    found = connection.execute(f"SELECT k, v IN ({listed}, NULL) FROM t ORDER BY k")
    assert found.fetchall() == [(1, True), (2, None), (3, True)]
    found = connection.execute(f"SELECT k, v + 0 NOT IN ({listed}) FROM t ORDER BY k")
    assert found.fetchall() == [(1, False), (2, None), (3, False)]


FILE_FUNCTIONS = [
    "read_csv", "read_csv_auto", "read_text", "read_blob", "read_json", "read_json_auto",
    "read_ndjson", "read_json_objects", "read_parquet", "parquet_scan", "parquet_metadata",
    "parquet_schema", "parquet_file_metadata", "parquet_kv_metadata", "parquet_bloom_probe",
    "glob", "sniff_csv", "read_duckdb", "arrow_scan", "pandas_scan", "python_map_function",
    "query", "query_table", "duckdb_settings", "duckdb_tables", "duckdb_functions",
    "duckdb_secrets", "duckdb_databases", "duckdb_extensions", "duckdb_logs", "duckdb_memory",
    "duckdb_temporary_files", "duckdb_external_file_cache", "pragma_version", "pragma_table_info",
    "pragma_database_size", "pragma_storage_info", "which_secret", "checkpoint", "force_checkpoint",
    "enable_logging", "enable_profiling", "seq_scan", "test_all_types", "repeat_row", "summary",
    "sql_auto_complete", "json_execute_serialized_sql", "from_substrait", "iceberg_scan",
    "delta_scan", "st_read", "postgres_scan", "sqlite_scan", "mysql_scan", "load_aws_credentials",
]  # fmt: skip
SCALAR_FUNCTIONS = [
    "getenv", "current_setting", "set_config", "write_log", "pg_read_file", "load_extension",
    "readfile", "writefile", "getvariable", "nextval", "currval", "txid_current", "current_query",
    "current_database", "current_schemas", "in_search_path", "sleep_ms", "json_serialize_sql",
    "parse_path", "error", "system", "shell", "xp_cmdshell", "lo_import", "dblink",
]  # fmt: skip
STATEMENTS = [
    "COPY t TO 'LEAK'", "COPY t FROM 'SECRET'", "COPY (SELECT 1) TO 'LEAK'", "ATTACH 'LEAK' AS x",
    "ATTACH ':memory:' AS x", "DETACH x", "EXPORT DATABASE 'LEAK'", "IMPORT DATABASE 'SECRET'",
    "INSTALL httpfs", "LOAD httpfs", "LOAD 'SECRET'", "PRAGMA database_size",
    "PRAGMA enable_profiling", "SET home_directory = 'LEAK'", "SET temp_directory = 'LEAK'",
    "SET enable_external_access = true", "RESET ALL", "CREATE SECRET s (TYPE s3)",
    "CREATE MACRO f(x) AS x", "CALL pragma_version()", "PREPARE p AS INSTALL httpfs", "EXECUTE p",
    "PREPARE p AS SELECT read_text('SECRET')", "PREPARE p (INT) AS FROM 'SECRET'",
    "VACUUM INTO 'LEAK'", "CREATE TEMP TABLE x AS SELECT 1", "CREATE TYPE e AS ENUM ('a')",
    "SELECT * FROM 'SECRET'", 'SELECT * FROM "SECRET"', "SELECT * FROM `SECRET`",
    "FROM 'SECRET'", "SELECT * FROM 'http://localhost:1/x.csv'", "SELECT * INTO 'LEAK' FROM t",
    "CREATE TABLE x STORED AS PARQUET AS SELECT * FROM 'SECRET'", "INSERT INTO t FROM 'SECRET'",
    "SELECT (SELECT content FROM read_text('SECRET'))", "SELECT * FROM t, read_text('SECRET')",
    "WITH x AS (SELECT * FROM read_text('SECRET')) SELECT * FROM x",
    "SELECT * FROM os", "SELECT * FROM secret_frame", "SELECT secret_frame", "SUMMARIZE 'SECRET'",
    "DESCRIBE 'SECRET'", "PIVOT 'SECRET' ON a", "UNPIVOT 'SECRET' ON a", "SHOW ALL TABLES",
    "SELECT * FROM duckdb_settings", "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_class",
]  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with one file that no statement may read, and nothing that one may write."""
    (tmp_path / "secret.csv").write_text("tell-tale\n42\n")
    return tmp_path


def refused(connection: Connection, sql: str, outside: Path) -> bool:
    """Whether a statement fails, and has neither shown the secret nor left a file."""
    error = outcome(connection, sql)
    assert error is not None, sql
    assert "tell-tale" not in str(error)
    assert os.listdir(outside) == ["secret.csv"]
    return not isinstance(error, InternalError)


@pytest.mark.parametrize("function", FILE_FUNCTIONS)
def test_no_table_function_of_the_engine_is_within_reach(
    connection: Connection, outside: Path, function: str
) -> None:
    secret = outside / "secret.csv"
    for call in (f"{function}('{secret}')", f"{function}()", f"\"{function}\"('{secret}')"):
        assert refused(connection, f"SELECT * FROM {call}", outside)
        assert refused(connection, f"SELECT * FROM t, LATERAL {call} x", outside)
    assert refused(connection, f"CALL {function}('{secret}')", outside)


@pytest.mark.parametrize("function", SCALAR_FUNCTIONS)
def test_no_function_that_looks_outside_is_within_reach(
    connection: Connection, outside: Path, function: str
) -> None:
    assert refused(connection, f"SELECT {function}('{outside / 'secret.csv'}')", outside)
    assert refused(connection, f"SELECT k FROM t WHERE {function}('HOME') IS NULL", outside)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_of_the_engine_reaches_files_or_settings(
    connection: Connection, outside: Path, statement: str
) -> None:
    secret_frame = {"secret": ["tell-tale"]}
    sql = statement.replace("SECRET", str(outside / "secret.csv"))
    assert refused(connection, sql.replace("LEAK", str(outside / "leak")), outside)
    assert secret_frame


def test_too_many_of_a_kind_are_refused_before_each_is_worked_out(connection: Connection) -> None:
    ranges = ", ".join(f"PARTITION {i} <= VALUES < {i + 1}" for i in range(4_000))
    made = outcome(
        connection, f"CREATE TABLE r (k INT PRIMARY KEY) PARTITION BY RANGE (k) ({ranges})"
    )
    assert made is not None and "4000 partitions are more than the 1000 allowed" in str(made)
    whens = "WHEN MATCHED AND t.v = 1 THEN UPDATE SET v = 2 " * 500
    merged = outcome(connection, f"MERGE INTO t USING t AS u ON t.k = u.k {whens}")
    assert merged is not None and "500 WHEN clauses are more than the 100 allowed" in str(merged)
