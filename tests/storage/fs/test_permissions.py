"""Who may change a directory besides its user."""

import os
from pathlib import Path

import pytest

from pykudu_sql.storage.fs.permissions import is_writable_by_others


@pytest.mark.parametrize(
    ("mode", "expected"), [(0o700, False), (0o755, False), (0o777, True), (0o1777, True)]
)
def test_the_mode_of_a_directory_decides(tmp_path: Path, mode: int, expected: bool) -> None:
    tmp_path.chmod(mode)
    assert is_writable_by_others(str(tmp_path)) is expected


def test_a_group_counts_unless_it_is_the_own_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o770)
    assert not is_writable_by_others(str(tmp_path))
    monkeypatch.setattr(os, "getegid", lambda: tmp_path.stat().st_gid + 1)
    assert is_writable_by_others(str(tmp_path))


def test_a_directory_that_is_not_there_is_writable_for_nobody(tmp_path: Path) -> None:
    assert not is_writable_by_others(str(tmp_path / "missing"))
