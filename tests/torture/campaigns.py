"""The campaigns: which faults there are, and what happens when one is tried.

A fault is a campaign's name and a number, tried by `attempt` in any process; trying it again gives
the same.
"""

import errno
import itertools
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from tests.torture.disks import Loss, PowerLoss, TortureDisk
from tests.torture.ledger import Ledger, LostCommit, Stuck, WrongRead
from tests.torture.outcome import Outcome, Result
from tests.torture.workload import open_store, run

WrapEnv = Callable[[Env], Env]
_REFUSALS: Mapping[str, FaultAction] = MappingProxyType(
    {
        "EIO": Fail(errno.EIO),
        "ENOSPC": Fail(errno.ENOSPC),
        "a short write": ShortWrite(7, errno.ENOSPC),
    }
)


def reliable(env: Env) -> Env:
    """The environment as it is."""
    return env


@dataclass(frozen=True)
class Campaign:
    """Faults of one kind.

    Attributes:
        name: the row of the table.
        numbers: faults are 1 .. numbers.
        attempt: tries one; returns whether it fired. Broken promises are raised.
    """

    name: str
    numbers: int
    attempt: Callable[[int], bool]

    def outcome(self, number: int) -> Outcome:
        """Try a fault and judge its end."""
        what = f"fault {number} of {self.numbers}"
        try:
            fired = self.attempt(number)
        except BaseException as error:
            detail = "".join(traceback.format_exception(error)[-4:])
            return Outcome(self.name, what, _judge(error), detail)
        return Outcome(self.name, what, Result.HELD if fired else Result.NOT_FIRED)


def _judge(error: BaseException) -> Result:
    match error:
        case LostCommit():
            return Result.LOST
        case WrongRead():
            return Result.WRONG
        case Stuck() if "/db" not in str(error):
            return Result.UNNAMED
        case _:
            return Result.OTHER


def count_mutations() -> int:
    """How many times the workload asks the disk for a change."""
    calls = 0

    def note(point: FaultPoint) -> FaultAction:
        nonlocal calls
        calls += 1
        return None

    run(FaultEnv(MemoryEnv(), note), Ledger())
    return calls


def refusal(name: str, *, once: bool) -> Callable[[int], bool]:
    """The N-th change of the disk is refused, or it and all after it."""

    def attempt(number: int) -> bool:
        disk, ledger = MemoryEnv(), Ledger()
        fired = False

        def hook(point: FaultPoint) -> FaultAction:
            nonlocal fired
            if point.ordinal != number and (once or point.ordinal < number):
                return None
            fired = True
            action = _REFUSALS[name]
            if isinstance(action, ShortWrite) and point.operation is not Mutation.WRITE:
                return Fail(errno.ENOSPC)
            return action

        try:
            run(FaultEnv(disk, hook), ledger)
        except Error as error:
            if "/db" not in str(error):
                raise Stuck(f"unnamed: {error}") from error
        ledger.check_after(lambda: open_store(disk))
        return fired

    return attempt


def power_loss(loss: Loss, wrap: WrapEnv = reliable) -> Callable[[int], bool]:
    """The power goes before the N-th change, and again while the store recovers."""

    def attempt(number: int) -> bool:
        ledger = Ledger()
        disk = TortureDisk(number)
        try:
            run(wrap(disk.env), ledger)
            return False
        except PowerLoss:
            left = disk.after(loss, number)
        # For some numbers recovery is cut short at each of its changes in turn.
        moments = itertools.count(1) if number % 8 == 0 else (1 + number % 12,)
        for moment in moments:
            again = TortureDisk(moment, left)
            try:
                open_store(wrap(again.env)).close()
                break
            except PowerLoss:
                left = again.after(loss, number)
        ledger.check_after(lambda: open_store(left))
        return True

    return attempt


def all_campaigns() -> list[Campaign]:
    """Everything that is tried on the workload in memory."""
    calls = count_mutations()
    found = [
        Campaign(f"{name} {'once' if once else 'from then on'}", calls, refusal(name, once=once))
        for name in _REFUSALS
        for once in (True, False)
    ]
    found += [Campaign(str(loss), calls, power_loss(loss)) for loss in Loss]
    return found
