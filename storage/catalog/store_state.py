"""The store's state: a fold over the edits of the manifest.

Edits are JSON objects. `op` says which:

    table          ts, table: a table as it is from that hybrid time on (created or altered)
    drop           ts, table: the id of a table that is dropped from then on
    view           ts, view: a view as it is from that hybrid time on
    namespace      ts, namespace: a database (as tables' names have it) from that time on
    drop_object    ts, object: the id of a view or database that is dropped from then on
    drop_all       ts, tables, objects: ids of what is dropped together from then on
    tablets        ts or null, sequence, tablets: changes of tablets' files; with ts it is a commit
                   of that time, with record `sequence` of the log, or 0 for none; a member `done`
                   holds what an edit of that op would
    create         ts, sequence, tables, tablets: tables that a commit makes, and its rows: what an
                   edit `table` for each and an edit `tablets`, all of that time, would say; a
                   member `replaced` has ids of tables that are dropped at that time, before
    log            after: the write-ahead log is needed only beyond this record
    forget         marks, sequence: states of tables (by id) that ended before these bounds are
                   gone, and so are tablets that are in no other; the log held records of them up
                   to `sequence`
    forgotten      since, tablets: what earlier edits of op `forget` came to, in a manifest that was
                   rewritten: see `CatalogHistory.complete_since` and `StoreState.purged`
    snapshot       ts, name, bound, comment: a snapshot has a name
    drop_snapshot  name: that is gone
    reserve        until: timestamps below it may have been given out
    clock          ts: the database was closed then, and no later timestamp given out
    done           writer, batch: a writer's batches up to this number were committed
    database       history_max_age: seconds that history is kept, -1 for ever, null for the default
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.catalog_history import (
    CatalogHistory,
    Event,
    ObjectEvent,
    TableEvent,
)
from pykudu_sql.storage.catalog.manifest_edit import check_form, check_table
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, NamedObject, ViewInfo
from pykudu_sql.storage.catalog.snapshots import NamedSnapshot
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.common.types.hybrid_time import (
    NOTHING,
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
    first_beyond,
)
from pykudu_sql.storage.errors import CorruptionError, DatabaseError
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableEnd
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit, TabletMetadata

_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)


@dataclass
class StoreState:
    """The state that all edits so far have led to. Changed under the commit lock.

    Attributes:
        history: the catalogs of all moments.
        tablets: metadata by tablet id.
        commits: hybrid times of the commits made by an edit that have a record in the log which
            may still be read, and its sequence number.
        log_after: records of the log up to this one are not needed.
        marks: for tables (by id) whose history something was let go of, the lowest bound at which
            they can be read.
        purged: tablets that are gone while the log may still hold records of them, up to which.
        snapshots: named ones, by name.
        history_max_age: seconds that tables keep history unless they say otherwise, -1 for ever;
            None for the default.
        log_end: the last record of the log that is known to have been durable.
        newest: the newest hybrid time that an edit names.
        reserved: timestamps below this bound may have been given out, though nothing was committed
            then.
        writers: the last batch of each writer that numbers its batches.
    """

    history: CatalogHistory = field(default_factory=CatalogHistory)
    tablets: dict[str, TabletMetadata] = field(default_factory=dict)
    commits: dict[Timestamp, int] = field(default_factory=dict)
    log_after: int = 0
    marks: dict[str, SnapshotBound] = field(default_factory=dict)
    purged: dict[str, int] = field(default_factory=dict)
    snapshots: dict[str, NamedSnapshot] = field(default_factory=dict)
    history_max_age: int | None = None
    log_end: DurableEnd = NOWHERE
    newest: Timestamp = UNCOMMITTED
    reserved: SnapshotBound = NOTHING
    writers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, edits: Iterable[Mapping[str, Any]], path: str) -> "StoreState":
        """The state that the edits of a manifest lead to.

        `edits`: as read from disk, in order; `path`: of the manifest, for messages. Raises
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

    def table_now(self, table_id: str) -> TableInfo | None:
        """A table as it is, None once it is dropped."""
        return self.history.latest.by_id.get(table_id)

    def fold(self, edit: Mapping[str, Any]) -> None:
        """Take one edit into account. Raises CorruptionError: it is none of the known kinds."""
        self.newest = max(self.newest, edit.get("ts") or UNCOMMITTED)
        if "durable" in edit and edit["durable"][1] >= self.log_end.sequence:
            self.log_end = DurableEnd(*edit["durable"])
        match edit.get("op"):
            case "table":
                self._fold_table(edit["ts"], edit["table"])
            case "drop":
                self.history = self.history.add(TableEvent(edit["ts"], edit["table"], None))
            case "view":
                self._fold_object(edit["ts"], ViewInfo.from_json(edit["view"]))
            case "namespace":
                self._fold_object(edit["ts"], DatabaseInfo.from_json(edit["namespace"]))
            case "drop_object":
                self.history = self.history.add(ObjectEvent(edit["ts"], edit["object"], None))
            case "drop_all":
                history = self.history
                for table_id in edit["tables"]:
                    history = history.add(TableEvent(edit["ts"], table_id, None))
                for object_id in edit["objects"]:
                    history = history.add(ObjectEvent(edit["ts"], object_id, None))
                self.history = history
            case "tablets":
                self._fold_tablets(edit)
            case "create":
                self._fold_created(edit["ts"], edit["tables"], edit.get("replaced", ()))
                self._fold_tablets(edit)
            case "log":
                self._fold_log(edit["after"])
            case "forget":
                self._fold_forget(edit["marks"], edit["sequence"])
            case "forgotten":
                self.history = self.history.with_gaps_below(edit["since"])
                self.purged.update(edit["tablets"])
            case "snapshot":
                named = NamedSnapshot(edit["name"], edit["bound"], edit["ts"], edit["comment"])
                named.check()
                self.snapshots[named.name] = named
            case "drop_snapshot":
                del self.snapshots[edit["name"]]
            case "done":
                self.writers[edit["writer"]] = edit["batch"]
            case "reserve":
                self.reserved = max(self.reserved, edit["until"])
            case "clock":
                self.reserved = NOTHING
            case "database":
                self.history_max_age = edit["history_max_age"]
            case other:
                raise CorruptionError(f"the manifest has an edit of unknown kind {other!r}")

    def _fold_table(self, timestamp: Timestamp, value: Mapping[str, Any]) -> None:
        self._fold_created(timestamp, [value], ())

    def _fold_created(
        self,
        timestamp: Timestamp,
        values: Sequence[Mapping[str, Any]],
        replaced: Iterable[str],
    ) -> None:
        """Tables from a moment on, in the place of others; nobody sees the catalog in between."""
        history = self.history
        for table_id in replaced:
            history = history.add(TableEvent(timestamp, table_id, None))
        for table in map(TableInfo.from_json, values):
            check_table(table)
            history = history.add(TableEvent(timestamp, table.id, table))
        self.history = history

    def _fold_object(self, timestamp: Timestamp, item: NamedObject) -> None:
        item.check()
        self.history = self.history.add(ObjectEvent(timestamp, item.id, item))

    def _fold_tablets(self, edit: Mapping[str, Any]) -> None:
        log_end = edit["durable"][1] if "durable" in edit else None
        for value in edit["tablets"]:
            change = TabletEdit.from_json(value)
            metadata = self.tablets.get(change.tablet_id, TabletMetadata())
            self.tablets[change.tablet_id] = metadata.apply(change, log_end)
            if change.history_mark:
                # The clock must not go on from below it: what comes next would count as ancient.
                self.newest = max(self.newest, first_beyond(change.history_mark))
                table_id = self.history.owners[change.tablet_id]
                self.marks[table_id] = max(self.marks.get(table_id, NOTHING), change.history_mark)
        if "done" in edit:
            self.writers[edit["done"]["writer"]] = edit["done"]["batch"]
        if edit["ts"] is not None and edit["sequence"] > self.log_after:
            self.commits[edit["ts"]] = edit["sequence"]

    def _fold_log(self, after: int) -> None:
        self.log_after = after
        self.commits = {time: number for time, number in self.commits.items() if number > after}
        self.purged = {tablet: number for tablet, number in self.purged.items() if number > after}
        self.tablets = {i: metadata.with_log_after(after) for i, metadata in self.tablets.items()}

    def _fold_forget(self, marks: Mapping[str, SnapshotBound], sequence: int) -> None:
        before = self.history.owners
        self.history = self.history.forget(marks)
        for tablet_id in before.keys() - self.history.owners.keys():
            self.tablets.pop(tablet_id, None)
            if sequence > self.log_after:
                self.purged[tablet_id] = sequence
        for table_id in marks.keys() - self.history.newest.keys():
            self.marks.pop(table_id, None)

    def condensed(self) -> Iterator[dict[str, Any]]:
        """Fewest edits that fold to the same state."""
        yield {
            "op": "forgotten",
            "since": self.history.complete_since,
            "tablets": dict(self.purged),
        }
        yield {"op": "database", "history_max_age": self.history_max_age}
        durable = [self.log_end.number, self.log_end.sequence]
        yield {"op": "log", "after": self.log_after, "durable": durable}
        for event in self.history.events:
            yield _event_edit(event)
        for tablet_id, metadata in self.tablets.items():
            yield self._tablet_edit(tablet_id, metadata)
        commits = {self.newest: 0} | self.commits
        for timestamp in sorted(commits):
            sequence = commits[timestamp]
            yield {"op": "tablets", "ts": timestamp, "sequence": sequence, "tablets": []}
        yield {"op": "reserve", "until": self.reserved}
        for named in self.snapshots.values():
            yield named.to_edit()
        for writer, batch in self.writers.items():
            yield {"op": "done", **WriterBatch(writer, batch).to_json()}

    def _tablet_edit(self, tablet_id: str, metadata: TabletMetadata) -> dict[str, Any]:
        edit = TabletEdit(
            tablet_id,
            tuple(metadata.rowsets.values()),
            (),
            metadata.durable_memrowset,
            metadata.newest_rowset,
            metadata.newest_file,
            self.marks.get(self.history.owners[tablet_id], NOTHING),
            metadata.retired,
            metadata.retired_known_from,
        )
        return {"op": "tablets", "ts": None, "sequence": 0, "tablets": [edit.to_json()]}


def _event_edit(event: Event) -> dict[str, Any]:
    if isinstance(event, ObjectEvent):
        return object_edit(event)
    if event.table is None:
        return {"op": "drop", "ts": event.timestamp, "table": event.table_id}
    return {"op": "table", "ts": event.timestamp, "table": event.table.to_json()}


def object_edit(event: ObjectEvent) -> dict[str, Any]:
    """The edit for a view or database."""
    if event.item is None:
        return {"op": "drop_object", "ts": event.timestamp, "object": event.object_id}
    kind = "view" if isinstance(event.item, ViewInfo) else "namespace"
    return {"op": kind, "ts": event.timestamp, kind: event.item.to_json()}
