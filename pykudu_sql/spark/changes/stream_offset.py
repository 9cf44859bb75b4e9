"""The offset of a stream of changes, which its checkpoint keeps.

A stream begins with the rows that the table has, at one moment, some tablets at a time if it is to
go slowly; then come the changes since that moment. An offset describes both parts with one bound:
of the snapshot, or of the changes that have been given. It names the table by id, so a table of the
same name that was made later is another one.
"""

from collections.abc import Mapping
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import DataError


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """A place in the changes of a table.

    Attributes:
        table_id: a UUID.
        bound: of the snapshot the stream begins with; once that was given, all commits below the
            bound were.
        tablets: of the snapshot, how many were given; None from the first change on.
    """

    table_id: str
    bound: SnapshotBound
    tablets: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The offset as Spark keeps it."""
        value: dict[str, Any] = {"table": self.table_id, "bound": self.bound}
        return value if self.tablets is None else {**value, "tablets": self.tablets}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "StreamOffset":
        """The inverse of `to_json`. Raises DataError: it is none of our offsets."""
        try:
            tablets = value.get("tablets")
            return cls(
                str(value["table"]),
                SnapshotBound(int(value["bound"])),
                None if tablets is None else int(tablets),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"the checkpoint holds {str(value)[:80]!r}, which is no offset of format 'pykudu'",
                hint="give this stream a checkpoint of its own",
            ) from error
