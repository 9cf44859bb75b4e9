"""The writer's lock between processes: refusal names the holder, a kill leaves nothing behind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import LockedError
from pykudu_sql.storage.fs.local_env import LocalEnv

env = LocalEnv()

HOLDER = """
import sys, time
from pykudu_sql.storage.fs.local_env import LocalEnv
lock = LocalEnv().lock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "LOCK")


@pytest.fixture
def holder(path: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_another_process_is_told_who_holds_the_database(
    path: str, holder: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(
        LockedError, match=f"open for writing by process {holder.pid} on "
    ) as caught:
        env.lock(path)
    assert caught.value.sqlstate == "55006"


def test_a_killed_holder_leaves_no_stale_lock(path: str, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    env.lock(path).release()


@pytest.mark.parametrize("note", [b"", b"garbage", b"\xff\xfe\n\n", b"12\nx\ny\nz\n", b"1" * 9000])
def test_the_note_of_the_holder_is_not_trusted(path: str, note: bytes) -> None:
    with env.lock(path):
        Path(path).write_bytes(note)
        with pytest.raises(LockedError, match="another process"):
            env.lock(path)


def test_the_note_cannot_steer_a_terminal(path: str) -> None:
    with env.lock(path):
        Path(path).write_bytes(b"77\n\x1b[31mnow\nhost\x07\n")
        with pytest.raises(LockedError) as caught:
            env.lock(path)
    assert caught.value.message.isprintable()
    assert "process 77 on host? since ?[31mnow" in caught.value.message
