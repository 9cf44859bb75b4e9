"""Which operation runs next: a pure function of what is due.

Kudu's order (`util/maintenance_manager.cc`, FindBestOp):

1. dropping log segments, which costs next to nothing;
2. when memory is short, the flush that frees most of it;
3. when the log takes long to replay, which an opening after a crash waits for, the operation that
   holds most of it back;
4. dropping files of old history, every other time when something else would speed up a tablet
   (Kudu throws a coin);
5. whatever speeds up its tablet most.

Under a steady load of writes something is always due for a flush, and Kudu's compactions starve
(KUDU-3407). Here a compaction runs after some flushes in a row, whatever they score.
"""

from collections.abc import Callable, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.maintenance.operation import OperationKind, OperationStats

MEMORY_PRESSURE_RATIO = 0.6
REPLAY_TARGET_SECONDS = 0.5
FLUSHES_IN_A_ROW = 4


@dataclass(frozen=True, slots=True)
class SchedulingState:
    """What the choice depends on besides the statistics of the operations.

    Attributes:
        memory_limit: bytes that changes of all tablets may hold in memory; at 60 % it is short.
        replay_target: a log that takes so many seconds to replay is long.
        flushes_in_a_row: how many flushes ran since the last other operation.
        prefers_data: whether dropping old history comes first now.
    """

    memory_limit: int
    replay_target: float = REPLAY_TARGET_SECONDS
    flushes_in_a_row: int = 0
    prefers_data: bool = True


def find_best_operation(
    due: Sequence[OperationStats], scheduling: SchedulingState
) -> OperationStats | None:
    """The operation to run next, or None."""
    log = _best(due, lambda op: op.logs_retained if op.kind is OperationKind.LOG_GC else 0)
    if log is not None:
        return log
    fastest = _best(due, lambda op: op.score)
    compaction = _best(due, lambda op: 0.0 if op.kind.flushes else op.score)
    if compaction is not None and scheduling.flushes_in_a_row >= FLUSHES_IN_A_ROW:
        return compaction
    if memory_is_short(due, scheduling.memory_limit):
        return _best(due, lambda op: op.ram)
    holding = _best(due, lambda op: op.replay_seconds)
    if holding is not None and holding.replay_seconds >= scheduling.replay_target:
        return holding
    data = _best(due, lambda op: op.data_retained)
    if data is not None and (fastest is None or scheduling.prefers_data):
        return data
    return fastest


def memory_is_short(due: Sequence[OperationStats], memory_limit: int) -> bool:
    """Whether changes in memory come near their limit."""
    return sum(op.ram for op in due) > MEMORY_PRESSURE_RATIO * memory_limit


def _best(
    due: Sequence[OperationStats], worth: Callable[[OperationStats], float]
) -> OperationStats | None:
    best = max(due, key=worth, default=None)
    return best if best is not None and worth(best) > 0 else None
