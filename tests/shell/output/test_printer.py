"""Results as the shell prints them, however many rows they have."""

import io

import pytest

import pykudu_sql
from pykudu_sql.shell.output.printer import print_result
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.settings import Settings


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def printed(rows: int, limit: int, result_memory: int) -> tuple[str, str]:
    """What a result of so many rows looks like, and its summary."""
    shown = Terminal()
    with pykudu_sql.connect(autocommit=True, result_memory_bytes=result_memory) as connection:
        cursor = connection.execute(f"select i as n from range({rows}) r(i)")
        printed = print_result(
            cursor, Output(shown), Settings(max_rows=limit, max_width=40), lambda: None
        )
    return shown.getvalue(), printed.summary


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 200_000])
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_a_streamed_result_looks_like_one_that_is_held(rows: int, limit: int) -> None:
    assert printed(rows, limit, 0) == printed(rows, limit, 1 << 30)


def test_a_streamed_result_shows_its_ends() -> None:
    text, summary = printed(200_000, 4, 0)
    values = [line.strip("│ ") for line in text.splitlines() if line.startswith("│")]
    assert values == ["n", "BIGINT", "0", "1", "·", "199998", "199999"]
    assert summary == "200,000 rows (4 shown)"


@pytest.mark.parametrize("result_memory", [0, 1 << 30])
def test_types_that_arrow_holds_as_something_else_are_written_as_what_they_are(
    result_memory: int,
) -> None:
    shown = io.StringIO()
    most = (1 << 128) - 1
    with pykudu_sql.connect(autocommit=True, result_memory_bytes=result_memory) as connection:
        cursor = connection.execute(
            f"select cast('{most}' as uhugeint) u, interval '1' day - interval '1' second i, ',' t"
        )
        result = print_result(cursor, Output(shown), Settings(format="csv"), lambda: None)
    assert shown.getvalue() == f'u,i,t\n{most},23:59:59,","\n'
    assert result.summary == "1 row"
