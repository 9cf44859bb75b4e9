"""A tablet's metadata in the manifest: rowsets, their files, and which stores were flushed.

Kudu keeps this in each tablet's superblock (`tablet/tablet_metadata.cc`); here one manifest serves
the whole database, so that one edit can commit to many tablets at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import NOTHING, SnapshotBound, Timestamp
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta

# Files that other processes wrote drew their numbers by lot, from here to 2**53; the tablet itself
# counts from 1.
STAGED_NUMBERS = 1 << 40
# Behind every record of the log.
_END_OF_LOG = 1 << 53


@dataclass(frozen=True, slots=True)
class Overlay:
    """A base file with newer CFiles of some columns, written by a major delta compaction.

    `base`: number of the file; `column_ids`: the columns in it; `size`: bytes.
    """

    base: int
    column_ids: tuple[int, ...]
    size: int

    def to_json(self) -> dict[str, Any]:
        """The description as plain JSON values."""
        return {"base": self.base, "column_ids": list(self.column_ids), "size": self.size}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Overlay":
        """The inverse of `to_json`."""
        return cls(value["base"], tuple(value["column_ids"]), value["size"])


@dataclass(frozen=True, slots=True)
class RowSetMeta:
    """What the manifest knows of a rowset.

    Attributes:
        id: of the rowset within its tablet.
        base: number of the base file.
        rows: in the base.
        size: bytes of the base file.
        column_ids: the columns in the base file.
        inserted_at: the one commit that inserted all rows, or None.
        undo: delta files, newest first, the order in which they lead back.
        redo: delta files, oldest first.
        durable_delta_store: id of the newest DeltaMemStore that is on disk.
        overlays: files with newer CFiles of some columns, oldest first; the newest that has a
            column counts.
    """

    id: int
    base: int
    rows: int
    size: int
    min_key: bytes
    max_key: bytes
    column_ids: tuple[int, ...]
    inserted_at: Timestamp | None
    undo: tuple[DeltaFileMeta, ...] = ()
    redo: tuple[DeltaFileMeta, ...] = ()
    durable_delta_store: int = 0
    overlays: tuple[Overlay, ...] = ()

    @property
    def live_rows(self) -> int:
        """Rows that no REDO file deletes."""
        return self.rows - sum(file.stats.deletes for file in self.redo)

    @property
    def image_size(self) -> int:
        """Bytes of the base image, overlays included."""
        return self.size + sum(overlay.size for overlay in self.overlays)

    @property
    def redo_size(self) -> int:
        """Bytes of the REDO files."""
        return sum(file.size for file in self.redo)

    @property
    def total_size(self) -> int:
        """Bytes of all its files."""
        if not (self.overlays or self.redo or self.undo):
            return self.size
        return self.image_size + self.redo_size + sum(file.size for file in self.undo)

    @property
    def files(self) -> tuple[tuple[str, int], ...]:
        """Kind and number of every file that belongs to it."""
        overlays = [("base", overlay.base) for overlay in self.overlays]
        deltas = [(meta.kind, meta.number) for meta in (*self.undo, *self.redo)]
        return (("base", self.base), *overlays, *deltas)

    def to_json(self) -> dict[str, Any]:
        """The description as plain JSON values."""
        return {
            "id": self.id,
            "base": self.base,
            "rows": self.rows,
            "size": self.size,
            "min_key": self.min_key.hex(),
            "max_key": self.max_key.hex(),
            "column_ids": list(self.column_ids),
            "inserted_at": self.inserted_at,
            "undo": [meta.to_json() for meta in self.undo],
            "redo": [meta.to_json() for meta in self.redo],
            "durable_delta_store": self.durable_delta_store,
            "overlays": [overlay.to_json() for overlay in self.overlays],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RowSetMeta":
        """The inverse of `to_json`."""
        return cls(
            id=value["id"],
            base=value["base"],
            rows=value["rows"],
            size=value["size"],
            min_key=bytes.fromhex(value["min_key"]),
            max_key=bytes.fromhex(value["max_key"]),
            column_ids=tuple(value["column_ids"]),
            inserted_at=value["inserted_at"],
            undo=tuple(DeltaFileMeta.from_json(meta) for meta in value["undo"]),
            redo=tuple(DeltaFileMeta.from_json(meta) for meta in value["redo"]),
            durable_delta_store=value["durable_delta_store"],
            overlays=tuple(Overlay.from_json(overlay) for overlay in value["overlays"]),
        )


@dataclass(frozen=True, slots=True)
class TabletEdit:
    """A change of a tablet's metadata; one manifest edit may hold several.

    Attributes:
        tablet_id: a UUID.
        rowsets: rowsets added, or exchanged for those of the same id.
        dropped: ids of rowsets that are gone.
        durable_memrowset: id of a MemRowSet that is on disk now, or None.
        newest_rowset, newest_file: the highest id and number in use so far; only a condensed
            manifest, which does not name what is gone, needs them.
        retired, retired_known_from: see `TabletMetadata`; only a condensed manifest has them, and
            one of an older version has not. None when it does not say.
        history_mark: snapshots below this bound cannot be read any more; 0 when it is as before.
    """

    tablet_id: str
    rowsets: Sequence[RowSetMeta] = ()
    dropped: Sequence[int] = ()
    durable_memrowset: int | None = None
    newest_rowset: int = 0
    newest_file: int = 0
    history_mark: SnapshotBound = NOTHING
    retired: Mapping[int, int] | None = None
    retired_known_from: int = 0

    @property
    def files(self) -> Iterator[tuple[str, int]]:
        """Kind and number of every file that the edit names."""
        return (file for meta in self.rowsets for file in meta.files)

    def to_json(self) -> dict[str, Any]:
        """The edit as plain JSON values."""
        condensed = (
            {}
            if self.retired is None
            else {
                "gone": {str(rowset_id): sequence for rowset_id, sequence in self.retired.items()},
                "judged_from": self.retired_known_from,
            }
        )
        return condensed | {
            "tablet": self.tablet_id,
            "rowsets": [meta.to_json() for meta in self.rowsets],
            "dropped": list(self.dropped),
            "durable_memrowset": self.durable_memrowset,
            "newest_rowset": self.newest_rowset,
            "newest_file": self.newest_file,
            "history_mark": self.history_mark,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TabletEdit":
        """The inverse of `to_json`."""
        return cls(
            value["tablet"],
            tuple(RowSetMeta.from_json(meta) for meta in value["rowsets"]),
            tuple(value["dropped"]),
            value["durable_memrowset"],
            value["newest_rowset"],
            value["newest_file"],
            value["history_mark"],
            {int(i): n for i, n in value["gone"].items()} if "gone" in value else None,
            value.get("judged_from", 0),
        )


@dataclass(frozen=True, slots=True)
class TabletMetadata:
    """The manifest's state of a tablet.

    Attributes:
        rowsets: by id.
        durable_memrowset: id of the newest MemRowSet on disk.
        newest_rowset: the highest rowset id ever named; ids are never used again, for the log may
            still hold changes of a rowset that is gone.
        newest_file: the highest file number ever named; other processes may still read the file.
        retired: ids of rowsets that other rowsets replaced, each with the last record of the log
            that may name it; dropped when the log is needed only behind that record.
        retired_known_from: the lowest id from which `retired` is complete; 0 unless the manifest
            comes from an older version.
    """

    rowsets: Mapping[int, RowSetMeta] = field(default_factory=dict)
    durable_memrowset: int = 0
    newest_rowset: int = 0
    newest_file: int = 0
    retired: Mapping[int, int] = field(default_factory=dict)
    retired_known_from: int = 0

    def apply(self, edit: TabletEdit, log_end: int | None) -> "TabletMetadata":
        """The metadata after an edit.

        `log_end`: the last record of the log that may name a rowset that the edit drops, None where
        the edit does not say.
        """
        rowsets = {i: meta for i, meta in self.rowsets.items() if i not in edit.dropped}
        rowsets.update((meta.id, meta) for meta in edit.rowsets)
        durable = max(self.durable_memrowset, edit.durable_memrowset or 0)
        numbers = [number for _, number in edit.files if number < STAGED_NUMBERS]
        return replace(
            self,
            rowsets=rowsets,
            durable_memrowset=durable,
            newest_rowset=max(
                [self.newest_rowset, edit.newest_rowset, durable, *(m.id for m in edit.rowsets)]
            ),
            newest_file=max([self.newest_file, edit.newest_file, *numbers]),
            retired={
                **self.retired,
                **(edit.retired or {}),
                **dict.fromkeys(edit.dropped, _END_OF_LOG if log_end is None else log_end),
            },
            retired_known_from=max(self.retired_known_from, self._retired_known_from(edit)),
        )

    @staticmethod
    def _retired_known_from(edit: TabletEdit) -> int:
        """The lowest id from which the retired rowsets are known after an edit."""
        is_of_older_version = edit.retired is None and edit.newest_rowset > 0
        return edit.newest_rowset + 1 if is_of_older_version else edit.retired_known_from

    def with_log_after(self, after: int) -> "TabletMetadata":
        """The metadata once the log is needed only behind a record."""
        return replace(self, retired={i: last for i, last in self.retired.items() if last > after})

    def lacks_rowset(self, rowset_id: int) -> bool:
        """Whether a rowset that the log names is known to be neither present nor retired."""
        is_known = rowset_id >= self.retired_known_from
        return is_known and rowset_id not in self.rowsets and rowset_id not in self.retired
