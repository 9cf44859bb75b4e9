"""The fault campaign: `python -m tests.torture`, or `make torture`.

Prints every broken promise as it is found, how far it is every ten seconds, and a table of what was
tried; ends with 1 if there is a broken promise. Ctrl-C ends it with the table so far, SIGQUIT
(Ctrl-\\) prints that table and goes on. With `--self-test` the storage is sabotaged, and what must
be noticed is.
"""

import argparse
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial

from tests.storage.faults import crash_rounds
from tests.storage.hostile import campaign as hostile
from tests.torture import self_test
from tests.torture.bits import bit_campaign
from tests.torture.campaigns import Campaign, all_campaigns
from tests.torture.outcome import Outcome, Result
from tests.torture.progress import Progress
from tests.torture.soak import try_soak

_HOSTILE = "hostile file with a right checksum"
_KILLED = "process killed by SIGKILL, files on disk"
_CHUNK = 25
_MUTATIONS, _MUTATIONS_A_PIECE = 20_000, 500
_KILLS, _KILLS_A_PIECE = 400, 50
_FLIPPED = "a bit of a file flipped"
# About what one takes, of processor time, for the share that is done.
_KILL_SECONDS, _HOSTILE_SECONDS, _FAULT_SECONDS, _BIT_SECONDS = 0.5, 0.1, 0.1, 0.002
_LOOK_SECONDS = 1.0
_INTERRUPTED = 130


@dataclass(frozen=True)
class Piece:
    """What one worker does at a time.

    Attributes:
        work: about how many seconds of processor time it takes.
        run: gives its outcomes.
    """

    work: float
    run: Callable[[], list[Outcome]]


@cache
def _campaigns() -> list[Campaign]:
    """All campaigns; computed before the workers are forked."""
    return [*all_campaigns(), bit_campaign(lambda path: True, _FLIPPED)]


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


def all_pieces(stride: int) -> list[Piece]:
    """Everything, or one fault of so many; what takes longest comes first."""
    soak_seconds = 60 / min(stride, 6)
    pieces = [Piece(soak_seconds, partial(try_soak, soak_seconds, 1_000_000 // stride))]
    for seed in range(_KILLS // _KILLS_A_PIECE):
        rounds = max(_KILLS_A_PIECE // stride, 1)
        pieces.append(Piece(rounds * _KILL_SECONDS, partial(_try_killing, rounds, 1 + seed)))
    for first in range(0, _MUTATIONS, _MUTATIONS_A_PIECE):
        share = max(_MUTATIONS_A_PIECE // stride, 1)
        pieces.append(Piece(share * _HOSTILE_SECONDS, partial(_try_hostile, share, first)))
    for index, campaign in enumerate(_campaigns()):
        numbers = list(range(1 + index % stride, campaign.numbers + 1, stride))
        for start in range(0, len(numbers), _CHUNK):
            some = numbers[start : start + _CHUNK]
            work = len(some) * (_BIT_SECONDS if campaign.name == _FLIPPED else _FAULT_SECONDS)
            pieces.append(Piece(work, partial(_try_some, index, some)))
    return pieces


def _begin_worker() -> None:
    """A worker has a group of its own: Ctrl-C is for its parent, which ends it and its children.

    Its log is silent: what maintenance says of the faults that are played would bury the progress.
    """
    logging.getLogger("pykudu_sql").addHandler(logging.NullHandler())
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)


def campaign(stride: int, workers: int) -> int:
    """Try everything, or one fault of so many; returns the exit code."""
    todo = all_pieces(stride)
    progress = Progress(sum(piece.work for piece in todo))
    # A KeyboardInterrupt within `wait` would leave the locks of futures taken, for which the
    # thread of the pool waits at the end.
    is_interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: is_interrupted.set())
    signal.signal(signal.SIGQUIT, lambda *_: progress.ask())
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, mp_context=fork, initializer=_begin_worker)
    failures = 0
    try:
        print(progress.line(), flush=True)
        waiting = {pool.submit(piece.run): piece for piece in todo}
        while waiting and not is_interrupted.is_set():
            for future in wait(waiting, _LOOK_SECONDS, FIRST_COMPLETED).done:
                progress.add(future.result(), waiting.pop(future).work)
            progress.tell()
    finally:
        _end(pool)
        failures = progress.finish()
    if failures:
        return 1
    return _INTERRUPTED if is_interrupted.is_set() else 0


def _end(pool: ProcessPoolExecutor) -> None:
    """End the workers, and the processes that they play crashes with."""
    groups = list(pool._processes or ())
    pool.shutdown(wait=False, cancel_futures=True)
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def main() -> int:
    """Run; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--self-test", action="store_true", help="sabotage the storage")
    parser.add_argument("--stride", type=int, default=1, help="try one fault of so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if arguments.self_test:
        return 1 if self_test.main() else 0
    return campaign(arguments.stride, arguments.workers)


if __name__ == "__main__":
    sys.exit(main())
