"""Errors of ours that come back through Spark, as what they were.

What a source raises in a worker reaches the user as Spark's exception around a traceback. The last
line of the traceback names our class and its message.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from pykudu_sql.storage import errors

_RAISED = re.compile(r"^(?:pyspark\.\S+: .*?)?pykudu_sql\.storage\.errors\.(\w+): (.*)$", re.M)


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise our own errors for Spark's around them.

    Raises:
        Error: the one that a worker raised.
        PySparkException: anything else.
    """
    try:
        yield
    except PySparkException as error:
        found = find_error(str(error))
        if found is None:
            raise
        raise found from error


def find_error(text: str) -> errors.Error | None:
    """The error that a traceback in a text ends with, None if it is none of ours."""
    for name, message in reversed(_RAISED.findall(text)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, errors.Error):
            return kind(message)
    return None
