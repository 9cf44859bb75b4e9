"""The store's state as the manifest tells it: a fold over its edits.

Edits are JSON objects. `op` says which:

    table    ts, table: a table as it is from that hybrid time on (created or altered)
    drop     ts, table: the id of a table that is dropped from then on
    tablets  ts or null, tablets: changes of tablets' files; with ts it is a commit of that time
    log      after: the write-ahead log is needed only beyond this record
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pykudu_sql.storage.catalog import CatalogHistory, TableInfo
from pykudu_sql.storage.errors import CorruptionError, DatabaseError
from pykudu_sql.storage.manifest_edit import check_form, check_table
from pykudu_sql.storage.tablet.tablet_metadata import TabletEdit, TabletMetadata

_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)


@dataclass
class StoreState:
    """What the edits so far come to. Changed under the commit lock.

    Attributes:
        history: the catalogs of all moments.
        tablets: metadata by tablet id.
        commits: hybrid times of the commits made by an edit.
        log_after: records of the log up to this one are not needed.
        catalog_edits: all edits of op `table` and `drop`, for rewriting the manifest.
    """

    history: CatalogHistory = field(default_factory=CatalogHistory)
    tablets: dict[str, TabletMetadata] = field(default_factory=dict)
    commits: set[int] = field(default_factory=set)
    log_after: int = 0
    catalog_edits: list[Mapping[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, edits: Iterable[Mapping[str, Any]], path: str) -> "StoreState":
        """What the edits of a manifest come to.

        Args:
            edits: as read from disk, in order.
            path: of the manifest, for messages.

        Raises:
            CorruptionError: one makes no sense.
        """
        state = cls()
        for number, edit in enumerate(edits, 1):
            try:
                check_form(edit)
                state.fold(edit)
            except (*_MALFORMED, DatabaseError) as error:
                raise CorruptionError(
                    f"edit {number} of '{path}' makes no sense: {error}",
                    hint="Restore the database directory from a backup.",
                ) from error
        return state

    def fold(self, edit: Mapping[str, Any]) -> None:
        """Take one edit into account.

        Raises:
            CorruptionError: it is none of the known kinds.
        """
        match edit.get("op"):
            case "table":
                table = TableInfo.from_json(edit["table"])
                check_table(table)
                self.history = self.history.add(self.history.latest.with_table(table, edit["ts"]))
                self.catalog_edits.append(edit)
            case "drop":
                catalog = self.history.latest.without_table(edit["table"], edit["ts"])
                self.history = self.history.add(catalog)
                self.catalog_edits.append(edit)
            case "tablets":
                for value in edit["tablets"]:
                    change = TabletEdit.from_json(value)
                    known = self.tablets.get(change.tablet_id, TabletMetadata())
                    self.tablets[change.tablet_id] = known.apply(change)
                if edit["ts"] is not None:
                    self.commits.add(edit["ts"])
            case "log":
                self.log_after = edit["after"]
            case other:
                raise CorruptionError(f"the manifest has an edit of unknown kind {other!r}")

    @property
    def newest(self) -> int:
        """The newest hybrid time that an edit names."""
        return max([self.history.latest.timestamp, *self.commits])

    def condensed(self) -> Iterable[dict[str, Any]]:
        """Fewest edits that fold to the same state."""
        yield from map(dict, self.catalog_edits)
        for tablet_id, metadata in self.tablets.items():
            rowsets = tuple(metadata.rowsets.values())
            edit = TabletEdit(
                tablet_id,
                rowsets,
                (),
                metadata.durable_memrowset,
                metadata.newest_rowset,
                metadata.newest_file,
            )
            yield {"op": "tablets", "ts": None, "tablets": [edit.to_json()]}
        for timestamp in sorted(self.commits):
            yield {"op": "tablets", "ts": timestamp, "tablets": []}
        yield {"op": "log", "after": self.log_after}
