"""The benchmark harness: who runs when, what counts, and who is put out."""

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.harness import Contestant, Goal, Race, Result, Sample, run_race
from benchmarks.report import as_json, format_result, measured_ratio
from benchmarks.workloads.queries.analytics import same_rows


def contestant(name: str, log: list[str], answer: object = 1) -> Contestant:
    return Contestant(name, lambda operations: log.append(name), answer=lambda: answer)


def result_with(times: dict[str, list[float]]) -> Result:
    goals = [Goal("ours", "theirs", 2.0)]
    race = Race("race", "a race", "theirs", [], rounds=3, goals=goals)
    samples = {name: [Sample(10, t, t) for t in turns] for name, turns in times.items()}
    return Result(race, samples=samples)


def test_contestants_alternate_and_every_round_starts_with_another() -> None:
    log: list[str] = []
    contestants = [contestant("a", log), contestant("b", log)]
    run_race(Race("race", "", "a", contestants, rounds=3))
    warm_up, rounds = log[:2], log[2:]
    assert warm_up == ["a", "b"]
    assert rounds == ["a", "b", "a", "b", "a", "a", "a", "a", "b"]


def test_the_second_turn_of_the_reference_is_the_control() -> None:
    log: list[str] = []
    result = run_race(Race("race", "", "b", [contestant("a", log), contestant("b", log)], rounds=4))
    assert [len(result.samples["a"]), len(result.samples["b"]), len(result.control)] == [4, 4, 4]
    assert result.noise() is not None


def test_who_answers_differently_from_the_reference_is_out() -> None:
    log: list[str] = []
    contestants = [contestant("wrong", log, 2), contestant("right", log, 1)]
    result = run_race(Race("race", "", "right", contestants, rounds=2))
    assert list(result.samples) == ["right"]
    assert "wrong answer" in result.failures["wrong"]


def test_who_fails_is_out_and_the_others_go_on() -> None:
    log: list[str] = []

    def fail(operations: int) -> None:
        raise OSError("disk on fire\nand more")

    contestants = [contestant("fine", log), Contestant("failing", fail)]
    result = run_race(Race("race", "", "fine", contestants, rounds=2))
    assert len(result.samples["fine"]) == 2
    assert result.failures == {"failing": "OSError: disk on fire"}


def test_a_turn_is_filled_with_as_many_operations_as_it_takes() -> None:
    done: list[int] = []

    def work(operations: int) -> None:
        done.append(operations)
        sum(range(1000 * operations))

    run_race(Race("race", "", "a", [Contestant("a", work)], rounds=1, turn_seconds=0.02))
    assert done[0] == 1
    assert done[-1] > 10


def test_a_ratio_is_the_median_of_the_ratios_of_the_rounds() -> None:
    result = result_with({"ours": [1.0, 1.0, 10.0], "theirs": [3.0, 5.0, 40.0]})
    assert result.ratio("theirs", "ours") == 4.0
    assert result.seconds("theirs") == 0.5


def test_a_goal_is_reported_as_reached_or_not() -> None:
    assert "4.00x, reached" in format_result(result_with({"ours": [1.0], "theirs": [4.0]}))
    assert "1.50x, NOT reached" in format_result(result_with({"ours": [2.0], "theirs": [3.0]}))


def test_a_goal_without_its_subject_is_not_measured() -> None:
    result = result_with({"theirs": [3.0]})
    assert measured_ratio(result, result.race.goals[0]) is None
    assert "not measured" in format_result(result)
    assert '"measured": null' in as_json([result], {})


def test_averages_of_six_places_equal_doubles_but_a_wrong_sum_does_not() -> None:
    assert same_rows([("A", 0.050081, 14876)], [("A", 0.05008133, 14876)])
    assert not same_rows([("A", 0.05, 14876)], [("A", 0.05, 14877)])
    assert not same_rows([("A",)], [])


def test_an_unknown_workload_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--only", "q7"])
    assert stopped.value.code == 2
    assert "q7" in capsys.readouterr().err


def test_a_run_leaves_only_the_cached_input_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["--only", "point_update", "--peers", "sqlite", "--point-rows", "100"]
    assert main([*arguments, "--rounds", "1", "--json", str(tmp_path / "out.json")]) == 0
    assert list((tmp_path / "pykudu_sql" / "bench").iterdir()) == []
    assert '"sqlite"' in (tmp_path / "out.json").read_text()
