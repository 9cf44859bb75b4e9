"""Loads into a table while workers and drivers are killed: each batch is all there, or none of it.

    python -m tests.spark.kills --rounds 50 [--seed 1]

A round is one kill. Most kill a worker while it does a task, and Spark tries the task again; every
fourth kills the driver, JVM and all: in turn before its commit, in it, as it becomes durable, and
after it was told. After each driver the database is checked: whole batches only, none missing that
was said to be committed, `pykudu-sql check` clean, and nothing left in `staging` and `tmp` once the
database was opened.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pykudu_sql
from pykudu_sql.offline import check
from tests.spark.victim import BATCH
from tests.spark.victims import Victim, victim

_PER_DRIVER = 4
_LONGEST_LOAD = 1.5
_LONGEST_COMMIT = 0.1
_GLANCE = 0.0002


@dataclass(frozen=True, slots=True)
class Kills:
    """What was done.

    Attributes:
        workers: killed.
        before: drivers killed whose last batch is not there.
        between: drivers killed when their last batch was there, before they said so.
        after: drivers killed that had said that their last batch was there.
        batches: in the table at the end.
    """

    workers: int
    before: int
    between: int
    after: int
    batches: int


def campaign(folder: Path, rounds: int, seed: int) -> Kills:
    """Kill so many processes, and look after each driver.

    Args:
        folder: for the database.
        rounds: kills.
        seed: of when and whom.

    Raises:
        AssertionError: a row was lost or doubled, or something is left over.
    """
    path, rng = str(folder / "my.db"), random.Random(seed)
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, batch BIGINT) "
            "PARTITION BY HASH (id) PARTITIONS 3"
        )
    workers = known = 0
    found: Counter[str] = Counter()
    while workers + found.total() < rounds:
        here = min(_PER_DRIVER, rounds - workers - found.total())
        moment = _MOMENTS[found.total() % len(_MOMENTS)]
        with victim("load", path, str(known)) as driver:
            said = known - 1
            for _ in range(here - 1):
                said = max(said, _kill_a_worker(driver, rng))
                workers += 1
            begun, done = moment(driver, path, rng)
        said = max(said, done)
        known = _look(path)
        assert known > said, f"batch {said} was committed and is lost"
        found["after" if begun <= said else "between" if begun < known else "before"] += 1
    return Kills(workers, found["before"], found["between"], found["after"], known)


def _kill_a_worker(driver: Victim, rng: random.Random) -> int:
    """Kill a worker in a task, and wait until the load is done all the same; the last one done."""
    said = -1
    killed = False
    while not killed:
        word, number = driver.said()
        if word == "done":
            said = number
            continue
        deadline = time.monotonic() + _LONGEST_LOAD
        time.sleep(rng.uniform(0, 0.4))
        while not killed and time.monotonic() < deadline:
            killed = driver.kill_worker(rng)
    return said


def _kill_before_commit(driver: Victim, path: str, rng: random.Random) -> tuple[int, int]:
    """Kill the driver while the tasks of a load run."""
    begun, done = _next_load(driver)
    time.sleep(rng.uniform(0, _LONGEST_LOAD / 4))
    return begun, max([done, *driver.kill()])


def _kill_in_commit(driver: Victim, path: str, rng: random.Random) -> tuple[int, int]:
    """Kill the driver once its tasks are done, before it says that it committed."""
    begun, done = _next_load(driver)
    while not any(Path(path, "staging").glob("*/RECORD")):
        time.sleep(0.001)
    time.sleep(rng.uniform(0, _LONGEST_COMMIT))
    return begun, max([done, *driver.kill()])


def _kill_once_committed(driver: Victim, path: str, rng: random.Random) -> tuple[int, int]:
    """Kill the driver when the manifest has grown, before it says that it committed."""
    begun, done = _next_load(driver)
    while not any(Path(path, "staging").glob("*/RECORD")):
        time.sleep(_GLANCE)
    before = _manifest_bytes(path)
    while _manifest_bytes(path) == before:
        time.sleep(_GLANCE)
    return begun, max([done, *driver.kill()])


def _manifest_bytes(path: str) -> int:
    return sum(file.stat().st_size for file in Path(path, "manifest").iterdir())


def _kill_after_commit(driver: Victim, path: str, rng: random.Random) -> tuple[int, int]:
    """Kill the driver as soon as it has said that it committed."""
    begun, done = _next_load(driver)
    while done < begun:
        done = driver.said()[1]
    return begun, max([done, *driver.kill()])


_MOMENTS: Final = (
    _kill_before_commit,
    _kill_in_commit,
    _kill_once_committed,
    _kill_after_commit,
)


def _next_load(driver: Victim) -> tuple[int, int]:
    """Wait until a load begins: its number, and that of the last one done."""
    done = -1
    word, number = driver.said()
    while word == "done":
        done = number
        word, number = driver.said()
    return number, done


def _look(path: str) -> int:
    """See that the database is whole; the number of batches in it."""
    with pykudu_sql.connect(path, maintenance=False) as conn:
        found = conn.execute(
            "SELECT batch, count(*), count(DISTINCT id), min(id), max(id) FROM t "
            "GROUP BY batch ORDER BY batch"
        ).fetchall()
    for number, row in enumerate(found):
        first = number * BATCH
        whole = (number, BATCH, BATCH, first, first + BATCH - 1)
        assert tuple(row) == whole, f"batch {row} should be {whole}"
    problems = [str(finding) for finding in check(path, quick=False).run()]
    assert not problems, problems
    places = [Path(path) / name for name in ("staging", "tmp")]
    left = [str(file) for place in places for file in place.rglob("*") if file.is_file()]
    assert not left, left
    return len(found)


def main(argv: list[str]) -> int:
    """Run the script; 0 when nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.kills")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        print(campaign(Path(folder), options.rounds, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
