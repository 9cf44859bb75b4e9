"""What a refusal says of a call, by what its rule bounds."""

import pytest

from pykudu_sql.planner.value_bounds.excess import Bounded


@pytest.mark.parametrize(
    ("bounded", "message", "limit"),
    [
        (Bounded.VALUE, "'repeat' would make a value of more than 64 MiB", "64 MiB"),
        (Bounded.WORK, "'repeat' would take more than 64 MiB to work in", "64 MiB"),
        (Bounded.STEPS, "'repeat' would take more than 67,108,864 steps", "67,108,864 steps"),
    ],
)
def test_a_refusal_names_the_call_and_the_limit(bounded: Bounded, message: str, limit: str) -> None:
    assert bounded.excess("repeat") == message
    assert limit in bounded.remedy


def test_only_work_is_lessened_by_shorter_arguments() -> None:
    shorter = {each for each in Bounded if each.remedy.endswith("give it shorter arguments")}
    assert shorter == {Bounded.WORK, Bounded.STEPS}


def test_a_check_in_the_engine_names_the_kind_by_its_word() -> None:
    assert [Bounded(f"{each}") for each in Bounded] == list(Bounded)
