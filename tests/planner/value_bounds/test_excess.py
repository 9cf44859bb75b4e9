"""What a refusal says of a call, by what its rule bounds."""

import pytest

from pykudu_sql.planner.value_bounds.excess import MAX_VALUE_BYTES, Bounded


@pytest.mark.parametrize(
    ("bounded", "most", "message", "limit"),
    [
        (Bounded.VALUE, MAX_VALUE_BYTES, "'repeat' would make a value of more than 64 MiB",
         "64 MiB"),
        (Bounded.VALUE, 11 << 20, "'repeat' would make a value of more than 11 MiB", "11 MiB"),
        (Bounded.WORK, MAX_VALUE_BYTES, "'repeat' would take more than 64 MiB to work in",
         "64 MiB"),
        (Bounded.STEPS, 11 << 20, "'repeat' would take more than 67,108,864 steps",
         "67,108,864 steps"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_call_and_the_limit(
    bounded: Bounded, most: int, message: str, limit: str
) -> None:
    assert bounded.excess("repeat", most) == message
    assert limit in bounded.remedy(most)


def test_only_work_is_lessened_by_shorter_arguments() -> None:
    shorter = {each for each in Bounded if "give it shorter arguments" in each.remedy(1 << 20)}
    assert shorter == {Bounded.WORK, Bounded.STEPS}


def test_more_memory_helps_where_the_bound_comes_of_it() -> None:
    helped = {each for each in Bounded if "memory_limit" in each.remedy(1 << 20)}
    assert helped == {Bounded.VALUE, Bounded.WORK}
    assert not any("memory_limit" in each.remedy(MAX_VALUE_BYTES) for each in Bounded)


def test_a_check_in_the_engine_names_the_kind_by_its_word() -> None:
    assert [Bounded(f"{each}") for each in Bounded] == list(Bounded)
