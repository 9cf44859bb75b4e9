"""Errors of ours out of the texts that Spark makes of them."""

import pytest

from pykudu_sql.spark.failures import find_error
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
