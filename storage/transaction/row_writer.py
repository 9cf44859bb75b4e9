"""One row, one commit: the short path of an INSERT, UPSERT, UPDATE or DELETE by key.

Outside a transaction such a statement needs no snapshot and no stores of its own: under the commit
lock nothing can come between finding the row and changing it. What it does to log, stores and
visibility is what `Transaction.commit` does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.commit.committer import AppliedCommit
from pykudu_sql.storage.common.cancellation import never_cancelled
from pykudu_sql.storage.common.ctrl_c import DeferSigint
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.row_shape import shape_of
from pykudu_sql.storage.ingest.table import tablet_of_key
from pykudu_sql.storage.tablet.commit_record import RowInsert, RowMutation, TabletWrites
from pykudu_sql.storage.tablet.rowset.locator import find_row
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowSet
from pykudu_sql.storage.tablet.tablet import Tablet, store_id_of
from pykudu_sql.storage.tablet.write.keyed_operations import ChangedRow, KeyedRow, NewRow, decide
from pykudu_sql.storage.transaction.resulting_rows import check_row_result
from pykudu_sql.storage.transaction.transaction_services import (
    TransactionServices,
    check_rows_still_fit,
)


def keyed_row(
    services: TransactionServices,
    table: TableInfo,
    kind: RowOpKind,
    cells: Mapping[int, Cell],
    time: StatementTime | None = None,
) -> tuple[Tablet, KeyedRow]:
    """Check and complete one row, and find its tablet.

    `cells`: by column id, the key's among them; `time`: see `complete`. Raises IntegrityError,
    DataError: a value is missing or does not fit; UncoveredRangeError: the key lies outside all
    range partitions.
    """
    shape = shape_of(services.row_shapes, table, kind, cells)
    counter = shape.counter
    if counter is not None:
        cells = services.auto_increment.number_row(table, kind, cells)
    explicit, cells = cells, shape.complete(cells, time)
    shape.check(cells, explicit)
    key = tuple([cells[i] for i in table.schema.key_ids])
    encoded = table.key_encoder.encode_one(key)
    index = table.assigner.assign_key(key, encoded)
    if counter is not None:
        number = cells[counter.id]
        if isinstance(number, int):
            services.auto_increment.note(table, kind, number)
    tablet = services.tablets[table.tablets[index].id]
    return tablet, KeyedRow(kind, KeyProbe(encoded, key), cells, *shape.changed)


Location = tuple[RowSet, int, bool]


def _stored(location: Location | None, columns: Sequence[ColumnSchema]) -> tuple[Cell, ...] | None:
    """Some cells of the row that was found, if it is alive."""
    if location is None or not location[2]:
        return None
    return location[0].read_row(location[1], columns, EVERYTHING, None)


class SingleOperation(NamedTuple):
    """An operation on one row. `cells`: by column id, the key's among them."""

    kind: RowOpKind
    cells: Mapping[int, Cell]


Choose = Callable[[tuple[Cell, ...] | None], SingleOperation | None]


class RowWriter:
    """Writes single rows as commits of their own. Safe for threads."""

    def __init__(self, services: TransactionServices) -> None:
        """Write to the tables of a store."""
        self._services = services

    def write(
        self,
        table: TableInfo,
        kind: RowOpKind,
        cells: Mapping[int, Cell],
        durable: bool,
        time: StatementTime | None = None,
    ) -> int:
        """Do one operation on one row and commit it.

        Args:
            table: to be written, as it is now.
            cells: by column id, the key's among them.
            durable: return only once the commit survives a power loss.
            time: of the statement; None for now.

        Returns the number of rows changed. Raises IntegrityError, DataError: the row does not fit;
        SerializationError: the table was altered meanwhile; ReadOnlyError, DiskError: the commit
        could not be made durable.
        """
        if self._services.budget.is_pressed:
            self._services.relieve(never_cancelled)
        tablet, row = keyed_row(self._services, table, kind, cells, time)
        with DeferSigint():
            return self._commit(table, tablet, row, durable)

    def change(
        self,
        table: TableInfo,
        key: tuple[Cell, ...],
        column_ids: Sequence[int],
        choose: Choose,
        durable: bool,
    ) -> int:
        """Do one operation that depends on the row, and commit it: nothing comes between.

        Args:
            table: to be written, as it is now.
            key: cells in key order.
            column_ids: of the row that are wanted.
            choose: gives the operation on the row of that key; called with the cells of these
                columns, or None where no row has the key. It runs under the commit lock.
            durable: return only once the commit survives a power loss.

        Returns the number of rows changed. Raises: as `write`, or what `choose` raises; nothing was
        done then.
        """
        services = self._services
        if services.budget.is_pressed:
            services.relieve(never_cancelled)
        probe = KeyProbe(table.key_encoder.encode_one(key), key)
        index = tablet_of_key(table, key, probe.encoded)
        if index is None:
            operation = choose(None)
            return 0 if operation is None else self.write(table, *operation, durable)
        tablet = services.tablets[table.tablets[index].id]
        columns = table.schema.select(tuple(column_ids))
        with DeferSigint():
            with services.committer.lock:
                location = self._locate(table, tablet, probe)
                operation = choose(_stored(location, columns))
                if operation is None:
                    return 0
                _, row = keyed_row(services, table, *operation)
                applied = self._apply(table, tablet, row, location)
            return self._finish(applied, durable)

    def _commit(self, table: TableInfo, tablet: Tablet, row: KeyedRow, durable: bool) -> int:
        with self._services.committer.lock:
            location = self._locate(table, tablet, row.probe)
            applied = self._apply(table, tablet, row, location)
        return self._finish(applied, durable)

    def _locate(self, table: TableInfo, tablet: Tablet, probe: KeyProbe) -> Location | None:
        """Where the row of a key is. The caller holds the commit lock."""
        self._services.committer.check_writable()
        check_rows_still_fit(self._services, table)
        components = tablet.components
        candidates = components.with_key(probe.encoded)
        return find_row(candidates, (components.memrowset,), probe, EVERYTHING, {})

    def _apply(
        self, table: TableInfo, tablet: Tablet, row: KeyedRow, location: Location | None
    ) -> AppliedCommit | int:
        """Log and apply an operation; the number of rows where that is no commit.

        The caller holds the commit lock.
        """
        check_row_result(table, row, lambda columns: _stored(location, columns))
        memrowset = tablet.components.memrowset
        effect = decide(tablet, table.name, row, location)
        match effect:
            case NewRow(full):
                writes = TabletWrites(tablet.id, memrowset.id, (RowInsert(full),), ())
                target = memrowset
            case ChangedRow(target, ordinal, change, changed):
                mutation = RowMutation(target.id, store_id_of(target), change, ordinal, changed)
                writes = TabletWrites(tablet.id, memrowset.id, (), (mutation,))
            case _:
                return int(effect)
        keys = ((row.probe.encoded,),)
        return self._services.committer.apply_one(tablet, writes, keys, {target.id: target})

    def _finish(self, applied: AppliedCommit | int, durable: bool) -> int:
        """Make a commit visible; the number of rows it changed."""
        if isinstance(applied, int):
            return applied
        self._services.committer.finish(applied, durable)
        return 1
