"""Workers of Spark find the data source wherever this program has it from."""

import os
import sysconfig
from pathlib import Path

import pytest

from pykudu_sql.spark.sessions.worker_path import folder_to_add, source_file, worker_path


def test_a_checkout_is_to_be_added() -> None:
    assert folder_to_add(Path("/checkout/pyspark_pykudu/__init__.py")) == "/checkout"


def test_an_installation_is_not() -> None:
    installed = Path(sysconfig.get_path("purelib"))
    assert folder_to_add(installed / "pyspark_pykudu" / "__init__.py") is None


def test_what_is_not_installed_needs_no_folder() -> None:
    assert folder_to_add(None) is None


def test_the_module_that_spark_looks_for_is_this_one() -> None:
    source = source_file()
    assert source is not None
    assert "PykuduDataSource as DefaultSource" in source.read_text()


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
