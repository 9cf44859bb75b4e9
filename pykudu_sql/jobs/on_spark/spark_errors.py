"""Errors of a job as errors of ours: a sentence instead of two traces, one of them Java's."""

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from pykudu_sql.spark.failures import database_errors, first_sentence
from pykudu_sql.storage.errors import OperationalError, ProgrammingError


@contextmanager
def plain_spark_errors() -> Iterator[None]:
    """Turn what Spark raises inside into our errors.

    Raises ProgrammingError: Spark does not understand the job: no such file, no such option;
    OperationalError: it failed while running; Error: what one of our own tasks raised.
    """
    try:
        with database_errors():
            yield
    except AnalysisException as error:
        raise ProgrammingError(first_sentence(str(error))) from error
    except (PySparkException, Py4JError) as error:
        raise OperationalError(f"the Spark job failed: {first_sentence(str(error))}") from error
