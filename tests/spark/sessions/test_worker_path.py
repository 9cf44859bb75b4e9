"""Workers of Spark find the data source wherever this program has it from."""

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from pykudu_sql.spark.sessions.worker_path import folder_to_add, worker_path


def test_a_checkout_is_to_be_added(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "pyspark_pykudu"
    source.mkdir()
    (source / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "pyspark_pykudu", raising=False)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path[-1:], *sys.meta_path[:-1]])
    monkeypatch.syspath_prepend(tmp_path)
    assert folder_to_add() == str(tmp_path)


def test_an_installation_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    test_a_checkout_is_to_be_added(monkeypatch, tmp_path)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert folder_to_add() is None


@pytest.mark.parametrize("before", [None, "", "/elsewhere", f"/elsewhere{os.pathsep}/more"])
def test_the_variable_is_as_before_afterwards(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONPATH", before)
    with worker_path("/checkout"):
        folders = os.environ["PYTHONPATH"].split(os.pathsep)
        with worker_path("/checkout"), worker_path(None):
            assert os.environ["PYTHONPATH"].split(os.pathsep) == folders
    assert folders == ["/checkout", *(before.split(os.pathsep) if before else [])]
    assert os.environ.get("PYTHONPATH") == before
