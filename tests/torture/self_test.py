"""The campaigns must turn red when the storage is made unsafe, or they prove nothing."""

import contextlib
from collections.abc import Callable, Iterator
from unittest import mock

from pykudu_sql.storage.cfile import block_file
from tests.torture.bits import bit_campaign
from tests.torture.campaigns import Campaign, count_mutations, power_loss
from tests.torture.disks import ForgetfulEnv, Loss
from tests.torture.outcome import Outcome

# Of every so many faults one is tried, until one is noticed.
_STRIDE = 3


class _EqualToAll(int):
    """A checksum that no comparison tells from the right one."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


@contextlib.contextmanager
def _without_block_checksums() -> Iterator[None]:
    with mock.patch.object(block_file, "checksum", lambda *_: _EqualToAll()):
        yield


def _notices(campaign: Campaign) -> Outcome | None:
    """The first fault that is a failure."""
    for number in range(1, campaign.numbers + 1, _STRIDE):
        outcome = campaign.outcome(number)
        if outcome.is_failure:
            return outcome
    return None


def _without_sync(point: str) -> Outcome | None:
    attempt = power_loss(Loss.ALL_LOST, ForgetfulEnv(point))
    return _notices(Campaign(f"without {point}", count_mutations(), attempt))


def _without_checksums() -> Outcome | None:
    campaign = bit_campaign(lambda path: "/tablets/" in path, "without checksums of blocks")
    with _without_block_checksums():
        return _notices(campaign)


def main() -> int:
    """Sabotage the storage in three ways; returns how many of them went unnoticed."""
    sabotages: dict[str, Callable[[], Outcome | None]] = {
        "no fsync of the write-ahead log": lambda: _without_sync("wal.sync"),
        "no sync of a tablet's directory after a flush": lambda: _without_sync("flush.sync_dir"),
        "no checksum of blocks": _without_checksums,
    }
    unnoticed = 0
    for name, sabotage in sabotages.items():
        noticed = sabotage()
        ending = f"red: {noticed.result} at {noticed.what}" if noticed else "NOT NOTICED"
        print(f"{name:<52}{ending}", flush=True)
        unnoticed += noticed is None
    return unnoticed
