"""Errors of a job as errors of ours: a sentence instead of two traces, one of them Java's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from pykudu_sql.spark.failures import database_errors
from pykudu_sql.storage.errors import OperationalError, ProgrammingError

_CONDITION = re.compile(r"^\[[\w.]+\] ")
_EXCEPTION = re.compile(r"^(?:: |Caused by: )[\w.$]+(?:Exception|Error): (.+)$", re.M)


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
        raise ProgrammingError(_first_sentence(str(error))) from error
    except (PySparkException, Py4JError) as error:
        raise OperationalError(f"the Spark job failed: {_first_sentence(str(error))}") from error


def _first_sentence(text: str) -> str:
    """Spark's message and its reason, without the names of conditions and without traces."""
    messages = _EXCEPTION.findall(text)
    if not messages:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return _CONDITION.sub("", lines[0]) if lines else "no reason was given"
    first, last = (_CONDITION.sub("", one.strip()) for one in (messages[0], messages[-1]))
    return first if last in first else f"{first} ({last})"
