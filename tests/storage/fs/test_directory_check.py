"""A database's directory is looked at while another process makes and removes what is in it."""

from pathlib import Path

import pytest

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.directory_check import check_entries, check_names, entry_errors
from pykudu_sql.storage.fs.env import names_if_there
from pykudu_sql.storage.fs.local_env import LocalEnv


class BusyEnv(LocalEnv):
    """Files beside a writer: its staging directory goes when it is listed, and comes back."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.gone = 0

    def list_dir(self, path: str) -> list[str]:
        if path == str(self.folder):
            self.folder.rmdir()
            self.gone += 1
            try:
                return super().list_dir(path)
            finally:
                self.folder.mkdir()
        return super().list_dir(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("manifest", "wal", "tmp"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_a_directory_that_goes_while_it_is_looked_at_is_no_error(root: Path) -> None:
    env = BusyEnv(root / "tmp")
    check_entries(env, str(root))
    check_names(env, str(root))
    assert env.gone


def test_a_directory_that_goes_hides_no_link_beside_it(root: Path) -> None:
    (root / "wal" / "1.log").symlink_to(root)
    env = BusyEnv(root / "tmp")
    (error,) = entry_errors(env, str(root))
    assert "1.log" in error.message
    assert env.gone


def test_a_missing_directory_has_no_names_and_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert names_if_there(LocalEnv(), f"{tmp_path}/missing") == []
    with pytest.raises(DiskError):
        names_if_there(LocalEnv(), f"{tmp_path}/file")
