"""What Spark says where it calls us itself: our reason in its first line, and no trace."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.spark.worker_errors import loaded_by_task, reason_alone
from pykudu_sql.storage.errors import InternalError, InvalidValueError, OperationalError

HIDE = "SPARK_HIDE_TRACEBACK"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a worker."""
    monkeypatch.setenv("PYTHON_WORKER_FACTORY_SECRET", "x")
    monkeypatch.delenv("PYKUDU_SPARK_LOG", raising=False)
    monkeypatch.setenv(HIDE, "")


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = str(tmp_path / "my.db")
    with pykudu_sql.connect(path) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, w INT)")
        conn.execute("INSERT INTO t VALUES (1, 1)")
    return path


def test_a_worker_hides_the_trace_of_an_error_of_ours(environment: None) -> None:
    with pytest.raises(InvalidValueError), reason_alone():
        raise InvalidValueError("x")
    assert os.environ[HIDE] == "1"


def test_a_worker_shows_the_trace_of_a_fault_of_ours(environment: None) -> None:
    with pytest.raises(InternalError), reason_alone():
        raise InternalError("x")
    assert os.environ[HIDE] == ""


def test_who_wants_the_log_of_spark_sees_traces(
    environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYKUDU_SPARK_LOG", "WARN")
    with pytest.raises(InvalidValueError), reason_alone():
        raise InvalidValueError("x")
    assert os.environ[HIDE] == ""


def test_a_process_that_is_no_worker_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HIDE, raising=False)
    with pytest.raises(InvalidValueError), reason_alone():
        raise InvalidValueError("x")
    assert HIDE not in os.environ


def test_a_worker_says_which_package_it_lacks(environment: None) -> None:
    with pytest.raises(OperationalError, match="has no module 'no_such_module'"), reason_alone():
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_a_function_of_tasks_says_which_package_it_lacks_when_it_is_loaded(
    environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Callable[[list[int]], Iterator[int]] = loaded_by_task(accumulate)
    assert list(run([1, 2, 3])) == [1, 3, 6]
    monkeypatch.setitem(sys.modules, "itertools", None)
    with pytest.raises(OperationalError, match="has no module 'itertools'"):
        list(run([1, 2, 3]))
    assert os.environ[HIDE] == "1"


WAYS: dict[str, Callable[[SparkSession, str], object]] = {
    "reading no table": lambda spark, path: (
        spark.read.format("pykudu").option("table", "nosuch").load(path)
    ),
    "reading with a wrong condition": lambda spark, path: (
        spark.read.format("pykudu").options(table="t", where="nosuch > 1").load(path).collect()
    ),
    "writing a column that is none": lambda spark, path: (
        spark.range(3).selectExpr("id", "1 AS nosuch").write.format("pykudu").mode("append")
    ).option("table", "t").save(path),
    "writing a value out of range": lambda spark, path: (
        spark.range(2, 3).selectExpr("id", "99999999999L AS w").write.format("pykudu")
    ).mode("append").option("table", "t").save(path),
    "writing a key that is there": lambda spark, path: (
        spark.range(1, 2).write.format("pykudu").mode("append").option("table", "t").save(path)
    ),
    "a table of Spark's catalog": lambda spark, path: (
        spark.sql(
            f"CREATE TABLE kept (id BIGINT) USING pykudu OPTIONS (table 't', path '{path}')"
        ),
        spark.table("kept").collect(),
    ),
    "a stream of no table": lambda spark, path: (
        spark.readStream.format("pykudu").options(table="nosuch", readChangeFeed="true").load(path)
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_spark_names_our_reason_before_anything_of_a_trace(
    spark: SparkSession, database: str, way: str
) -> None:
    with pytest.raises(PySparkException) as caught:
        WAYS[way](spark, database)
    spark.sql("DROP TABLE IF EXISTS kept")
    text = str(caught.value)
    reason = text.index("pykudu_sql.storage.errors.")
    assert "Traceback" not in text
    assert "\tat " not in text[:reason]
    assert text[:reason].count("\n") <= 1
