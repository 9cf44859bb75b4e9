"""What a workload was told to be done, and so what a database may hold after a fault."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.store import Store
from tests.storage.model import Key, Refused, Row, apply, operations, read, visible

TABLE = "t"
BULK_TABLE = "bulk"
BULK_ROWS = 60_000
Rows = dict[Key, Row]


class LostCommit(AssertionError):
    """Rows that were acknowledged are not there, or never were committed and are."""


class WrongRead(AssertionError):
    """A snapshot shows other rows than it did when it was the newest."""


class Stuck(AssertionError):
    """The database refuses to open or to go on, though its disk is healthy."""


@dataclass
class Ledger:
    """The rows of the table, as far as its user can know.

    Attributes:
        states: what may be there: one, or also what a failed commit would have made.
        past: bounds, and what a snapshot of each may see.
        bulk: counts of rows that the second table may have.
    """

    states: list[Rows] = field(default_factory=lambda: [{}])
    past: list[tuple[int, list[Rows]]] = field(default_factory=list)
    bulk: tuple[int, ...] = (0,)

    def write(self, store: Store, kind: RowOpKind, batch: Sequence[Row]) -> None:
        """Do a statement as a commit of its own."""
        with self._change(store, kind, batch) as commit:
            commit()

    def write_with_bulk(self, store: Store, kind: RowOpKind, batch: Sequence[Row]) -> None:
        """Do a statement, and in the same commit insert more rows than the log takes."""
        with self._change(store, kind, batch, with_bulk=True) as commit:
            commit()

    @contextlib.contextmanager
    def _change(
        self, store: Store, kind: RowOpKind, batch: Sequence[Row], *, with_bulk: bool = False
    ) -> Iterator[Callable[[], None]]:
        table = store.catalog.table(TABLE)
        if not batch[0].keys() <= table.schema.by_id.keys():
            yield _nothing  # the step that was to add the column failed
            return
        try:
            after = [apply(state, table, kind, list(batch)) for state in self.states]
        except Refused:
            yield _nothing
            return
        self.states = [*self.states, *after]

        def commit() -> None:
            txn = store.begin()
            txn.write(table, operations(table, kind, list(batch)))
            if with_bulk:
                txn.write(store.catalog.table(BULK_TABLE), bulk_rows())
                self.bulk = (*self.bulk, BULK_ROWS)
            bound = (txn.commit(durable=True) or 0) + 1
            self.bulk = (BULK_ROWS,) if with_bulk else self.bulk
            self.states = after
            self.past.append((bound, after))

        yield commit

    def forget_before(self, mark: int) -> None:
        """Expect nothing of snapshots below a mark."""
        self.past = [(bound, states) for bound, states in self.past if bound >= mark]

    def check(self, store: Store) -> None:
        """Hold every snapshot against what is known.

        Raises:
            LostCommit, WrongRead: it differs.
        """
        if TABLE not in store.catalog.tables:
            if {} not in self.states:
                raise LostCommit("the table is gone")
            return
        txn = store.begin()
        table = store.catalog.table(TABLE)
        if read(txn, table) not in [visible(rows, table) for rows in self.states]:
            raise LostCommit(f"the newest rows are none of {len(self.states)} allowed states")
        for bound, states in self.past:
            then = store.catalog_at(bound).table(TABLE)
            if read(txn, then, bound) not in [visible(rows, then) for rows in states]:
                raise WrongRead(f"AS OF {bound} changed")
        self._check_bulk(store)

    def _check_bulk(self, store: Store) -> None:
        if BULK_TABLE not in store.catalog.tables:
            return
        found = store.begin().table_scan(store.catalog.table(BULK_TABLE), ScanSpec((0,))).num_rows
        if found not in self.bulk:
            raise LostCommit(f"the second table has {found} rows, allowed are {self.bulk}")

    def check_after(self, open_store: Callable[[], Store]) -> None:
        """Open the database twice on a healthy disk: the rows are right, and it takes more.

        Raises:
            LostCommit, WrongRead, Stuck: it is not so.
        """
        for round_ in range(2):
            try:
                with contextlib.closing(open_store()) as store:
                    self.check(store)
                    if TABLE in store.catalog.tables:
                        self.write(store, RowOpKind.UPSERT, [{0: 900 + round_, 1: round_}])
            except Error as error:
                raise Stuck(f"{type(error).__name__}: {error}") from error


def _nothing() -> None:
    """The commit of a statement that has nothing to change."""


def bulk_rows() -> RowOperations:
    """Rows for the second table, enough to go past the log."""
    numbers = cells_to_array(list(range(BULK_ROWS)), DataType(Kind.INT32))
    return RowOperations(RowOpKind.INSERT, {0: numbers}, BULK_ROWS)
