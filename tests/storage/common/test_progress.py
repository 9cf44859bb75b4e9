"""How far long work is: what counters of a statement add up to."""

from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.progress import Progress, ProgressReport


def test_a_statement_that_counted_nothing_has_no_report() -> None:
    statements = Progress()
    statements.counter(1, "reading t", 10, "rows").add(5)
    assert statements.report(2) is None


def test_counters_of_one_activity_are_one() -> None:
    statements = Progress()
    first = statements.counter(1, "reading t", 10, "rows")
    second = statements.counter(1, "reading t", 30, "rows")
    first.add(10)
    second.add(5)
    assert statements.report(1) == ProgressReport("reading t", 15, 40, "rows")


def test_the_report_is_about_the_first_activity_that_is_not_done() -> None:
    statements = Progress()
    reading = statements.counter(1, "reading t", 10, "rows")
    writing = statements.counter(1, "writing u", None, "rows")
    writing.add(3)
    assert statements.report(1) == ProgressReport("reading t", 0, 10, "rows")
    reading.add(10)
    assert statements.report(1) == ProgressReport("writing u", 3, None, "rows")


def test_rows_that_are_read_twice_are_not_more_than_all() -> None:
    statements = Progress()
    counter = statements.counter(1, "reading t", 10, "rows")
    counter.add(20)
    assert statements.report(1) == ProgressReport("reading t", 10, 10, "rows")


def test_work_counts_for_who_follows_it_and_for_nobody_else() -> None:
    made = []

    def new_counter(activity: str, total: int | None, unit: progress.Unit) -> progress.Counter:
        made.append(progress.Counter(activity, total, unit))
        return made[-1]

    progress.counter("compacting").add(1)
    with progress.followed(new_counter):
        progress.counter("compacting", 5).add(2)
    progress.counter("compacting").add(1)
    assert [(counter.activity, counter.done, counter.total) for counter in made] == [
        ("compacting", 2, 5)
    ]
