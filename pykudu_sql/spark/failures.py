"""Our errors that come back inside Spark's, restored to their own class.

What a source raises in a worker reaches the user as Spark's exception around a traceback. The last
lines of the traceback name our class, its message and its hint. What keeps workers from running our
code at all, because it is not installed where they run, has one message wherever it shows.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from pykudu_sql.storage import errors

_RAISED: Final = re.compile(r"^(?:pyspark\.\S+: .*?)?pykudu_sql\.storage\.errors\.(\w+): ", re.M)
# What Spark, the JVM or Python write behind the text of an error.
_AFTER: Final = re.compile(
    r"\n(?: ?SQLSTATE: |\s+at |\t|Caused by: |Driver stacktrace|Traceback |\s*(?:\n|$))"
)
_HINT: Final = "\nHINT: "
_NO_MODULE: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_SOURCE: Final = re.compile(r"\[DATA_SOURCE_NOT_FOUND\][^\n]*\bpykudu\b")
_INSTALL: Final = (
    "install the package there, or ship it; PYSPARK_PYTHON names the Python of workers, and the "
    "page on Spark says under 'Clusters' what executors need"
)


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise our own errors for Spark's around them.

    Raises Error: the one that a worker raised, or that says what a worker lacks; PySparkException,
    Py4JError: anything else.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        database_error = find_error(str(error))
        if database_error is None:
            raise
        raise database_error from error


def find_error(text: str) -> errors.Error | None:
    """The error that a traceback in a text ends with, None if it is none of ours."""
    for match in reversed(list(_RAISED.finditer(text))):
        kind = getattr(errors, match[1], None)
        if isinstance(kind, type) and issubclass(kind, errors.Error):
            description = _AFTER.split(text[match.end() :], maxsplit=1)[0]
            message, _, hint = description.partition(_HINT)
            return kind(message, hint=hint or None)
    return _missing(text)


def _missing(text: str) -> errors.Error | None:
    """The packages that, by a text, are not installed where Spark's workers run."""
    module = _NO_MODULE.search(text)
    if module is not None:
        return errors.OperationalError(
            f"a Python worker of Spark has no module '{module[1]}'", hint=_INSTALL
        )
    if _NO_SOURCE.search(text):
        return errors.OperationalError(
            "the Python of Spark's driver has no module 'pyspark_pykudu'", hint=_INSTALL
        )
    return None
