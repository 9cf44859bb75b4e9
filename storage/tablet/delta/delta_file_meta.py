"""What the manifest knows of a delta file: enough to leave those closed that nobody needs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import Timestamp


@dataclass(frozen=True, slots=True)
class DeltaStats:
    """What lets a scan skip a whole delta file (Kudu's `DeltaStats`).

    Attributes:
        min_timestamp, max_timestamp: of its records.
        deletes, reinserts: how many records of each kind.
        updates: cells set, by column id.
        records: all records.
    """

    min_timestamp: Timestamp
    max_timestamp: Timestamp
    deletes: int
    reinserts: int
    updates: Mapping[int, int]
    records: int

    @property
    def decisions(self) -> int:
        """Records that end a row's life or begin it again."""
        return self.deletes + self.reinserts

    def to_json(self) -> dict[str, Any]:
        """The statistics as plain JSON values."""
        return {
            "min": self.min_timestamp,
            "max": self.max_timestamp,
            "deletes": self.deletes,
            "reinserts": self.reinserts,
            "updates": {str(i): n for i, n in self.updates.items()},
            "records": self.records,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DeltaStats":
        """The inverse of `to_json`."""
        return cls(
            value["min"],
            value["max"],
            value["deletes"],
            value["reinserts"],
            {int(i): n for i, n in value["updates"].items()},
            value["records"],
        )


@dataclass(frozen=True, slots=True)
class DeltaFileMeta:
    """What the manifest knows of a delta file.

    Attributes:
        number: of the file in its tablet's folder.
        kind: "redo" or "undo".
        stats: see `DeltaStats`.
        size: bytes on disk.
    """

    number: int
    kind: str
    stats: DeltaStats
    size: int

    def committed(self, timestamp: Timestamp) -> "DeltaFileMeta":
        """The description of a file that was written before its commit, once that has a time."""
        times = replace(self.stats, min_timestamp=timestamp, max_timestamp=timestamp)
        return replace(self, stats=times)

    def to_json(self) -> dict[str, Any]:
        """The description as plain JSON values."""
        return {
            "number": self.number,
            "kind": self.kind,
            "stats": self.stats.to_json(),
            "size": self.size,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DeltaFileMeta":
        """The inverse of `to_json`."""
        stats_ = DeltaStats.from_json(value["stats"])
        return cls(value["number"], value["kind"], stats_, value["size"])
