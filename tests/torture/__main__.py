"""The fault campaign: `python -m tests.torture`, or `make torture`.

Prints every broken promise and a table of what was tried; ends with 1 if there is a broken promise.
With `--self-test` the storage is sabotaged, and what must be noticed is.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from tests.storage import crash_rounds
from tests.storage.hostile import campaign as hostile
from tests.torture import self_test
from tests.torture.bits import bit_campaign
from tests.torture.campaigns import Campaign, all_campaigns
from tests.torture.outcome import Outcome, Result, table
from tests.torture.soak import try_soak

_HOSTILE = "hostile file with a right checksum"
_KILLED = "process killed by SIGKILL, files on disk"
_CHUNK = 25


@cache
def _campaigns() -> list[Campaign]:
    """All campaigns; computed before the workers are forked."""
    return [*all_campaigns(), bit_campaign(lambda path: True, "a bit of a file flipped")]


def _try_some(index: int, numbers: list[int]) -> list[Outcome]:
    campaign = _campaigns()[index]
    return [campaign.outcome(number) for number in numbers]


def _try_hostile(mutations: int, first: int) -> list[Outcome]:
    return [
        Outcome(
            _HOSTILE,
            f"mutation {verdict.number}",
            Result.OTHER if verdict.is_finding else Result.HELD,
            f"{verdict.outcome}: {verdict.detail}",
        )
        for verdict in hostile.verdicts(mutations, first)
    ]


def _try_killing(rounds: int, seed: int) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            crash_rounds.main(folder, rounds, seed)
        except AssertionError as error:
            return [Outcome(_KILLED, f"seed {seed}", Result.LOST, str(error))]
    return [Outcome(_KILLED, f"seed {seed}", Result.HELD)] * rounds


def outcomes(stride: int, workers: int) -> Iterator[Outcome]:
    """Try everything, or one fault of so many.

    Args:
        stride: 1 for everything.
        workers: processes.
    """
    fork = multiprocessing.get_context("fork")
    campaigns = _campaigns()
    with ProcessPoolExecutor(workers, mp_context=fork) as pool:
        futures = []
        for index, campaign in enumerate(campaigns):
            numbers = list(range(1 + index % stride, campaign.numbers + 1, stride))
            for start in range(0, len(numbers), _CHUNK):
                futures.append(pool.submit(_try_some, index, numbers[start : start + _CHUNK]))
        share = 20_000 // stride // workers
        futures += [pool.submit(_try_hostile, share, share * i) for i in range(workers)]
        futures += [pool.submit(_try_killing, max(200 // stride, 5), seed) for seed in (1, 2)]
        futures.append(pool.submit(try_soak, 60 / min(stride, 6), 1_000_000 // stride))
        for future in futures:
            yield from future.result()


def main() -> int:
    """Run; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--self-test", action="store_true", help="sabotage the storage")
    parser.add_argument("--stride", type=int, default=1, help="try one fault of so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if arguments.self_test:
        return 1 if self_test.main() else 0
    done = []
    for outcome in outcomes(arguments.stride, arguments.workers):
        done.append(outcome)
        if outcome.is_failure:
            print(f"{outcome.campaign}, {outcome.what}: {outcome.detail}", flush=True)
    text, failures = table(done)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
