"""Runs the records of one script and compares what they do with what they should."""

import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.slt.database import ScriptDatabase
from pykudu_sql.shell.slt.outcomes import (
    Completed,
    Failed,
    Outcome,
    Problem,
    check_explain,
    check_query,
    check_statement,
    result_rows,
)
from pykudu_sql.shell.slt.records import (
    Control,
    Digest,
    ExplainRecord,
    Failure,
    FlushRecord,
    Halt,
    HashThreshold,
    QueryRecord,
    Record,
    Restart,
    Snapshot,
    StatementRecord,
    Subtest,
)
from pykudu_sql.shell.slt.states import State
from pykudu_sql.shell.slt.values import digest

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ExecutedRecord:
    """A statement or query that ran.

    Attributes:
        record: the record.
        outcome: what it did.
        hash_threshold: the one in force, for writing the result down.
        problem: how that differs from what was expected, or None.
    """

    record: StatementRecord | QueryRecord | ExplainRecord
    outcome: Outcome
    hash_threshold: int
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """How a script went.

    Attributes:
        executed: statements and queries in order.
        problems: all that went wrong, also what is no statement.
        skipped: records left out by a condition.
        seconds: time it took.
    """

    executed: tuple[ExecutedRecord, ...]
    problems: tuple[Problem, ...]
    skipped: int
    seconds: float


class ScriptRunner:
    """One run of one script in one state."""

    def __init__(self, database: ScriptDatabase, state: State, labels: frozenset[str]) -> None:
        """Prepare a run.

        Args:
            database: where to run; closed by `run`.
            state: what happens between statements.
            labels: names it answers to, besides the driver's and the state's.
        """
        self._database = database
        self._state = state
        self._labels = labels | {database.driver.name, state.name}
        self._hash_threshold = 0
        self._snapshots: dict[str, int] = {}
        self._digests: dict[str, Digest] = {}
        self._failed: StatementRecord | None = None
        self._stop = threading.Event()

    def run(self, records: Sequence[Record], *, stop_at_problem: bool = False) -> ScriptResult:
        """Run records in order; a failed one does not keep the next from running.

        `records`: the script; `stop_at_problem`: leave the rest out after the first failure.
        """
        started = time.perf_counter()
        executed: list[ExecutedRecord] = []
        problems: list[Problem] = []
        skipped = 0
        try:
            for record in records:
                if self._stop.is_set() or (problems and stop_at_problem):
                    break
                if not record.source.runs_for(self._labels):
                    skipped += 1
                    continue
                if isinstance(record, Halt):
                    break
                if not _is_expected_to_fail(record):
                    problems.extend(self._act_behind_failed())
                result = self._record(record)
                if isinstance(result, ExecutedRecord):
                    executed.append(result)
                problem = result.problem if isinstance(result, ExecutedRecord) else result
                if problem is not None:
                    problems.append(problem)
            else:
                problems.extend(self._act_behind_failed())
        finally:
            self._database.close()
        seconds = time.perf_counter() - started
        return ScriptResult(tuple(executed), tuple(problems), skipped, seconds)

    def cancel(self) -> None:
        """Stop soon. Called from another thread."""
        self._stop.set()
        self._database.interrupt()

    def _record(self, record: Record) -> ExecutedRecord | Problem | None:
        match record:
            case StatementRecord() | QueryRecord() | ExplainRecord():
                return self._execute(record)
            case HashThreshold(_, values):
                self._hash_threshold = values
            case Snapshot(source, name):
                return self._run_action(record, partial(self._snapshot, name, source.connection))
            case Control(_, name, on):
                self._database.settings[name] = on
                return self._run_action(record, self._database.close)
            case Restart():
                return self._run_action(record, self._database.restart)
            case FlushRecord():
                return self._run_action(record, self._database.flush)
            case Subtest() | Halt():
                pass
        return None

    def _run_action(self, record: Record, action: Callable[[], None]) -> Problem | None:
        """Do what is no statement; its failure is a problem of the record."""
        try:
            action()
        except Exception as error:
            return Problem(record, "", f"unexpected error: {type(error).__name__}: {error}")
        return None

    def _execute(
        self, record: StatementRecord | QueryRecord | ExplainRecord
    ) -> ExecutedRecord | Problem:
        unknown = [n for n in _VARIABLE.findall(record.sql) if n not in self._snapshots]
        if unknown:
            return Problem(record, record.sql, f"no snapshot {unknown[0]!r} was taken")
        sql = _VARIABLE.sub(lambda match: str(self._snapshots[match[1]]), record.sql)
        if isinstance(record, ExplainRecord):
            sql = f"EXPLAIN {sql}"
        outcome = self._database.execute(sql, record.source.connection)
        match record:
            case ExplainRecord():
                problem = check_explain(record, sql, outcome)
            case QueryRecord():
                problem = check_query(record, sql, outcome)
                problem = problem or self._check_label(record, sql, outcome)
            case StatementRecord():
                problem = check_statement(record, sql, outcome)
                if isinstance(outcome, Failed):
                    self._failed = record
                else:
                    self._failed = None
                    after = self._run_action(record, self._after_statement)
                    problem = problem or after
        return ExecutedRecord(record, outcome, self._hash_threshold, problem)

    def _snapshot(self, name: str, connection: str) -> None:
        self._snapshots[name] = self._database.snapshot(connection)

    def _after_statement(self) -> None:
        self._state.after_statement(self._database)

    def _act_behind_failed(self) -> Sequence[Problem]:
        """Do once what is due behind statements that failed one after the other."""
        failed, self._failed = self._failed, None
        problem = failed and self._run_action(failed, self._after_statement)
        return (problem,) if problem else ()

    def _check_label(self, record: QueryRecord, sql: str, outcome: Outcome) -> Problem | None:
        """Queries of one label have one result."""
        if not record.label or not isinstance(outcome, Completed) or outcome.rows is None:
            return None
        actual = digest(result_rows(record, outcome.rows))
        expected = self._digests.setdefault(record.label, actual)
        if expected == actual:
            return None
        return Problem(record, sql, f"differs from other queries labelled {record.label!r}")


def _is_expected_to_fail(record: Record) -> bool:
    return isinstance(record, StatementRecord) and isinstance(record.expected, Failure)
