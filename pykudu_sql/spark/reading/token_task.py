"""A task of a scan: reads the files of its tokens, and renews their lease meanwhile."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from pykudu_sql.spark.options import TableLocation
from pykudu_sql.spark.reading.keeper import IDLE_SECONDS
from pykudu_sql.storage.errors import CorruptionError, DiskError, OperationalError
from pykudu_sql.storage.fs.lease import renew
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets
from pykudu_sql.storage.scan.scan_token import ScanToken, read_token

_RENEW_SECONDS: Final = 10.0


# Spark hands one worker the tasks of one query after the other.
_OF_WORKER: Final = OpenedRowSets()


def read_in_task(
    location: TableLocation, tokens: Sequence[str], lease: str | None
) -> Iterator[pa.RecordBatch]:
    """The rows of some tokens in a worker, which keeps their rowsets open; see `read_tokens`."""
    return read_tokens(location, tokens, lease, _OF_WORKER)


def read_tokens(
    location: TableLocation, tokens: Sequence[str], lease: str | None, opened: OpenedRowSets
) -> Iterator[pa.RecordBatch]:
    """The rows of some tokens.

    Args:
        location: of the table.
        tokens: as JSON.
        lease: path of the claim on their files; None where none could be made.
        opened: rowsets that were read before.

    Raises OperationalError: the files were given back meanwhile; CorruptionError, DiskError: they
    cannot be read.
    """
    env, claim = LocalEnv(), _Claim(location, lease)
    for text in tokens:
        claim.renew()
        try:
            for batch in read_token(env, location.path, ScanToken.from_json(text), opened):
                claim.renew()
                yield batch
        except (CorruptionError, DiskError) as error:
            claim.check(error)
            raise


class _Claim:
    """The lease of a scan, kept alive while a task reads."""

    def __init__(self, location: TableLocation, path: str | None) -> None:
        self._location = location
        self._path = path
        self._due = 0.0

    def renew(self) -> None:
        """Show that the files are read, every few seconds."""
        now = time.monotonic()
        if self._path is not None and now >= self._due:
            self._due = now + _RENEW_SECONDS
            try:
                renew(LocalEnv(), self._path)
            except DiskError as error:
                raise self._snapshot_error() from error

    def check(self, error: Exception) -> None:
        """Say why a file is not there, if that is because the files were given back."""
        if self._path is None or not LocalEnv().exists(self._path):
            raise self._snapshot_error() from error

    def _snapshot_error(self) -> OperationalError:
        return OperationalError(
            f"the snapshot of table '{self._location.table}' behind this DataFrame "
            f"has been released: nothing read it for {IDLE_SECONDS:.0f} seconds",
            hint="load the table again; with the option asOf at the same moment",
            sqlstate="72000",
        )
