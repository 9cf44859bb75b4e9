"""What a record did, and whether that is what its script expects: pure comparison."""

import difflib
import re
from collections.abc import Iterable, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.slt.parser import FIELD_SEPARATOR
from pykudu_sql.shell.slt.records import (
    Digest,
    ExpectedValues,
    ExplainRecord,
    Failure,
    QueryRecord,
    Record,
    Sort,
    StatementRecord,
    Success,
)
from pykudu_sql.shell.slt.values import Rows, digest, format_rows, order


@dataclass(frozen=True, slots=True)
class Completed:
    """It succeeded.

    Attributes:
        rowcount: rows changed, -1 when unknown.
        rows: the result, or None when the statement has none.
        columns: columns of the result.
    """

    rowcount: int = -1
    rows: Sequence[Sequence[object]] | None = None
    columns: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """The database refused it.

    `sqlstate`: five characters, empty if the database has none; `message`: the whole text.
    """

    sqlstate: str
    message: str


@dataclass(frozen=True, slots=True)
class Unexpected:
    """Something failed that no script can expect: an error outside the driver's error classes."""

    message: str


Outcome = Completed | Failed | Unexpected


@dataclass(frozen=True, slots=True)
class Problem:
    """A record whose outcome is not the expected one.

    Attributes:
        record: the record.
        sql: what ran, names of snapshots replaced.
        reason: one line.
        diff: lines of a unified diff from expected to got, or of what was got; may be empty.
    """

    record: Record
    sql: str
    reason: str
    diff: tuple[str, ...] = ()


def check_statement(record: StatementRecord, sql: str, outcome: Outcome) -> Problem | None:
    """Compare a statement's outcome with what is expected."""
    match outcome, record.expected:
        case Failed(), Failure() as expected:
            return _check_failure(record, sql, outcome, expected)
        case Unexpected() | Failed(), _:
            return _error(record, sql, outcome)
        case Completed(), Failure():
            return Problem(record, sql, "an error was expected, and it succeeded")
        case Completed(rowcount), Success(int() as rows) if rowcount != rows:
            return Problem(record, sql, f"expected {rows} rows to change, got {rowcount}")
    return None


def _error(record: Record, sql: str, outcome: Unexpected | Failed) -> Problem:
    """The problem of an error that is not expected."""
    match outcome:
        case Unexpected(message):
            return Problem(record, sql, f"unexpected error: {message}")
        case Failed(_, message):
            return Problem(record, sql, f"failed: {message}")


def _check_failure(
    record: StatementRecord, sql: str, actual: Failed, expected: Failure
) -> Problem | None:
    if expected.sqlstate and actual.sqlstate != expected.sqlstate:
        reason = f"expected SQLSTATE {expected.sqlstate}, got {actual.sqlstate}: {actual.message}"
        return Problem(record, sql, reason)
    if not re.search(expected.pattern, actual.message):
        return Problem(record, sql, f"no match for /{expected.pattern}/ in: {actual.message}")
    lines = [line.rstrip() for line in actual.message.split("\n")]
    if expected.text is not None and [line.rstrip() for line in expected.text] != lines:
        return Problem(record, sql, "the error differs", _diff(expected.text, lines))
    return None


def check_query(record: QueryRecord, sql: str, outcome: Outcome) -> Problem | None:
    """Compare a query's outcome with what is expected."""
    if not isinstance(outcome, Completed):
        return _error(record, sql, outcome)
    columns = len(record.types)
    if outcome.rows is None or outcome.columns != columns:
        reason = f"expected {columns} columns, got {outcome.columns}"
        return Problem(record, sql, reason)
    rows = result_rows(record, outcome.rows)
    match record.expected:
        case None:
            return Problem(record, sql, "no result is written down (--override writes it)")
        case Digest() as expected:
            actual = digest(rows)
            if actual == expected:
                return None
            return Problem(record, sql, "the digest differs", _diff([str(expected)], [str(actual)]))
        case ExpectedValues() as expected:
            return _check_values(record, sql, rows, expected)


def check_explain(record: ExplainRecord, sql: str, outcome: Outcome) -> Problem | None:
    """Look for a text in a plan."""
    if not isinstance(outcome, Completed):
        return _error(record, sql, outcome)
    plan = "\n".join(str(value) for row in outcome.rows or () for value in row)
    if record.text in plan:
        return None
    return Problem(record, sql, f"the plan does not say {record.text!r}", tuple(plan.split("\n")))


def _check_values(
    record: QueryRecord, sql: str, rows: Rows, expected: ExpectedValues
) -> Problem | None:
    expected_rows = order(expected.rows, record.sort)
    if expected.by_row:
        rows = tuple(tuple(value.strip() for value in row) for row in rows)
    if rows == expected_rows:
        return None
    before = result_lines(expected_rows, by_row=expected.by_row)
    after = result_lines(rows, by_row=expected.by_row)
    return Problem(record, sql, "the result differs", _diff(before, after))


def result_rows(record: QueryRecord, rows: Iterable[Sequence[object]]) -> Rows:
    """A result formatted and ordered as its record says."""
    return order(format_rows(rows, record.types), record.sort)


def result_lines(rows: Rows, *, by_row: bool) -> list[str]:
    """A result as it stands in a script: a row a line, or a value a line."""
    if by_row:
        return [FIELD_SEPARATOR.join(row) for row in rows]
    return [value for row in rows for value in row]


def prefers_rows(record: QueryRecord) -> bool:
    """Whether a result reads best a row a line."""
    if isinstance(record.expected, ExpectedValues):
        return record.expected.by_row
    return len(record.types) > 1 and record.sort is not Sort.VALUESORT


def _diff(expected: Sequence[str], actual: Sequence[str]) -> tuple[str, ...]:
    lines = difflib.unified_diff(expected, actual, "expected", "got", lineterm="")
    return tuple(lines)
