"""What the manifest knows of a tablet: its rowsets, their files, and how memory was left behind.

Kudu keeps this in each tablet's superblock (`tablet/tablet_metadata.cc`); here one manifest serves
the whole database, so that one edit can commit to many tablets at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pykudu_sql.storage.tablet.deltafile import DeltaFileMeta


@dataclass(frozen=True, slots=True)
class RowSetMeta:
    """What the manifest knows of a rowset.

    Attributes:
        id: of the rowset within its tablet.
        base: number of the base file.
        rows: in the base.
        size: bytes of the base file.
        min_key, max_key: encoded.
        column_ids: the columns in the base file.
        inserted_at: the one commit that inserted all rows, or None.
        undo, redo: delta files, oldest first.
        durable_delta_store: id of the newest DeltaMemStore that is on disk.
    """

    id: int
    base: int
    rows: int
    size: int
    min_key: bytes
    max_key: bytes
    column_ids: tuple[int, ...]
    inserted_at: int | None
    undo: tuple[DeltaFileMeta, ...] = ()
    redo: tuple[DeltaFileMeta, ...] = ()
    durable_delta_store: int = 0

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
        )


@dataclass(frozen=True, slots=True)
class TabletEdit:
    """A change of a tablet's metadata; one manifest edit may hold several.

    Attributes:
        tablet_id: a UUID.
        rowsets: rowsets added, or exchanged for those of the same id.
        dropped: ids of rowsets that are gone.
        durable_memrowset: id of a MemRowSet that is on disk now, or None.
    """

    tablet_id: str
    rowsets: Sequence[RowSetMeta] = ()
    dropped: Sequence[int] = ()
    durable_memrowset: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The edit as plain JSON values."""
        return {
            "tablet": self.tablet_id,
            "rowsets": [meta.to_json() for meta in self.rowsets],
            "dropped": list(self.dropped),
            "durable_memrowset": self.durable_memrowset,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TabletEdit":
        """The inverse of `to_json`."""
        return cls(
            value["tablet"],
            tuple(RowSetMeta.from_json(meta) for meta in value["rowsets"]),
            tuple(value["dropped"]),
            value["durable_memrowset"],
        )


@dataclass(frozen=True, slots=True)
class TabletMetadata:
    """All that the manifest says of a tablet.

    Attributes:
        rowsets: by id.
        durable_memrowset: id of the newest MemRowSet on disk.
    """

    rowsets: Mapping[int, RowSetMeta] = field(default_factory=dict)
    durable_memrowset: int = 0

    def apply(self, edit: TabletEdit) -> "TabletMetadata":
        """The metadata after an edit."""
        rowsets = {i: meta for i, meta in self.rowsets.items() if i not in edit.dropped}
        rowsets.update((meta.id, meta) for meta in edit.rowsets)
        durable = max(self.durable_memrowset, edit.durable_memrowset or 0)
        return replace(self, rowsets=rowsets, durable_memrowset=durable)
