"""Work of many frames runs, the interpreter's limit is as before, and no lock is waited for."""

import gc
import sys

import pytest

from pykudu_sql.planner.deep_stack import run_deep


def count_down(frames: int) -> int:
    return 0 if frames == 0 else count_down(frames - 1)


def test_work_deeper_than_the_limit_runs_and_leaves_the_limit_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    assert run_deep(lambda: count_down(limit + 500)) == 0
    assert sys.getrecursionlimit() == limit


def test_no_garbage_is_collected_while_the_frames_of_all_threads_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    list_frames, was_enabled = sys._current_frames, []  # noqa: TID251

    def listed() -> object:
        was_enabled.append(gc.isenabled())
        return list_frames()

    monkeypatch.setattr(sys, "_current_frames", listed)
    frames = sys.getrecursionlimit() + 500
    run_deep(lambda: count_down(frames))
    assert was_enabled and not any(was_enabled)
    assert gc.isenabled()
