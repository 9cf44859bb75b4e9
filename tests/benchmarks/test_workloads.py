"""The workloads that need no generated input, small: they run, and all contestants agree."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.workloads.queries.planning import STATEMENTS


def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: str, rows: int
) -> dict[str, Any]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = tmp_path / "out.json"
    arguments = ["--only", workload, "--point-rows", str(rows), "--rounds", "1"]
    assert main([*arguments, "--json", str(out)]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_upserts_leave_as_many_rows_in_every_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = run(tmp_path, monkeypatch, "upsert_batches", 20_000)
    assert set(written["races"][0]["contestants"]) == {"pykudu", "duckdb", "sqlite"}


def test_backfill_inserts_hot_and_cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = run(tmp_path, monkeypatch, "backfill", 200_000)
    assert set(written["races"][0]["contestants"]) == {
        "at the end",
        "backfill, hot",
        "backfill, cold",
    }


def test_planning_has_a_figure_for_each_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (survey,) = run(tmp_path, monkeypatch, "planning", 1)["surveys"]
    assert set(survey["figures"]) == {each + end for each in STATEMENTS for end in ("", ", median")}


def test_rows_come_back_from_files_of_both_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (survey,) = run(tmp_path, monkeypatch, "files", 2_000)["surveys"]
    copied = {f"{way} {kind}: pykudu" for way in ("to", "from") for kind in ("csv", "json")}
    assert copied <= set(survey["figures"])


@pytest.mark.parametrize("workload", ["ycsb_a", "ycsb_c"])
def test_wide_rows_by_key_are_the_same_in_every_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: str
) -> None:
    written = run(tmp_path, monkeypatch, workload, 1_000)
    assert set(written["races"][0]["contestants"]) == {"pykudu", "duckdb", "sqlite"}


def test_cold_rows_have_a_figure_for_each_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (survey,) = run(tmp_path, monkeypatch, "ycsb_cold", 1_000)["surveys"]
    assert set(survey["figures"]) == {"first read of a row", "second read of a row"}
