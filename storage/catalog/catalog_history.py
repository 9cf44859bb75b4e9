"""The catalogs of all moments that history still covers.

The history is a list of events, each the state of one table, view or database from a hybrid time
on. What a snapshot
sees is the catalog after all events before its bound. Letting go of a table's history takes events
away from its front: a state goes once no snapshot that may still be read sees it. States of views
and databases are a line of text each and stay.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.catalog import EMPTY_CATALOG, Catalog
from pykudu_sql.storage.catalog.namespace import NamedObject
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.types.hybrid_time import NOTHING, SnapshotBound, Timestamp, bound_at


@dataclass(frozen=True, slots=True)
class TableEvent:
    """What a table is from a moment on.

    Attributes:
        timestamp: hybrid time of the change.
        table_id: a UUID.
        table: its state; None from a drop on.
    """

    timestamp: Timestamp
    table_id: str
    table: TableInfo | None


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """What a view or database is from a moment on.

    Attributes:
        timestamp: hybrid time of the change.
        object_id: a UUID.
        item: its state; None from a drop on.
    """

    timestamp: Timestamp
    object_id: str
    item: NamedObject | None


Event = TableEvent | ObjectEvent


@dataclass(frozen=True, slots=True)
class DroppedTable:
    """A table that was dropped, and that history still covers.

    `table`: its last state; `dropped`: hybrid time of the drop.
    """

    table: TableInfo
    dropped: Timestamp


@dataclass(frozen=True)
class CatalogHistory:
    """The catalogs of all kept moments.

    Attributes:
        events: in the order of their times.
        catalogs: the one before any event, then the one after each, oldest first.
        complete_since: snapshots of this bound and above see every table that there was; in those
            below, states of some tables are missing.
    """

    events: tuple[Event, ...] = ()
    catalogs: tuple[Catalog, ...] = (EMPTY_CATALOG,)
    complete_since: SnapshotBound = NOTHING

    @cached_property
    def latest(self) -> Catalog:
        """The catalog now."""
        return self.catalogs[-1]

    def at(self, bound: SnapshotBound) -> Catalog:
        """The catalog that a snapshot of the given bound sees."""
        latest = self.catalogs[-1]
        if latest.timestamp < bound:
            return latest
        times: Sequence[int] = [catalog.timestamp for catalog in self.catalogs]
        index = max(0, bisect_left(times, bound) - 1)
        snapshot = self.catalogs[index]
        missing = self.complete_since if bound < self.complete_since else NOTHING
        return replace(
            snapshot,
            complete_since=missing,
            created_later=partial(self._created_after, index),
            renamed_later=partial(self._renamed_after, index),
        )

    def _created_after(self, index: int, name: str) -> Timestamp | None:
        """When the first table of a full name was made behind a catalog; None if none was."""
        for catalog in self.catalogs[index + 1 :]:
            if name in catalog.tables:
                return catalog.timestamp
        return None

    def _renamed_after(self, index: int, name: str) -> TableInfo | None:
        """The state in a catalog of the table that has a full name now."""
        table = self.latest.tables.get(name)
        return None if table is None else self.catalogs[index].by_id.get(table.id)

    def add(self, event: Event) -> "CatalogHistory":
        """The history with one event more, the newest."""
        catalog = _after(self.latest, event)
        return replace(self, events=(*self.events, event), catalogs=(*self.catalogs, catalog))

    @cached_property
    def table_events(self) -> tuple[TableEvent, ...]:
        """The events of tables."""
        return tuple(event for event in self.events if isinstance(event, TableEvent))

    @cached_property
    def by_table(self) -> Mapping[str, Sequence[TableEvent]]:
        """The events of each table, by id."""
        events: dict[str, list[TableEvent]] = {}
        for event in self.table_events:
            events.setdefault(event.table_id, []).append(event)
        return events

    def versions(self) -> dict[str, list[TableInfo]]:
        """Every state of every table, dropped ones included, by id, oldest first."""
        return {
            table_id: [event.table for event in events if event.table is not None]
            for table_id, events in self.by_table.items()
        }

    @cached_property
    def newest(self) -> Mapping[str, TableInfo]:
        """The newest state of every table, dropped ones included, by id."""
        return {
            event.table_id: event.table for event in self.table_events if event.table is not None
        }

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """The table of each tablet, by their ids."""
        return {
            tablet.id: event.table_id
            for event in self.table_events
            if event.table is not None
            for tablet in event.table.tablets
        }

    @cached_property
    def first_ends(self) -> Mapping[str, Timestamp]:
        """For each table that has a state of the past, until when its oldest state held."""
        return {
            table_id: events[1].timestamp
            for table_id, events in self.by_table.items()
            if len(events) > 1
        }

    def dropped(self) -> Iterator[DroppedTable]:
        """The dropped tables, in the order in which they were dropped."""
        latest = self.latest.by_id
        last = {
            event.table_id: event.timestamp for event in self.table_events if event.table is None
        }
        for table_id, timestamp in sorted(last.items(), key=lambda item: item[1]):
            if table_id not in latest:
                yield DroppedTable(self.newest[table_id], timestamp)

    def forget(self, marks: Mapping[str, SnapshotBound]) -> "CatalogHistory":
        """The history without states of tables that ended before a mark.

        A table that was dropped before its mark goes altogether. `marks`: for some tables, by id,
        the lowest bound at which they may still be read.
        """
        purged = {
            id(event)
            for table_id, mark in marks.items()
            for event in _unreadable_events(self.by_table.get(table_id, ()), mark)
        }
        remaining = tuple(event for event in self.events if id(event) not in purged)
        ends = [
            self._end(event)
            for event in self.table_events
            if id(event) in purged and event.table is not None
        ]
        return _rebuilt(remaining, self.latest, max([self.complete_since, *map(bound_at, ends)]))

    def with_gaps_below(self, bound: SnapshotBound) -> "CatalogHistory":
        """The history, marked as lacking states that were seen below a bound."""
        return replace(self, complete_since=max(self.complete_since, bound))

    def _end(self, event: TableEvent) -> Timestamp:
        """When a state that was followed by another one ended."""
        times = (other.timestamp for other in self.by_table[event.table_id])
        return min(time for time in times if time > event.timestamp)


def _after(catalog: Catalog, event: Event) -> Catalog:
    if isinstance(event, ObjectEvent):
        if event.item is None:
            return catalog.without_object(event.object_id, event.timestamp)
        return catalog.with_object(event.item, event.timestamp)
    if event.table is None:
        return catalog.without_table(event.table_id, event.timestamp)
    return catalog.with_table(event.table, event.timestamp)


def _unreadable_events(events: Sequence[TableEvent], mark: SnapshotBound) -> Iterator[TableEvent]:
    """The events of a table that no snapshot at or above a mark can see."""
    remaining = list(events)
    while len(remaining) > 1 and remaining[1].timestamp < mark:
        yield remaining.pop(0)
    while remaining and remaining[0].table is None and remaining[0].timestamp < mark:
        yield remaining.pop(0)


def _rebuilt(
    events: Iterable[Event], latest: Catalog, complete_since: SnapshotBound
) -> CatalogHistory:
    """A history of fewer events; its latest catalog is the same object as before, for caches."""
    remaining, catalogs = tuple(events), [EMPTY_CATALOG]
    for event in remaining:
        catalogs.append(_after(catalogs[-1], event))
    if len(catalogs) > 1 and catalogs[-1].timestamp == latest.timestamp:
        catalogs.pop()
    if latest.timestamp:
        catalogs.append(latest)
    return CatalogHistory(remaining, tuple(catalogs), complete_since)
