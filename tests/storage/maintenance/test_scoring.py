"""Scores with Kudu's constants."""

from pykudu_sql.storage.maintenance.scoring import (
    flush_score,
    major_compaction_score,
    minor_compaction_score,
    postpones_compaction,
    prioritised,
)

MIB = 1 << 20


def test_a_flush_scores_by_size_once_it_reaches_the_threshold() -> None:
    assert flush_score(0, 1e6, MIB) == 0
    assert flush_score(MIB - 1, 1, MIB) == 0
    assert flush_score(MIB, 1, MIB) == 1
    assert flush_score(6 * MIB, 1, MIB) == 5


def test_a_flush_scores_a_little_more_with_every_minute_after_two() -> None:
    assert flush_score(1, 120, MIB) == 0
    assert flush_score(1, 120 + 1800, MIB) == 0.5
    assert flush_score(1, 1e6, MIB) == 1


def test_a_minor_compaction_scores_by_the_number_of_files() -> None:
    assert [minor_compaction_score(files) for files in (0, 1, 2, 500, 5000)] == [
        0,
        0,
        0.002,
        0.5,
        1,
    ]


def test_a_major_compaction_scores_by_how_much_there_is_to_apply() -> None:
    assert major_compaction_score(9, 100, 5) == 0
    assert major_compaction_score(10, 100, 5) == 0.1
    assert major_compaction_score(500, 100, 5) == 1
    assert major_compaction_score(50, 100, 0) == 0, "DELETEs alone stay as they are"


def test_compaction_waits_while_more_than_a_fifth_of_history_is_ancient() -> None:
    assert not postpones_compaction(0, 0)
    assert not postpones_compaction(20, 100)
    assert postpones_compaction(21, 100)


def test_a_priority_changes_a_score_by_a_tenth_a_step() -> None:
    assert prioritised(2.0, 0) == 2.0
    assert round(prioritised(1.0, 5), 5) == 1.61051
    assert round(prioritised(1.0, -1), 5) == 0.90909
