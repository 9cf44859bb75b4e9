"""Errors of ours out of the texts that Spark makes of them."""

import pytest

from pykudu_sql.spark.failures import find_error, first_sentence
from pykudu_sql.storage.errors import AlreadyPresentError, OperationalError, UndefinedColumnError

WRITE = """\
[PYTHON_DATA_SOURCE_ERROR] Failed to commit or abort Python data source write: Traceback (most recent call last):
  File "/x/pykudu_sql/storage/tablet/pending_writes.py", line 112, in check
    raise self.misfit(batch, place, bool(found.alive[place]))
pykudu_sql.storage.errors.AlreadyPresentError: key is already present: (id) = (2)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/x/pykudu_sql/storage/staged_commit.py", line 243, in _locate
    raise AlreadyPresentError(
pykudu_sql.storage.errors.AlreadyPresentError: key given twice in one write: (id) = (2)
HINT: keep one row of each key (dropDuplicates), or use the operation upsert
 SQLSTATE: 38000
"""  # noqa: E501
TASK = """\
An error occurred while calling o71.save.
: org.apache.spark.SparkException: Job aborted: Lost task 0.0 in stage 9.0 (TID 12) (h executor driver):
org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "/x/pykudu_sql/planner/x.py", line 94, in stage
pykudu_sql.storage.errors.UndefinedColumnError: column 'w' does not exist in table 't'
LINE 1: id > 0 AND w = 1
                   ^
HINT: its columns are id, v

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1097)
Caused by: java.lang.Exception: x
"""  # noqa: E501
MISSING = "ModuleNotFoundError: No module named 'numcodecs'\n\n\tat org.apache.spark.api"
HIDDEN = (
    "[PYTHON_DATA_SOURCE_ERROR] Failed to initialize Python data source writer: "
    "pykudu_sql.storage.errors.UndefinedColumnError: column 'w' does not exist in table 't'\n"
    "HINT: its columns are id, v\n SQLSTATE: 38000"
)
ABORTED = (
    "An error occurred while calling o82.save.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 "
    "failed 1 times, most recent failure: Lost task 0.0 in stage 3.0 (TID 3) (localhost executor "
    "driver): "
)
FRAME = "\n\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.x(PythonRunner.scala:1)"
CRASHED = (
    f"{ABORTED}org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). "
    f"Consider setting 'x' to 'true' for the better Python traceback.{FRAME}"
)
CUT_OFF = (
    f"{ABORTED}java.io.EOFException\n"
    f"\tat java.base/java.io.DataInputStream.readFully(DataInputStream.java:210){FRAME}\n"
)
CLOSED = (
    f"{ABORTED}java.io.IOException: Stream closed\n"
    f"\tat java.base/java.io.BufferedInputStream.read(BufferedInputStream.java:1){FRAME}\n"
)
NO_DAEMON = (
    f"{ABORTED}org.apache.spark.SparkException: Exception thrown in awaitResult: (EOFException "
    f"occurred while reading the port number from x.worker_daemon's stdout.){FRAME}"
)
NO_FORK = f"{ABORTED}org.apache.spark.SparkException: Python daemon failed to launch worker.{FRAME}"
RESET = f"{ABORTED}java.net.SocketException: Connection reset{FRAME}\n"
SLOW = "[STREAM_FAILED] Query [id = 7] terminated with: Python worker failed to connect back."
LOST = (
    "Job aborted due to stage failure: Task 1 in stage 2.0 failed 4 times, most recent failure: "
    "Lost task 1.3 in stage 2.0 (TID 9) (127.0.0.1 executor 3): ExecutorLostFailure (executor 3 "
    "exited caused by one of the running tasks) Reason: Command exited with code 137\n"
    "Driver stacktrace:"
)
FULL = f"{ABORTED}java.io.IOException: No space left on device\n\tat java.base/sun.nio.ch.X.w(X)"
HEAP = f"{ABORTED}java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays.x"
NO_SOURCE = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: pykudu. Make sure"


def test_the_last_error_keeps_its_message_and_its_hint() -> None:
    found = find_error(WRITE)
    assert type(found) is AlreadyPresentError
    assert found.message == "key given twice in one write: (id) = (2)"
    assert found.hint == "keep one row of each key (dropDuplicates), or use the operation upsert"


def test_the_place_in_a_condition_stays_and_traces_go() -> None:
    found = find_error(TASK)
    assert type(found) is UndefinedColumnError
    assert found.message.splitlines() == [
        "column 'w' does not exist in table 't'",
        "LINE 1: id > 0 AND w = 1",
        "                   ^",
    ]
    assert found.hint == "its columns are id, v"


@pytest.mark.parametrize("text", [MISSING, NO_SOURCE, f"x\n: E: {NO_SOURCE} x\n\tat y"])
def test_what_workers_lack_is_told_in_one_way(text: str) -> None:
    found = find_error(text)
    assert type(found) is OperationalError
    assert "has no module" in found.message
    assert "PYSPARK_PYTHON" in (found.hint or "")


@pytest.mark.parametrize("text", ["", "[DATA_SOURCE_NOT_FOUND] Failed to find: avro", "a\nb"])
def test_other_errors_are_none_of_ours(text: str) -> None:
    assert find_error(text) is None


def test_an_error_without_a_traceback_before_it_is_found() -> None:
    found = find_error(HIDDEN)
    assert type(found) is UndefinedColumnError
    assert found.message == "column 'w' does not exist in table 't'"
    assert found.hint == "its columns are id, v"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CRASHED, "a Python worker of Spark was killed, or crashed"),
        (CUT_OFF, "a Python worker of Spark was killed, or crashed"),
        (CLOSED, "a Python worker of Spark was killed, or crashed"),
        (NO_DAEMON, "a Python worker of Spark was killed, or crashed"),
        (NO_FORK, "a Python worker of Spark was killed, or crashed"),
        (RESET, "a Python worker of Spark was killed, or crashed"),
        (SLOW, "a Python worker of Spark did not start in time"),
        (LOST, "Spark lost an executor: Command exited with code 137"),
        (FULL, "a disk that Spark writes to is full"),
        (HEAP, "a JVM of Spark has no memory left: Java heap space"),
    ],
)
def test_what_ends_a_job_from_outside_is_the_reason_and_has_a_way_out(
    text: str, message: str
) -> None:
    found = find_error(text)
    assert type(found) is OperationalError
    assert found.message == message
    assert found.hint


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{ABORTED}org.apache.spark.SparkException: [X_Y.Z] it is so\n\tat x", "it is so"),
        ("[X_Y] it is so\n\tat x", "it is so"),
        (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
            '  File "x.py", line 1, in x\nValueError: it is so\n\n\tat org.apache.spark.x\n',
            "ValueError: it is so",
        ),
        ("", "no reason was given"),
    ],
)
def test_the_sentence_of_other_errors_is_their_reason_alone(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
