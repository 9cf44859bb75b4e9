"""The maintenance manager: one background thread that does what is most due.

Kudu's `util/maintenance_manager.h`. It wakes four times a second, asks every tablet what would gain
something, and runs operations in the order of `best_operation.find_best_operation` until none is
due. Between them it brings keys in memory in order for those who read ranges of them. With
durability 'normal' it also fsyncs the log about once a second.

An operation that fails changes nothing. Its error is kept and shown, and it is left alone for a few
seconds, so that it neither ends the thread nor starves the others.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cancellation import never_cancelled
from pykudu_sql.storage.common.ctrl_c import acquire_lock
from pykudu_sql.storage.common.memory_budget import Holder
from pykudu_sql.storage.common.types.hybrid_time import wall_micros
from pykudu_sql.storage.errors import DiskError, QueryCancelledError, ReadOnlyError
from pykudu_sql.storage.maintenance.best_operation import SchedulingState, find_best_operation
from pykudu_sql.storage.maintenance.file_effect import Effect, effect_between, file_sizes
from pykudu_sql.storage.maintenance.operation import OperationKind, OperationRun, OperationStats
from pykudu_sql.storage.maintenance.run_log import RunLog

if TYPE_CHECKING:
    from pykudu_sql.storage.common.cancellation import CancelCheck
    from pykudu_sql.storage.maintenance.context import MaintenanceContext
    from pykudu_sql.storage.maintenance.runner import OperationRunner, TabletWork
    from pykudu_sql.storage.maintenance.stats_collector import StatsCollector
    from pykudu_sql.storage.tablet.tablet import Tablet

_LOG: Final = logging.getLogger("pykudu_sql.maintenance")
POLL_SECONDS = 0.25
# Operations are code to be loaded, which a prompt or a short program need not wait for.
FIRST_OPERATION_SECONDS = 1.0
SYNC_SECONDS = 0.75
BACK_OFF_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Tidied:
    """What went with nothing needing it any more: bytes of the log, and how many files."""

    log_bytes: int
    files: int


class MaintenanceManager:
    """Runs maintenance on a thread of its own, or on demand. Safe for threads.

    Attributes:
        last_error: why the newest operation failed, None once one succeeded. What could not be
            flushed stays in memory and in the log, and is tried again.
        log: what ran.
        running: what runs in the background now, or None.
    """

    def __init__(self, context: "MaintenanceContext") -> None:
        """Not started yet."""
        self.last_error: Exception | None = None
        self._failing: set[tuple[OperationKind, str, type[Exception]]] = set()
        self.log = RunLog()
        self.running: OperationStats | None = None
        self._context = context
        self._operation_lock = threading.RLock()
        self._pauses = 0
        self._stop = threading.Event()
        self._begins = 0.0
        self._backoff_until: dict[tuple[OperationKind, str], float] = {}
        self._flushes_in_a_row = 0
        self._prefers_data = True
        self._synced = time.monotonic()
        self._thread: threading.Thread | None = None
        self._stats_collector: StatsCollector | None = None
        self._operation_runner: OperationRunner | None = None
        # Apart from the operation lock: listing what is due must not wait for what runs.
        self._making = threading.Lock()

    @property
    def _collector(self) -> "StatsCollector":
        """One for all threads: it remembers which merges gained nothing."""
        # Imported when first used: an opening need not wait for it.
        from pykudu_sql.storage.maintenance.stats_collector import StatsCollector

        with self._making:
            if self._stats_collector is None:
                self._stats_collector = StatsCollector(self._context)
            return self._stats_collector

    @property
    def _runner(self) -> "OperationRunner":
        """One for all threads; it reports to the one collector."""
        # Imported when first used: flushes and compactions are much code.
        from pykudu_sql.storage.maintenance.runner import OperationRunner

        collector = self._collector
        with self._making:
            if self._operation_runner is None:
                self._operation_runner = OperationRunner(
                    self._context, collector, self._stop.is_set
                )
            return self._operation_runner

    def start(self) -> None:
        """Start the thread."""
        # Made here: a thread that never starts would keep this object, and all tablets, in a cycle.
        thread = threading.Thread(target=self._run, name="pykudu-maintenance", daemon=True)
        self._thread = thread
        self._begins = time.monotonic() + FIRST_OPERATION_SECONDS
        thread.start()

    def stop(self) -> None:
        """Stop the thread. A flush comes to its end first, a compaction gives up."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def pause(self) -> None:
        """Run nothing in the background until as many calls of `resume`; what runs ends first."""
        with self._operation_lock:
            self._pauses += 1

    def resume(self) -> None:
        """Go on after `pause`."""
        with self._operation_lock:
            self._pauses -= 1

    def due(self) -> list[OperationStats]:
        """The operations that would gain something now, that of the highest score first."""
        return sorted(
            self._collector.due(), key=lambda op: (-op.score, op.kind, op.table, op.tablet_id)
        )

    def due_in(self, tablet: "Tablet") -> list[OperationStats]:
        """The operations of one tablet that would gain something now."""
        return self._collector.due_in(tablet)

    def run_due(self) -> bool:
        """Run the one operation that is most due, also while paused.

        Returns whether it wrote or freed anything; False when none was due. Raises DiskError,
        ReadOnlyError: the disk refused; CorruptionError: a file is not what was written.
        """
        with self._operation_lock:
            op = self.running = self._next_operation()
            try:
                if op is None:
                    return False
                effect = self.run(op)
                self.tidy_up()
                if not effect:
                    self._back_off(op)
                return bool(effect)
            except Exception as error:
                self.last_error = error
                self._back_off(op)
                raise
            finally:
                self.running = None

    def memory(self) -> int:
        """Roughly the bytes of changes in memory, that flushes would free."""
        return sum(tablet.memory for tablet in list(self._context.tablets.values()))

    def relieve(self, cancel_check: "CancelCheck") -> None:
        """Flush until changes in memory keep to their share, in the thread of who brings more.

        `cancel_check`: see `run`. A flush that the disk refuses ends it: the commit will tell.
        """
        limit = self._context.options.write_memory_bytes
        with suppress(DiskError, ReadOnlyError):
            while self._note_memory() > limit:
                flushes = [op for op in self._collector.due() if op.ram]
                if not flushes or not self.run(max(flushes, key=lambda op: op.ram), cancel_check):
                    return

    def _note_memory(self) -> int:
        """The bytes of changes in memory, and whether they are too many from here on."""
        size = self._context.budget.sample(Holder.MEMSTORES)
        self._context.budget.is_pressed = size > self._context.options.write_memory_bytes
        return size

    def _back_off(self, op: OperationStats | None) -> None:
        """Let an operation that gained nothing wait, so that others can run."""
        if op is not None:
            until = time.monotonic() + BACK_OFF_SECONDS
            self._backoff_until[op.kind, op.tablet_id] = until

    def run(self, op: OperationStats, cancel_check: "CancelCheck" = never_cancelled) -> Effect:
        """Run an operation to its end.

        Args:
            op: what is run.
            cancel_check: called between its steps, and while another one runs on the tablet; what
                it raises ends the operation, and leaves the tablet as before.

        Raises DiskError, ReadOnlyError: the disk refused; the tablet is as before; CorruptionError:
        a file is not what was written.
        """
        if op.kind is OperationKind.LOG_GC:
            log = self._context.log_retention
            return self._measured(op, lambda: Effect(freed=log.collect()))
        return self._on_tablet(op, self._runner.work[op.kind], cancel_check)

    def compact_all(
        self, tablet_id: str, table: str, cancel_check: "CancelCheck" = never_cancelled
    ) -> Effect:
        """Merge all rowsets of a tablet, whether that is due or not; else as `run`."""
        stats = OperationStats(OperationKind.COMPACT_ROWSETS, tablet_id, table)
        return self._on_tablet(stats, self._runner.compact_all, cancel_check)

    def tidy_up(self) -> Tidied:
        """Drop what is left behind by operations: log that nothing needs, files nobody reads.

        Raises DiskError, ReadOnlyError: the disk refused.
        """
        return Tidied(self._context.log_retention.collect(), self._context.purge.collect_files())

    def _on_tablet(
        self, op: OperationStats, work: "TabletWork", cancel_check: "CancelCheck"
    ) -> Effect:
        tablet = self._context.tablets.get(op.tablet_id)
        if tablet is None:
            return Effect()

        def run() -> Effect:
            if self._context.tablets.get(tablet.id) is not tablet:
                return Effect()  # its table was dropped, and has been purged meanwhile
            before = file_sizes(tablet)
            work(tablet, cancel_check)
            return effect_between(before, file_sizes(tablet))

        with acquire_lock(tablet.maintenance_lock, cancel_check):
            return self._measured(op, run)

    def _measured(self, op: OperationStats, run: Callable[[], Effect]) -> Effect:
        """Run something and keep what it did, or why it failed."""
        started, clock = wall_micros(), time.perf_counter()
        effect, failure, is_news = Effect(), "", False
        subject = op.kind, op.tablet_id, op.table
        try:
            effect = run()
            self.last_error = None
            self._failing = {one for one in self._failing if one[:2] != subject[:2]}
            return effect
        except Exception as error:
            failure = str(error) or type(error).__name__
            is_ended = self._stop.is_set() or isinstance(error, QueryCancelledError)
            # The text names another file each time.
            kind_of_failure = (*subject[:2], type(error))
            is_news = kind_of_failure not in self._failing and not is_ended
            self._failing.add(kind_of_failure)
            raise
        finally:
            took = time.perf_counter() - clock
            record = OperationRun(*subject, started, took, effect.written, effect.freed, failure)
            self.log.add(record)
            _note(record, logging.WARNING if is_news else logging.INFO)

    def wake(self) -> None:
        """Do what the thread does four times a second; what fails is kept in `last_error`."""
        try:
            self._note_memory()
            self._context.committer.renew_mark()
            self._order_newest_keys()
            while self._run_in_background():
                self._order_newest_keys()
            if self._context.options.maintenance and not self._pauses:
                self._context.purge.run()
            self._context.purge.collect_files()
            periodically = self._context.options.durability == "normal"
            if periodically and time.monotonic() - self._synced > SYNC_SECONDS:
                self._context.committer.sync()
                self._synced = time.monotonic()
        except Exception as error:
            self.last_error = error

    def _order_newest_keys(self) -> None:
        """Bring keys in memory in order, so that reads of a range of them need not."""
        if self._context.options.maintenance and not self._pauses:
            for tablet in list(self._context.tablets.values()):
                tablet.order_newest_keys()

    def _run(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            self.wake()

    def _run_in_background(self) -> bool:
        """Run what is most due unless paused or stopped; whether there may be more."""
        if not self._context.options.maintenance or time.monotonic() < self._begins:
            return False
        with self._operation_lock:
            return not self._pauses and not self._stop.is_set() and self.run_due()

    def _next_operation(self) -> OperationStats | None:
        now = time.monotonic()
        self._backoff_until = {
            op: until for op, until in self._backoff_until.items() if until > now
        }
        due = [
            op for op in self._collector.due() if (op.kind, op.tablet_id) not in self._backoff_until
        ]
        scheduling = SchedulingState(
            self._context.options.write_memory_bytes,
            flushes_in_a_row=self._flushes_in_a_row,
            prefers_data=self._prefers_data,
        )
        op = find_best_operation(due, scheduling)
        if op is not None and op.kind is not OperationKind.LOG_GC:
            self._flushes_in_a_row = self._flushes_in_a_row + 1 if op.kind.flushes else 0
            self._prefers_data = not op.kind.collects_data
        return op


def _note(run: OperationRun, level: int) -> None:
    """Tell the program's log of a run that did something or failed."""
    if run.error:
        _LOG.log(level, "%s of table '%s' failed: %s", run.kind, run.table, run.error)
    elif run.written or run.freed:
        _LOG.log(
            level,
            "%s of table '%s': %d bytes written, %d dropped in %.3f s",
            *(run.kind, run.table, run.written, run.freed, run.seconds),
        )
