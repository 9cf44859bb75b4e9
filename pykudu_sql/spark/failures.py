"""Our errors that come back inside Spark's, restored to their own class.

What a source raises in a worker reaches the user as Spark's exception around a traceback. The last
lines of the traceback name our class, its message and its hint. What keeps workers from running our
code at all, because it is not installed where they run, has one message wherever it shows; and so
has what ends a job from outside: a worker that was killed, an executor that is gone, a full disk.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from pykudu_sql.storage import errors

_RAISED: Final = re.compile(
    r"(?:^|: )(?:pyspark\.\S+: .*?)?pykudu_sql\.storage\.errors\.(\w+): ", re.M
)
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
# The JVM at the other end of a worker that is gone; the frames say whose end it was.
_CUT_OFF: Final = (
    r"java\.(?:io\.(?:EOFException|IOException: (?:Stream closed|Broken pipe)[^\n]*)|"
    r"net\.SocketException: (?:Connection reset|Broken pipe)[^\n]*)\n"
    r"(?:\s+at [^\n]*\n){0,12}?\s+at org\.apache\.spark\.[\w.]*python\."
)
# The process that forks workers, gone before it said where it listens, or when one was wanted.
_NO_DAEMON: Final = (
    r"occurred while reading the port number from|Python daemon failed to launch worker"
)
_FROM_OUTSIDE: Final[Sequence[tuple[re.Pattern[str], str, str]]] = (
    (
        re.compile(r"No space left on device"),
        "a disk that Spark writes to is full",
        "free space on the disk of the target, and of Spark's own files (spark.local.dir)",
    ),
    (
        re.compile(r"java\.lang\.OutOfMemoryError: ([^\n]+)"),
        "a JVM of Spark has no memory left: {}",
        "give it more: --conf spark.driver.memory=4g, or spark.executor.memory on a cluster",
    ),
    (
        re.compile(r"ExecutorLostFailure \(.*?\) Reason: ([^\n]+)"),
        "Spark lost an executor: {}",
        "the log of the executor says more; one that is killed for want of memory needs more "
        "spark.executor.memoryOverhead",
    ),
    (
        re.compile(r"Python worker failed to connect back"),
        "a Python worker of Spark did not start in time",
        "start it again when the host has less to do, or with fewer tasks: --master local[1]",
    ),
    (
        re.compile(rf"Python worker exited unexpectedly|{_NO_DAEMON}|{_CUT_OFF}"),
        "a Python worker of Spark was killed, or crashed",
        "the kernel kills processes for want of memory, see its log; fewer tasks at once need "
        "less: --master local[1]",
    ),
)
_LOST_TASK: Final = re.compile(
    r"Job aborted due to stage failure: Task .*?most recent failure: "
    r"Lost task \S+ in stage \S+ \(TID \d+\) \(.*?\): "
)
_PYTHON_TRACE: Final = "Traceback (most recent call last)"
_PYTHON_EXCEPTION: Final = re.compile(
    r"^(?!org\.|java|py4j\.)(?:[a-z_]\w*\.)*([A-Z]\w*(?:Error|Exception)(?:: [^\n]+)?)$", re.M
)
_CONDITION: Final = re.compile(r"^\[[\w.]+\] ")
_CLASS: Final = re.compile(r"^(?:[a-z]\w*\.)+\w+(?:Exception|Error): ")
_EXCEPTION: Final = re.compile(r"^(?:: |Caused by: )[\w.$]+(?:Exception|Error): (.+)$", re.M)


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
    """The error that a text of Spark's ends with or stands for, None if it is none of ours."""
    for match in reversed(list(_RAISED.finditer(text))):
        kind = getattr(errors, match[1], None)
        if isinstance(kind, type) and issubclass(kind, errors.Error):
            description = _AFTER.split(text[match.end() :], maxsplit=1)[0]
            message, _, hint = description.partition(_HINT)
            return kind(message, hint=hint or None)
    return _missing(text) or _ended_from_outside(text)


def first_sentence(text: str) -> str:
    """The reason in Spark's message, without the names of conditions and classes, and traces."""
    exceptions = _PYTHON_EXCEPTION.findall(text) if _PYTHON_TRACE in text else []
    if exceptions:
        return str(exceptions[-1])
    messages = [_LOST_TASK.sub("", one.strip()) for one in _EXCEPTION.findall(text)]
    if not messages:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return _without_names(_LOST_TASK.sub("", lines[0])) if lines else "no reason was given"
    first, last = (_without_names(one) for one in (messages[0], messages[-1]))
    return first if last in first else f"{first} ({last})"


def _without_names(message: str) -> str:
    return _CONDITION.sub("", _CLASS.sub("", message)).strip()


def _ended_from_outside(text: str) -> errors.Error | None:
    """What ended a job without being a part of it, by the text of Spark's error."""
    for pattern, message, hint in _FROM_OUTSIDE:
        match = pattern.search(text)
        if match is not None:
            return errors.OperationalError(message.format(*match.groups()), hint=hint)
    return None


def _missing(text: str) -> errors.Error | None:
    """The packages that, by a text, are not installed where Spark's workers run."""
    module = _NO_MODULE.search(text)
    if module is not None:
        return lacks_module(module[1])
    if lacks_source(text):
        return errors.OperationalError(
            "the Python of Spark's driver has no module 'pyspark_pykudu'", hint=_INSTALL
        )
    return None


def lacks_source(text: str) -> bool:
    """Whether Spark says, in the text of an error, that it does not know this package's source."""
    return _NO_SOURCE.search(text) is not None


def lacks_module(name: str) -> errors.OperationalError:
    """The error that says which module workers lack."""
    return errors.OperationalError(
        f"a Python worker of Spark has no module '{name}'", hint=_INSTALL
    )
