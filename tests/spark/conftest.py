"""One Spark session for all tests, started once; without PySpark or Java they are skipped."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Never

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SkippedModule(pytest.Module):
    """A module of tests that cannot even be imported here."""

    def collect(self) -> Never:
        """Say so instead of what is in it."""
        pytest.skip("PySpark is not installed: pip install '.[spark]'")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> object:
    """Leave modules to pytest where there is PySpark."""
    if importlib.util.find_spec("pyspark") is None:
        return SkippedModule.from_parent(parent, path=module_path)
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """Two cores, a failed task tried twice more, one partition after a shuffle."""
    from pykudu_sql.spark.sessions.session import start_session
    from pykudu_sql.storage.errors import OperationalError

    folder = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "1",
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    try:
        session = start_session("local[2,3]", conf, "pykudu-sql tests")
    except OperationalError as error:
        pytest.skip(str(error))
    yield session
    session.stop()
