"""The fault injector does what the hook says, and nothing else."""

import errno
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import (
    CRASH_EXIT_CODE,
    CrashBefore,
    Drop,
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)


def test_every_mutation_is_shown_with_its_point_and_counted() -> None:
    seen: list[FaultPoint] = []
    env = FaultEnv(MemoryEnv(), seen.append)
    env.make_dir("/d")
    file = env.create("/d/a", point="t.create")
    file.append(b"12", point="t.append")
    file.allocate(8, point="t.allocate")
    file.allocate(8, point="t.allocate")
    file.write_at(0, b"3", point="t.write")
    file.truncate(4, point="t.truncate")
    file.sync(point="t.sync")
    env.rename("/d/a", "/d/b", point="t.rename")
    env.sync_dir("/d", point="t.sync_dir")
    env.unlink("/d/b", point="t.unlink")
    env.remove_tree("/d", point="t.remove")
    assert [(p.operation.value, p.point) for p in seen] == [
        ("create", "t.create"),
        ("write", "t.append"),
        ("allocate", "t.allocate"),
        ("write", "t.write"),
        ("truncate", "t.truncate"),
        ("sync", "t.sync"),
        ("rename", "t.rename"),
        ("sync_dir", "t.sync_dir"),
        ("unlink", "t.unlink"),
        ("remove_tree", "t.remove"),
    ]
    assert [p.ordinal for p in seen] == list(range(1, len(seen) + 1))


def fail_on(operation: Mutation, action: FaultAction) -> FaultEnv:
    env = FaultEnv(MemoryEnv(), lambda point: action if point.operation is operation else None)
    env.make_dir("/d")
    return env


def test_a_failed_write_changes_nothing_and_reads_like_the_real_thing() -> None:
    env = fail_on(Mutation.WRITE, Fail(errno.ENOSPC))
    file = env.create("/d/a", point="t")
    with pytest.raises(DiskError, match=r"No space left on device \(ENOSPC\)"):
        file.append(b"123", point="t")
    assert env.read_file("/d/a") == b""


def test_a_short_write_leaves_its_first_bytes() -> None:
    env = fail_on(Mutation.WRITE, ShortWrite(2))
    file = env.create("/d/a", point="t")
    with pytest.raises(DiskError):
        file.append(b"123", point="t")
    assert env.read_file("/d/a") == b"12"


def test_a_short_allocation_leaves_its_first_zeros() -> None:
    env = fail_on(Mutation.ALLOCATE, ShortWrite(3))
    file = env.create("/d/a", point="t")
    with pytest.raises(DiskError):
        file.allocate(10, point="t")
    assert file.size == 3


def test_a_dropped_sync_claims_success() -> None:
    env = fail_on(Mutation.SYNC, Drop())
    env.create("/d/a", point="t").sync(point="t")


def test_an_action_that_makes_no_sense_is_refused() -> None:
    env = fail_on(Mutation.RENAME, Drop())
    env.create("/d/a", point="t").close()
    with pytest.raises(ValueError, match="makes no sense for rename"):
        env.rename("/d/a", "/d/b", point="t")
    assert env.exists("/d/a")


@pytest.mark.parametrize(("action", "left"), [("CrashBefore", False), ("CrashAfter", True)])
def test_a_crash_ends_the_process_before_or_after_the_call(
    tmp_path: Path, action: str, left: bool
) -> None:
    program = f"""
        from tests.storage.fault_env import {action}, FaultEnv, Mutation
        from pykudu_sql.storage.fs.local_env import LocalEnv
        env = FaultEnv(LocalEnv(), lambda p: {action}() if p.point == "t.create" else None)
        env.create({str(tmp_path / "a")!r}, point="t.create")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert done.returncode == CRASH_EXIT_CODE
    assert (tmp_path / "a").exists() == left


def test_actions_are_values() -> None:
    assert Fail() == Fail(errno.EIO)
    assert CrashBefore() == CrashBefore()
