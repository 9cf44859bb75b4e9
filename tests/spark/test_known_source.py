"""A call that names the data source is made again once Spark was told of it."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from pykudu_sql.spark.data_source import PykuduDataSource
from pykudu_sql.spark.known_source import with_known_source

UNKNOWN = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: pykudu. Make sure"


class Session:
    """A session whose look-up of sources was killed: it knows those alone that are registered."""

    def __init__(self) -> None:
        self.sources: list[type] = []
        self.dataSource = self

    def register(self, source: type) -> None:
        self.sources.append(source)

    def failing(self, text: str) -> Callable[[], str]:
        """A call that fails until a source is registered."""

        def call() -> str:
            if not self.sources:
                raise AnalysisException(text)
            return "rows"

        return call


def with_known(session: Session, call: Callable[[], Any]) -> Any:
    return with_known_source(cast(SparkSession, session), call)


def test_a_source_that_spark_does_not_know_is_registered_and_the_call_made_again() -> None:
    session = Session()
    assert with_known(session, session.failing(UNKNOWN)) == "rows"
    assert session.sources == [PykuduDataSource]


@pytest.mark.parametrize("text", ["[DATA_SOURCE_NOT_FOUND] Failed to find: avro", "other"])
def test_other_errors_are_what_they_were(text: str) -> None:
    session = Session()
    with pytest.raises(PySparkException):
        with_known(session, session.failing(text))
    assert session.sources == []


def test_a_source_that_is_known_is_not_registered() -> None:
    session = Session()
    assert with_known(session, lambda: "rows") == "rows"
    assert session.sources == []
