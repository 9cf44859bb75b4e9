"""Changes of the catalog: tables, views and databases made, altered and dropped, snapshots named.

Each change is one edit of the manifest with a hybrid time of its own, made under the commit lock
after a sync of the log: it is atomic and durable, no commit of an earlier time comes later, and a
read AS OF an earlier moment does not see it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pykudu_sql.storage.catalog.catalog_history import ObjectEvent
from pykudu_sql.storage.catalog.snapshots import NamedSnapshot
from pykudu_sql.storage.catalog.store_state import object_edit
from pykudu_sql.storage.catalog.table_info import TableInfo, TabletInfo
from pykudu_sql.storage.commit.new_table import NewTable
from pykudu_sql.storage.common.types.hybrid_time import (
    EVERYTHING,
    NOTHING,
    UNCOMMITTED,
    first_beyond,
    format_timestamp,
    last_before,
)
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.errors import (
    DiskError,
    DuplicateObjectError,
    Error,
    HistoryPurgedError,
    TableChangedError,
    TransactionResolutionUnknownError,
    UndefinedObjectError,
    UndefinedTableError,
)

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.alter import AlterStep
    from pykudu_sql.storage.catalog.catalog import Catalog
    from pykudu_sql.storage.catalog.catalog_history import DroppedTable
    from pykudu_sql.storage.catalog.namespace import NamedObject
    from pykudu_sql.storage.catalog.store_state import StoreState
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.commit.history import History
    from pykudu_sql.storage.common.types.hybrid_time import (
        SnapshotBound,
    )
    from pykudu_sql.storage.tablet.tablet import Tablet

OpenTablet = Callable[[TabletInfo, Schema], "Tablet"]


class Definitions:
    """Changes the catalog of one store. Safe for threads."""

    def __init__(
        self,
        committer: "Committer",
        history: "History",
        state: "StoreState",
        tablets: "dict[str, Tablet]",
        open_tablet: OpenTablet,
    ) -> None:
        """Change the catalog of a store.

        Args:
            committer: gives changes their times.
            tablets: by UUID; new ones are added.
            open_tablet: makes a tablet that is not there yet, without its folder.
        """
        self._committer = committer
        self._history = history
        self._state = state
        self._tablets = tablets
        self._open_tablet = open_tablet

    @property
    def _catalog(self) -> "Catalog":
        return self._state.history.latest

    def create_table(self, table: TableInfo) -> TableInfo:
        """Add a table that has not been there before.

        Raises DuplicateObjectError: the name is taken.
        """
        with self._committer.lock:
            self._record_table(table)
        return self._catalog.table(table.name)

    def new_table(
        self, table: TableInfo, replaces: bool, read_bound: "SnapshotBound | None"
    ) -> NewTable:
        """A table that a transaction is to make together with its rows.

        `replaces`, `read_bound`: see `NewTable`. Raises DuplicateObjectError: the name is taken.
        """
        with self._committer.lock:
            self._committer.check_writable()
            self._rest(table, replaces).check_name_free(table)
        stored = TableInfo.from_json(table.to_json())
        tablets = {info.id: self._open_tablet(info, stored.schema) for info in stored.tablets}
        return NewTable(stored, tablets, replaces, read_bound)

    def _rest(self, table: TableInfo, replaces: bool) -> "Catalog":
        """The catalog without the table that a new one replaces."""
        old = self._catalog.tables.get(table.name) if replaces else None
        return self._catalog if old is None else self._catalog.without_table(old.id, UNCOMMITTED)

    def replaced(self, tables: Iterable[NewTable]) -> list[str]:
        """The ids of the tables that new ones take the place of. The caller holds the commit lock.

        `tables`: the new ones. Raises TableChangedError: another commit changed the rows that one
        of them is made of.
        """
        by_name = self._catalog.tables
        there = [
            (new, by_name[new.info.name])
            for new in tables
            if new.replaces and new.info.name in by_name
        ]
        for new, old in there:
            if new.read_bound is not None:
                self._check_unchanged(old, new.read_bound)
        return [old.id for _, old in there]

    def _check_unchanged(self, table: TableInfo, since: "SnapshotBound") -> None:
        before = self._state.history.at(since).tables.get(table.name)
        is_same = before is not None and before.id == table.id
        if not is_same or any(tablet.newest >= since for tablet in self._tablets_of(table)):
            raise TableChangedError(
                f"table '{table.name}' was changed by another session meanwhile",
                hint="run the statement again",
            )

    @contextmanager
    def folders(self, tablets: "Mapping[str, Tablet]") -> Iterator[None]:
        """A block that records tablets, which have folders from its beginning on.

        Raises DiskError: folders cannot be made; or what the block raises; they are gone again.
        """
        try:
            for tablet in tablets.values():
                tablet.files.make_folder()
            yield
        except TransactionResolutionUnknownError:
            raise  # an opening may find that it needs the files
        except Error:
            for tablet in tablets.values():
                with suppress(DiskError):  # the next opening removes it
                    tablet.files.remove_folder()
            raise

    @contextmanager
    def adding(self, new: NewTable) -> Iterator[None]:
        """A block that records a new table, whose tablets are there from its beginning on.

        The caller holds the commit lock. Raises DuplicateObjectError: the name was taken meanwhile;
        or what the block raises; the tablets are gone again.
        """
        self._rest(new.info, new.replaces).check_name_free(new.info)
        with self._adding(new.tablets):
            yield

    @contextmanager
    def _adding(self, tablets: "Mapping[str, Tablet]") -> Iterator[None]:
        try:
            self._tablets.update(tablets)
            yield
        except BaseException:
            for tablet_id in tablets:
                if tablet_id not in self._state.history.owners:
                    self._tablets.pop(tablet_id, None)
            raise

    def alter_table(self, name: str, steps: Sequence["AlterStep"]) -> TableInfo:
        """Change a table, all steps or none.

        Raises UndefinedTableError: no such table; ProgrammingError: a step breaks a rule;
        CheckViolationError, NotNullError: a row that is there breaks one of the table's new rules.
        """
        from pykudu_sql.storage.catalog.alter import apply_steps
        from pykudu_sql.storage.commit.stored_rows import new_rules

        bound = self._committer.mvcc.bound
        before = self._catalog.table(name)
        rules = new_rules(before, apply_steps(before, steps))
        if rules:
            self._committer.check_writable()
            rules.check(self._tablets_of(before), bound)
        with self._committer.lock:
            before = self._catalog.table(name)
            table = apply_steps(before, steps)
            now = new_rules(before, table)
            if now:
                since = bound if now == rules else NOTHING
                tablets = self._tablets_of(before)
                now.check((each for each in tablets if each.newest >= since), EVERYTHING)
            self._record_table(table)
        return self._catalog.table(table.name)

    def _tablets_of(self, table: TableInfo) -> "list[Tablet]":
        return [self._tablets[info.id] for info in table.tablets if info.id in self._tablets]

    def drop_tables(self, names: Sequence[str], views: Sequence[str] = ()) -> None:
        """Drop tables at one moment, all or none; their rows stay readable AS OF earlier times.

        `views`: ids of views that are dropped with them. Raises UndefinedTableError: no such table.
        """
        with self._committer.lock:
            self._committer.check_writable()
            table_ids = [self._catalog.table(name).id for name in names]
            timestamp = self._committer.clock.now()
            if views or len(table_ids) > 1:
                there = {view.id for view in self._catalog.views.values()}
                dropped = {"tables": table_ids, "objects": [i for i in views if i in there]}
                self._record_change({"op": "drop_all", "ts": timestamp, **dropped})
            else:
                self._record_change({"op": "drop", "ts": timestamp, "table": table_ids[0]})

    def put_object(self, item: "NamedObject") -> None:
        """Add a view or database, or replace the one of the same id.

        Raises DuplicateObjectError: the name is taken; InvalidSchemaError: a name or comment breaks
        a rule.
        """
        item.check()
        with self._committer.lock:
            self._committer.check_writable()
            timestamp = self._committer.clock.now()
            self._catalog.with_object(item, timestamp)
            self._record_change(object_edit(ObjectEvent(timestamp, item.id, item)))

    def drop_object(self, object_id: str) -> None:
        """Drop a view or database; it stays as it was AS OF earlier times."""
        with self._committer.lock:
            self._committer.check_writable()
            timestamp = self._committer.clock.now()
            self._record_change(object_edit(ObjectEvent(timestamp, object_id, None)))

    def drop_database(self, name: str) -> None:
        """Drop a database with its tables and views: all at one moment, in one edit.

        Tables can be brought back, and all of it read AS OF earlier times, as after other drops.
        """
        with self._committer.lock:
            self._committer.check_writable()
            catalog = self._catalog
            names = catalog.names_in(name)
            objects = [catalog.views[full].id for full in names if full in catalog.views]
            if name in catalog.databases:
                objects.append(catalog.databases[name].id)
            self._record_change(
                {
                    "op": "drop_all",
                    "ts": self._committer.clock.now(),
                    "tables": [catalog.tables[full].id for full in names if full in catalog.tables],
                    "objects": objects,
                }
            )

    def dropped_tables(self) -> Iterator["DroppedTable"]:
        """The dropped tables that can be brought back, in the order in which they were dropped."""
        for dropped in self._state.history.dropped():
            if self._history.mark(dropped.table.id) <= dropped.dropped:
                yield dropped

    def undrop_table(self, name: str, new_name: str | None) -> TableInfo:
        """Bring the table of a name that was dropped last back, as it was.

        `name`: that it had; `new_name`: that it is to have, None for the same. Raises
        UndefinedTableError: no table of that name was dropped; HistoryPurgedError: one was, longer
        ago than its history age; DuplicateObjectError: the name is taken.
        """
        from pykudu_sql.storage.catalog.alter import RenameTable, apply_steps

        with self._committer.lock:
            state = self._state
            named = [d for d in state.history.dropped() if d.table.name == name]
            if not named:
                is_there = name in self._catalog.tables
                raise UndefinedTableError(
                    f"there is no dropped table '{name}'",
                    hint="a table of that name is there, and was not dropped"
                    if is_there
                    else "SHOW DROPPED TABLES lists them",
                )
            newest = named[-1]
            mark = self._history.mark(newest.table.id)
            if mark > newest.dropped:
                raise HistoryPurgedError(
                    f"table '{name}' was dropped at {format_timestamp(newest.dropped)}, "
                    f"and its history goes back to {format_timestamp(first_beyond(mark))} only"
                )
            steps = [] if new_name is None else [RenameTable(new_name)]
            table = apply_steps(newest.table, steps)
            try:
                self._record_table(table)
            except DuplicateObjectError as error:
                error.hint = f"bring it back under another name: UNDROP TABLE {name} AS new_name"
                raise
        return self._catalog.table(table.name)

    def _record_table(self, table: TableInfo) -> None:
        """Record a table's new state. The caller holds the commit lock."""
        from pykudu_sql.storage.catalog.tablet_spans import tablet_spans

        self._committer.check_writable()
        timestamp = self._committer.clock.now()
        self._catalog.with_table(table, timestamp)
        stored = TableInfo.from_json(table.to_json())
        fresh = {
            info.id: self._open_tablet(info, stored.schema)
            for info in stored.tablets
            if info.id not in self._tablets
        }
        with self.folders(fresh), self._adding(fresh):
            self._record_change({"op": "table", "ts": timestamp, "table": table.to_json()})
        # Those of dropped range partitions too: their history is read with the columns of later.
        for span in tablet_spans(self._state.history.by_table[table.id], NOTHING, EVERYTHING):
            self._tablets[span.tablet_id].change_schema(stored.schema)

    def _record_change(self, edit: dict[str, Any]) -> None:
        """Record an edit that has a time. The caller holds the commit lock."""
        self._committer.sync()
        self._committer.record(edit)
        self._committer.mvcc.publish(edit["ts"])

    @property
    def snapshots(self) -> Mapping[str, NamedSnapshot]:
        """The named snapshots, by name."""
        return self._state.snapshots

    def create_snapshot(
        self, name: str, bound: "SnapshotBound | None", comment: str
    ) -> NamedSnapshot:
        """Give a snapshot a name, which keeps the history it needs until it is dropped.

        `name`: lower case; `bound`: in the past and readable; None for the newest. Raises
        DuplicateObjectError: the name is taken; HistoryPurgedError: a table there was cannot be
        read at that bound any more.
        """
        with self._committer.lock:
            self._committer.check_writable()
            if name in self.snapshots:
                raise DuplicateObjectError(
                    f"snapshot '{name}' exists already",
                    hint="choose another name, or drop it first",
                    sqlstate="42710",
                )
            at = self._committer.mvcc.bound if bound is None else bound
            history = self._state.history
            if at < history.complete_since:
                since = format_timestamp(first_beyond(history.complete_since))
                raise HistoryPurgedError(
                    f"there is no full history as of {format_timestamp(last_before(at))} any more",
                    hint=f"all tables are known since {since}",
                )
            hold = self._history.hold(history.at(at).tables.values(), at)
            named = NamedSnapshot(name, hold.bound, self._committer.clock.now(), comment)
            named.check()
            self._record_change(named.to_edit())
        return named

    def drop_snapshot(self, name: str) -> None:
        """Drop a named snapshot. Raises UndefinedObjectError: there is none of that name."""
        with self._committer.lock:
            self._committer.check_writable()
            if name not in self.snapshots:
                raise UndefinedObjectError(
                    f"snapshot '{name}' does not exist", hint="SHOW SNAPSHOTS lists them"
                )
            self._committer.record({"op": "drop_snapshot", "name": name})

    @property
    def history_max_age(self) -> int | None:
        """The default history age of tables in seconds; see `set_history_max_age`."""
        return self._state.history_max_age

    def set_history_max_age(self, seconds: int | None) -> None:
        """Set the default history age of tables.

        `seconds`: -1 for ever, None for the default.
        """
        with self._committer.lock:
            self._committer.check_writable()
            self._committer.record({"op": "database", "history_max_age": seconds})
