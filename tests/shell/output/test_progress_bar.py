"""The line that says how far a statement is: its text, and when it is there."""

import io

import pytest

from pykudu_sql import ProgressReport
from pykudu_sql.shell.output import status_line
from pykudu_sql.shell.output.display import width
from pykudu_sql.shell.output.progress_bar import format_count, progress_line
from pykudu_sql.shell.output.status_line import StatusLine

HALF = ProgressReport("reading orders", 1_500_000, 3_000_000, "rows")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.00 K"),
        (12_345, "12.3 K"),
        (999_499, "999 K"),
        (999_500, "1.00 M"),
        (2_870_000, "2.87 M"),
        (6_000_000_000, "6.00 G"),
        (12_000_000_000_000_000, "12000 T"),
    ],
)
def test_large_numbers_take_few_digits(number: int, text: str) -> None:
    assert format_count(number) == text


def test_the_line_says_share_rows_time_and_what_is_left() -> None:
    line = progress_line(HALF, 12.3, 120)
    assert line.startswith("█" * 15 + "░" * 15)
    assert line.endswith(" 50 %  reading orders: 1.50 M of 3.00 M rows  12 s, about 12 s left")


def test_nothing_is_said_about_the_rest_before_anybody_knows() -> None:
    early = ProgressReport("reading orders", 10, 3_000_000, "rows")
    assert "left" not in progress_line(early, 2, 120)


def test_without_an_end_the_line_counts_and_turns() -> None:
    report = ProgressReport("computing", 5_000, None, "rows")
    assert progress_line(report, 75, 80).endswith(" computing: 5.00 K rows, 1 min 15 s")
    nothing_yet = ProgressReport("computing", 0, None, "rows")
    assert progress_line(nothing_yet, 7, 80).endswith(" computing for 7 s")
    assert progress_line(None, 3, 80).endswith(" running for 3 s")
    assert progress_line(None, 3, 80) != progress_line(None, 3.1, 80)


@pytest.mark.parametrize("columns", [10, 20, 40, 60, 80, 200])
@pytest.mark.parametrize("report", [None, HALF, ProgressReport("x" * 300, 1, 2, "bytes")])
def test_the_line_leaves_a_column_of_the_terminal(
    report: ProgressReport | None, columns: int
) -> None:
    assert width(progress_line(report, 4000, columns)) < columns


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(status_line.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_the_line_comes_after_a_second_and_goes_before_results(clock: list[float]) -> None:
    screen = Screen()
    line = StatusLine(screen)
    line.begin()
    clock[0] += 0.9
    line.show(lambda seconds, columns: "early")
    clock[0] += 0.2
    line.show(lambda seconds, columns: f"{seconds:.1f} of {columns}")
    line.show(lambda seconds, columns: "too often")
    line.end()
    line.show(lambda seconds, columns: "late")
    assert screen.getvalue() == "\r\x1b[K1.1 of 80\r\x1b[K"


def test_a_short_statement_writes_nothing(clock: list[float]) -> None:
    screen = Screen()
    line = StatusLine(screen)
    line.begin()
    line.show(lambda seconds, columns: "early")
    line.end()
    assert screen.getvalue() == ""


def test_no_line_is_shown_where_nobody_looks(clock: list[float]) -> None:
    pipe = io.StringIO()
    line = StatusLine(pipe)
    line.begin()
    clock[0] += 5
    line.show(lambda seconds, columns: "unseen")
    line.end()
    assert pipe.getvalue() == ""


def test_a_table_named_by_a_foe_cannot_act_on_the_terminal_while_it_is_read() -> None:
    report = ProgressReport("reading t\x1b]0;x\x07\r\u202e", 1, 2, "rows")
    line = progress_line(report, 12.3, 120)
    assert line.isprintable()
    assert "reading t\\x1b]0;x\\x07\\r\\u202e: 1 of 2 rows" in line
    assert width(progress_line(report, 12.3, 60)) < 60
