"""A soak of seconds: the load runs, its curve has lines, and what it wrote is compared."""

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import pykudu_sql
from benchmarks.__main__ import main
from benchmarks.newest_minute import NewestMinute
from benchmarks.soak import SoakPlan, SoakResult, run_soak
from benchmarks.soak_slices import HEADER, Slice, line_of, quantile
from benchmarks.workloads.growth.soak import figures_of
from pykudu_sql import Connection
from tests.torture.outcome import Result
from tests.torture.soak import try_soak


def test_a_soak_prints_its_curve_and_sets_the_last_slice_beside_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = tmp_path / "out.json"
    arguments = ["--only", "soak", "--soak-seconds", "2", "--point-rows", "20000"]
    assert main([*arguments, "--json", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    start = printed.index(HEADER)
    assert [line.split("s")[0].strip() for line in printed[start + 1 : start + 3]] == ["0", "0"]
    (survey,) = json.loads(out.read_text())["surveys"]
    assert survey["failures"] == {}
    assert {goal["figure"] for goal in survey["goals"]} <= survey["figures"].keys()


def test_what_was_written_and_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Connection.append
    calls: list[int] = []

    def append_and_forget_one(self, table, rows, *arguments):  # type: ignore[no-untyped-def]
        calls.append(1)
        if len(calls) == 3:
            return None
        return append(self, table, rows, *arguments)

    monkeypatch.setattr(Connection, "append", append_and_forget_one)
    result = run_soak(tmp_path / "db", SoakPlan(1.0, 5_000, 0.5, batch_rows=50), lambda part: None)
    assert any("not as they were written last" in text for text in result.wrong)


def test_a_soak_with_ranges_reads_the_newest_minute_of_a_series_as_it_grows(tmp_path: Path) -> None:
    plan = SoakPlan(2.0, 5_000, 1.0, batch_rows=50, ranges_per_second=20.0)
    slices: list[Slice] = []
    result = run_soak(tmp_path / "db", plan, slices.append)
    assert result.wrong == []
    assert all(part.ranges and part.range_p99 for part in slices)


def test_a_range_without_a_row_that_was_committed_is_told(tmp_path: Path) -> None:
    series = NewestMinute(10.0)
    random = np.random.default_rng(1)
    with closing(pykudu_sql.connect(autocommit=True)) as connection:
        series.create(connection)
        for turn in range(3):
            series.write(connection, random, turn)
        series.read(connection, random, 0)
        assert series.wrong == []
        connection.execute("DELETE FROM series WHERE at = 100")
        series.read(connection, random, 1)
    assert len(series.wrong) == 1


def test_a_soak_with_small_flushes_leaves_nothing_behind() -> None:
    (outcome,) = try_soak(4.0, 20_000)
    assert outcome.result is Result.HELD, outcome.detail


def test_a_slice_tells_its_times_in_milliseconds_and_its_bytes_in_mebibytes() -> None:
    part = Slice(
        60,
        0.001,
        0.002,
        0.5,
        0.003,
        0.01,
        0.1,
        600,
        6000,
        30,
        1200,
        4,
        3 << 20,
        5 << 20,
        1 << 20,
        {},
    )
    assert line_of(part).split() == [
        "60s", "1.00", "2.00", "500.0", "3.00", "10.00", "100.0", "600", "4", "3.0", "5", "1.0",
    ]  # fmt: skip


def test_a_quantile_is_a_time_that_occurred() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([1.0] * 98 + [5.0, 9.0], 0.99) == 9.0
    assert quantile([], 0.99) == 0.0


FLUSHED = {"FlushMRSOp": 1}


def test_the_figures_compare_slices_and_sizes() -> None:
    parts = [
        Slice(end, end / 1e3, 0.002, 0.1, 0.003, 0.01, 0.02, 1, 1, 1, 1, redo, 9, rss, 0, FLUSHED)
        for end, redo, rss in (
            (1, 0, 500), (2, 8, 90), (3, 2, 100), (4, 0, 110), (5, 1, 80), (6, 1, 100)
        )
    ]  # fmt: skip
    found = {f.name: f.value for f in figures_of(SoakResult(parts, 0.008, 300, 200, []))}
    assert found["get p50, last / first slice"] == pytest.approx(6.0)
    assert found["REDO files at most"] == 8
    assert found["space / (compacted rows and history)"] == 1.5
    assert found["RSS, last three slices / three before"] == pytest.approx(0.22)
    assert found["range p99, whole load"] == 0.008
    assert found["runs of FlushMRSOp"] == 6
