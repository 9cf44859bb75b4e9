"""The last result is there for `.last` until the next one takes its place."""

import pytest

from pykudu_sql.shell.output.last_printed import LastPrinted
from pykudu_sql.shell.output.printer import LastResult, PrintedResult
from pykudu_sql.shell.settings import UsageError

ROWS = LastResult(("a",), ("INT",), [(1,), (2,)])


def test_a_result_that_was_shown_in_part_names_the_command_that_shows_all() -> None:
    last = LastPrinted()
    assert last.retain(PrintedResult("2 rows", False, ROWS), is_interactive=True) == (
        "2 rows, .last shows all"
    )
    assert last.result() is ROWS
    assert last.retain(PrintedResult("2 rows", False, ROWS), is_interactive=False) == "2 rows"
    assert last.retain(PrintedResult("2 rows", True, ROWS), is_interactive=True) == "2 rows"


def test_there_is_no_result_before_the_first_and_behind_a_pager_that_was_closed() -> None:
    last = LastPrinted()
    with pytest.raises(UsageError, match="no result yet"):
        last.result()
    last.retain(PrintedResult("2 rows", True, ROWS), is_interactive=True)
    last.forget()
    assert last.retain(None, is_interactive=True) == "stopped"
    with pytest.raises(UsageError, match="no result yet"):
        last.result()


def test_a_result_too_large_to_retain_says_how_to_see_it() -> None:
    last = LastPrinted()
    last.retain(PrintedResult("2 rows", False, None), is_interactive=True)
    with pytest.raises(UsageError, match="not in memory"):
        last.result()
