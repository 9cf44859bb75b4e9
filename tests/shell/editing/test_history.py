"""Lines typed are kept for their owner only."""

import asyncio
import stat
from pathlib import Path

from prompt_toolkit.history import History, InMemoryHistory

from pykudu_sql.shell.editing.history import open_history


def lines(history: History) -> list[str]:
    async def load() -> list[str]:
        return [line async for line in history.load()]

    return asyncio.run(load())


def test_lines_come_back_in_the_next_session_and_are_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    history = open_history(path)
    history.append_string("select 1;")
    history.append_string("select\n2;")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert lines(open_history(path)) == ["select\n2;", "select 1;"]


def test_a_line_that_begins_with_a_blank_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "history"
    open_history(path).append_string(" set password = 'secret';")
    assert "secret" not in path.read_text()


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.touch(mode=0o644)
    open_history(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_usable_file_history_lasts_for_the_session(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(open_history(tmp_path / "file" / "history"), InMemoryHistory)
