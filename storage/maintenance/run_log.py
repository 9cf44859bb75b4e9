"""What maintenance did: the newest runs, and sums over all since the store was opened."""

import threading
from collections import Counter, deque

from pykudu_sql.storage.maintenance.operation import OperationKind, OperationRun

MAX_RUNS = 100


class RunLog:
    """Runs of operations. Safe for threads.

    Attributes:
        runs: how often each operation succeeded.
        failures: how often each failed.
        written: bytes of the files that each wrote.
        freed: bytes of the files, or of the log, that each dropped.
    """

    def __init__(self) -> None:
        """Nothing ran yet."""
        self.runs: Counter[OperationKind] = Counter()
        self.failures: Counter[OperationKind] = Counter()
        self.written: Counter[OperationKind] = Counter()
        self.freed: Counter[OperationKind] = Counter()
        self._newest: deque[OperationRun] = deque(maxlen=MAX_RUNS)
        self._lock = threading.Lock()

    def add(self, run: OperationRun) -> None:
        """Note a run."""
        with self._lock:
            (self.failures if run.error else self.runs)[run.kind] += 1
            self.written[run.kind] += run.written
            self.freed[run.kind] += run.freed
            self._newest.append(run)

    @property
    def newest(self) -> list[OperationRun]:
        """The newest runs, oldest first."""
        with self._lock:
            return list(self._newest)
