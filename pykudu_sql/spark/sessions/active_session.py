"""The Spark session of a thread, which Spark needs to find a data source to write to.

The JVM keeps an active session for each thread. A thread of Python that made no session and no
DataFrame has none, and there `df.write.format("pykudu")` ends with DATA_SOURCE_NOT_FOUND.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession


def is_classic(spark: SparkSession) -> bool:
    """Whether a session's JVM belongs to this process; that of Spark Connect does not."""
    return hasattr(spark, "_jsparkSession")


def running_session() -> SparkSession | None:
    """The session of this thread, or else that of the program; None if there is none."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def make_active(spark: SparkSession) -> None:
    """Let a session be the active one of this thread from now on."""
    if is_classic(spark):
        sessions: Any = SparkSession._get_j_spark_session_class(spark._jvm)
        sessions.setActiveSession(spark._jsparkSession)


@contextmanager
def active_session(spark: SparkSession) -> Iterator[SparkSession]:
    """Let a session be the active one of this thread.

        with active_session(spark):
            df.write.format("pykudu").mode("append").option("table", "t").save("/data/my.db")

    `spark`: the session; with one of Spark Connect nothing has to be done.
    """
    if not is_classic(spark):
        yield spark
        return
    sessions: Any = SparkSession._get_j_spark_session_class(spark._jvm)
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield spark
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
