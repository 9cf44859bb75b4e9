"""The statements of an open store: counted by their sessions, summed and bounded by the log."""

from pykudu_sql.storage.upkeep.statement_log import (
    MOST_STATEMENTS,
    Counted,
    StatementCounts,
    StatementLog,
)


def test_what_sessions_still_count_is_added_to_what_they_have_handed_over() -> None:
    log, running = StatementLog(), StatementCounts(2, 1, 5, 1.5, 1.0)

    def session() -> Counted:
        return [("a", running)]

    log.follow(session)
    log.add("a", StatementCounts(1, 0, 1, 3.0, 3.0))
    log.add("b", StatementCounts(1, 0, 0, 0.5, 0.5))
    log.add("nothing", StatementCounts())
    rows = [("a", StatementCounts(3, 1, 6, 4.5, 3.0)), ("b", StatementCounts(1, 0, 0, 0.5, 0.5))]
    assert list(log.rows()) == rows
    log.leave(session)
    running.calls = 100
    assert list(log.rows()) == rows
    assert log.sums() == StatementCounts(4, 1, 6, 5.0, 3.0)


def test_a_reset_forgets_texts_and_keeps_the_sums() -> None:
    log, running = StatementLog(), StatementCounts(2, 1, 5, 1.5, 1.0)
    log.follow(lambda: [("a", running)])
    log.add("b", StatementCounts(1))
    log.reset()
    assert list(log.rows()) == []
    running.calls += 1
    assert list(log.rows()) == [("a", StatementCounts(1))]
    assert log.sums().calls == 4


def test_the_texts_that_are_called_least_make_way() -> None:
    log = StatementLog()
    for number in range(MOST_STATEMENTS + 1):
        log.add(f"text {number}", StatementCounts(calls=number + 1))
    kept = dict(log.rows())
    assert len(kept) < MOST_STATEMENTS
    assert f"text {MOST_STATEMENTS}" in kept
    assert "text 0" not in kept
    assert log.sums().calls == (MOST_STATEMENTS + 1) * (MOST_STATEMENTS + 2) // 2
