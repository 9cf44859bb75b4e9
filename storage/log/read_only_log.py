"""The write-ahead log of a database that this process only reads: it takes nothing."""

from pykudu_sql.storage.errors import ReadOnlyError
from pykudu_sql.storage.log.durable_mark import NOWHERE

OPEN_TO_WRITE = "open it without --read-only or read_only=True to write"


class ReadOnlyLog:
    """Stands where a `WriteAheadLog` would, and refuses what would change it.

    Attributes:
        last_sequence: always 0: this process has appended nothing.
        is_broken: never: nothing was written that could have failed.
        durable_end: none, for the same reason.
    """

    last_sequence = 0
    is_broken = False
    durable_end = NOWHERE

    def append(self, payload: bytes) -> int:
        """Refuse a record. Raises ReadOnlyError: always."""
        raise ReadOnlyError(
            f"the database was opened read-only; a record of {len(payload)} bytes was not written",
            hint=OPEN_TO_WRITE,
        )

    def sync(self, sequence: int) -> None:
        """Nothing: no record of this process waits to be durable."""

    def renew_mark(self) -> None:
        """Nothing: what is durable is noted by the process that writes."""

    def show_appended(self) -> None:
        """Nothing: this process appends nothing."""

    def repair(self) -> None:
        """Nothing: no write has failed."""

    def bytes_from(self, sequence: int) -> int:
        """Always 0: the segments belong to the process that writes."""
        return 0

    def bytes_since(self, sequence: int) -> int:
        """Always 0, too."""
        return 0

    def drop_before(self, sequence: int) -> None:
        """Nothing: segments belong to the process that writes."""

    def close(self) -> None:
        """Nothing is open."""
