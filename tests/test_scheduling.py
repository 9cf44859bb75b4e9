"""A run of the tests comes to its end, whatever a test does to its process."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.scheduling import LONG, SPARK, Pieces, rank

MODULES = {f"tests/test_{letter}.py": 3 for letter in "abcdef"}
COLLECTED = [f"{module}::test_{i}" for module, count in MODULES.items() for i in range(count)]


class Process:
    """What the scheduler knows of a process: it runs a test when it knows the next, or the end."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.shutting_down = False
        self.gateway = SimpleNamespace(id="gw")

    def send_runtest_some(self, indices: list[int]) -> None:
        assert indices, "a process that is given nothing waits for ever"
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def pieces() -> Pieces:
    options = SimpleNamespace(loadscopereorder=False)
    config: Any = SimpleNamespace(getvalue=lambda name: ["popen"] * 2, option=options)
    return Pieces(config, None)


def begin(pieces: Pieces, *processes: Process) -> None:
    for process in processes:
        pieces.add_node(process)
        pieces.add_node_collection(process, COLLECTED)
    if pieces.collection_is_completed:
        pieces.schedule()


def play(pieces: Pieces, *processes: Process) -> list[str]:
    """Run what the processes are given until none can go on."""
    ran: list[str] = []
    while ready := [p for p in processes if len(p.given) > 1 or (p.given and p.shutting_down)]:
        index = ready[0].given.pop(0)
        ran.append(COLLECTED[index])
        pieces.mark_test_complete(ready[0], index)
        if pieces.tests_finished:
            for process in processes:
                process.shutdown()
    return ran


def test_every_test_is_run_once_by_some_process(pieces: Pieces) -> None:
    one, other = Process(), Process()
    begin(pieces, one, other)
    assert sorted(play(pieces, one, other)) == COLLECTED


@pytest.mark.parametrize("finished", range(3))
def test_a_process_that_dies_fails_one_test_and_the_others_are_run_once(
    pieces: Pieces, finished: int
) -> None:
    one, other, new = Process(), Process(), Process()
    begin(pieces, one, other)
    ran = [COLLECTED[one.given[i]] for i in range(finished)]
    for _ in ran:
        pieces.mark_test_complete(one, one.given.pop(0))
    died_of = pieces.remove_node(one)
    assert died_of == COLLECTED[one.given[0]]
    begin(pieces, new)
    assert sorted([*ran, died_of, *play(pieces, other, new)]) == COLLECTED


def test_a_process_that_dies_while_another_starts_leaves_its_tests_to_it(pieces: Pieces) -> None:
    one, other, new = Process(), Process(), Process()
    begin(pieces, one, other)
    deadly = pieces.remove_node(one)
    pieces.add_node(new)
    hanging = pieces.remove_node(other)
    assert not new.given
    pieces.add_node_collection(new, COLLECTED)
    pieces.schedule()
    assert sorted([str(deadly), str(hanging), *play(pieces, new)]) == COLLECTED


def test_a_process_that_has_finished_all_dies_of_nothing(pieces: Pieces) -> None:
    one, other = Process(), Process()
    begin(pieces, one, other)
    play(pieces, one, other)
    assert pieces.remove_node(one) is None


def test_a_long_module_is_a_piece_for_each_test_and_spark_one_in_all(pieces: Pieces) -> None:
    assert pieces._split_scope(f"{LONG[1]}::test_a") == f"{LONG[1]}::test_a"
    assert pieces._split_scope("tests/spark/test_a.py::test_a") == "tests/spark/"
    assert pieces._split_scope("tests/test_a.py::Group::test_a") == "tests/test_a.py"


def test_spark_comes_first_and_then_what_else_is_long() -> None:
    spark, short = f"{SPARK}test_b.py", "tests/test_a.py"
    assert sorted([short, *LONG[1:], spark], key=rank) == [spark, *LONG[1:], short]
