"""What exceeds the memory limit goes to a folder of ours, to no other, and is gone at the end."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import InvalidValueError, OperationalError

SORTED = (
    "select count(*), max(before) from "
    "(select i, lag(i) over (order by hash(i), i) before from range(4000000) r(i)) x"
)


def _folders_seen(directory: Path, work: Callable[[], None]) -> set[str]:
    """Names of the spill folders that a directory has while work is done."""
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            seen.update(found.name for found in directory.glob("pykudu-spill-*"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return seen


@pytest.mark.parametrize("own", [True, False], ids=["in the database", "where one is told"])
def test_a_sort_beyond_the_limit_spills_to_one_folder(tmp_path: Path, own: bool) -> None:
    place = tmp_path / "db" / "tmp" if own else tmp_path / "spill"
    if not own:
        place.mkdir()
    chosen = {} if own else {"spill_directory": str(place)}
    path = str(tmp_path / "db")
    with pykudu_sql.connect(path, memory_limit="64MB", threads=2, **chosen) as connection:
        rows: list[object] = []
        seen = _folders_seen(place, lambda: rows.append(connection.execute(SORTED).fetchone()))
        assert rows == [(4_000_000, 3_999_999)]
        connection.close()
    assert len(seen) == 1
    assert list(place.iterdir()) == []


def test_a_database_in_memory_spills_to_the_systems_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = pykudu_sql.connect(":memory:", memory_limit="64MB", threads=2)
    seen = _folders_seen(tmp_path, lambda: connection.execute(SORTED).fetchall())
    connection.close()
    assert len(seen) == 1
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_a_clear_error_and_the_connection_goes_on() -> None:
    connection = pykudu_sql.connect(":memory:", memory_limit="8MB", spill_limit="1kB")
    with pytest.raises(OperationalError) as caught:
        connection.execute(SORTED)
    assert caught.value.sqlstate == "53200"
    assert connection.execute("select 1").fetchone() == (1,)
    connection.close()


def test_a_spill_directory_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="spill_directory"):
        pykudu_sql.connect(":memory:", spill_directory=str(tmp_path / "nowhere"))
