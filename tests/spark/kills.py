"""Loads into a table while workers and drivers are killed: each batch is all there, or none of it.

    python -m tests.spark.kills --rounds 50 [--seed 1]

A round is one kill. Most kill a worker while it does a task, and Spark tries the task again; every
fourth kills the driver, JVM and all, before, in or after its commit. After each driver the database
is checked: whole batches only, none missing that was said to be committed, `pykudu-sql check`
clean, and nothing left in `staging` and `tmp` once the database was opened.
"""

import argparse
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pykudu_sql
from pykudu_sql.offline import check
from tests.spark.victim import BATCH
from tests.spark.victims import Victim, victim

_PER_DRIVER = 4
_LONGEST_LOAD = 1.5


@dataclass(frozen=True, slots=True)
class Kills:
    """What was done.

    Attributes:
        workers: killed.
        drivers: killed.
        batches: in the table at the end.
        unsaid: batches that were committed though their driver was killed before it said so.
    """

    workers: int
    drivers: int
    batches: int
    unsaid: int


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
    workers = drivers = known = unsaid = 0
    while workers + drivers < rounds:
        here = min(_PER_DRIVER, rounds - workers - drivers)
        with victim("load", path, str(known)) as driver:
            said = {known - 1}
            for _ in range(here - 1):
                said |= _kill_a_worker(driver, rng)
                workers += 1
            said |= _kill_the_driver(driver, rng)
            drivers += 1
        batches = _look(path)
        assert batches >= max(said) + 1, f"batch {max(said)} was committed and is lost"
        unsaid += batches - max(said) - 1
        known = batches
    return Kills(workers, drivers, known, unsaid)


def _kill_a_worker(driver: Victim, rng: random.Random) -> set[int]:
    """Kill a worker in a task, and wait until the load is done all the same."""
    said = set()
    killed = False
    while not killed:
        word, number = driver.said()
        if word == "done":
            said.add(number)
            continue
        deadline = time.monotonic() + _LONGEST_LOAD
        time.sleep(rng.uniform(0, 0.4))
        while not killed and time.monotonic() < deadline:
            killed = driver.kill_worker(rng)
    return said


def _kill_the_driver(driver: Victim, rng: random.Random) -> set[int]:
    """Kill the driver some time after a load began."""
    word, number = driver.said()
    said = {number} if word == "done" else set()
    time.sleep(rng.uniform(0, _LONGEST_LOAD))
    return said | set(driver.kill())


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
