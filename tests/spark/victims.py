"""Starting drivers to be killed, and killing them, or the workers that do their tasks."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[2]
# Daemons of other modules fork the workers that plan and commit, without which no query ends.
_WORKER = b"pyspark.worker"


class Victim:
    """A process of `victim`, with the JVM and the workers that it started."""

    def __init__(self, arguments: Sequence[str], complaints: TextIO) -> None:
        """Start it in a session of its own, its errors going to a file."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        self._complaints = complaints
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.victim", *arguments],
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=ROOT,
            env=environment,
            text=True,
            start_new_session=True,
        )

    def said(self) -> tuple[str, int]:
        """The next thing that it says: what, and of which batch.

        Raises:
            RuntimeError: it ended by itself.
        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            word, _, number = line.partition(" ")
            if word in ("begin", "done"):
                return word, int(number)
        self._complaints.seek(0)
        raise RuntimeError(f"the driver ended by itself: {self._complaints.read()[-3000:]}")

    def kill_worker(self, rng: random.Random) -> bool:
        """Kill one process that does tasks; False if there was none."""
        workers = [pid for pid in self._processes() if self._is_task_worker(pid)]
        if not workers:
            return False
        with suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGKILL)
        return True

    def kill(self) -> list[int]:
        """Kill all of it at once; what it had said of batches committed until then."""
        self._process.kill()  # before the others are looked for: a commit is short
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        output = self._process.stdout
        if output is None or output.closed:
            return []  # it was killed before
        with output:
            words = [line.split() for line in output]
        self._process.wait()
        while self._processes():
            time.sleep(0.05)
        return [int(said[1]) for said in words if said[:1] == ["done"]]

    def _processes(self) -> list[int]:
        """Everything in its session that lives."""
        found = []
        for entry in os.listdir("/proc"):
            with suppress(OSError):
                if entry.isdigit() and os.getsid(int(entry)) == self._process.pid:
                    state = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
                    if state != "Z":
                        found.append(int(entry))
        return found

    def _is_task_worker(self, pid: int) -> bool:
        """Whether a process was forked by the daemon of Spark's workers."""
        with suppress(OSError):
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            lines = [Path(f"/proc/{one}/cmdline").read_bytes() for one in (pid, parent)]
            return all(_WORKER in line.split(b"\0") for line in lines)
        return False


@contextmanager
def victim(*arguments: str) -> Iterator[Victim]:
    """A driver that is gone at the end in any case."""
    with tempfile.TemporaryFile("w+") as complaints:
        started = Victim(arguments, complaints)
        try:
            yield started
        finally:
            started.kill()
