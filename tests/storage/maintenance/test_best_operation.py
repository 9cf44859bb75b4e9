"""Which operation runs next: the order of Kudu's rules, and turns for everybody."""

from pykudu_sql.storage.maintenance.best_operation import (
    FLUSHES_IN_A_ROW,
    SchedulingState,
    find_best_operation,
)
from pykudu_sql.storage.maintenance.operation import OperationKind, OperationStats

CALM = SchedulingState(memory_limit=1000, replay_target=1.0)
LOG = OperationStats(OperationKind.LOG_GC, "", logs_retained=1)
FLUSH = OperationStats(OperationKind.FLUSH_MEMROWSET, "a", ram=100, replay_seconds=0.5, score=3.0)
SMALL_FLUSH = OperationStats(OperationKind.FLUSH_DELTA_STORES, "b", ram=10, replay_seconds=1.5)
COMPACTION = OperationStats(OperationKind.COMPACT_ROWSETS, "a", score=0.5)
GC = OperationStats(OperationKind.UNDO_GC, "a", data_retained=7)
BIG_GC = OperationStats(OperationKind.DELETED_ROWSET_GC, "b", data_retained=9)


def test_nothing_is_chosen_where_nothing_gains_anything() -> None:
    assert find_best_operation([], CALM) is None
    assert (
        find_best_operation([OperationStats(OperationKind.FLUSH_MEMROWSET, "a", ram=100)], CALM)
        is None
    )


def test_the_log_is_cut_before_everything_else() -> None:
    assert find_best_operation([GC, FLUSH, LOG], CALM) is LOG


def test_the_flush_that_frees_most_goes_first_when_memory_is_short() -> None:
    unscored = OperationStats(OperationKind.FLUSH_MEMROWSET, "a", ram=95)
    due = [GC, SMALL_FLUSH, unscored, COMPACTION]
    assert find_best_operation(due, SchedulingState(memory_limit=175, replay_target=10)) is GC
    assert find_best_operation(due, SchedulingState(memory_limit=174, replay_target=10)) is unscored


def test_what_holds_a_long_log_goes_before_what_scores_more() -> None:
    assert find_best_operation([FLUSH, SMALL_FLUSH, GC], CALM) is SMALL_FLUSH
    assert find_best_operation([FLUSH], CALM) is FLUSH


def test_old_data_and_faster_tablets_take_turns() -> None:
    due = [COMPACTION, GC, BIG_GC]
    assert find_best_operation(due, CALM) is BIG_GC
    assert find_best_operation(due, SchedulingState(1000, 1000, prefers_data=False)) is COMPACTION
    assert find_best_operation([GC], SchedulingState(1000, 1000, prefers_data=False)) is GC


def test_the_highest_score_wins() -> None:
    assert find_best_operation([COMPACTION, FLUSH], CALM) is FLUSH


def test_a_compaction_gets_its_turn_after_some_flushes_however_much_they_score() -> None:
    for flushes, expected in ((FLUSHES_IN_A_ROW - 1, FLUSH), (FLUSHES_IN_A_ROW, COMPACTION)):
        for limit in (1000, 1):
            scheduling = SchedulingState(limit, 1000, flushes_in_a_row=flushes)
            assert find_best_operation([FLUSH, COMPACTION], scheduling) is expected
