"""Planning a read: from options to shares that tasks carry out, all at one snapshot.

The condition of the option `where` is SQL of ours. It goes through the planner, so what storage can
use prunes partitions, rowsets and blocks; and the whole of it is applied in the tasks by the
embedded engine, so no row comes that does not match.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pykudu_sql.database import Database
from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import Query, Scan
from pykudu_sql.planner.query.row_condition import plan_condition
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.spark.options import ReadOptions, TableLocation
from pykudu_sql.spark.reading.read_timestamps import ReadTimestamps
from pykudu_sql.spark.reading.residual import Projection, Residual
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, format_timestamp, last_before
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import UndefinedColumnError
from pykudu_sql.storage.remote.scan_planner import ScanPlan, plan_tokens
from pykudu_sql.storage.scan.scan_token import RowSetShare, ScanToken

# A second task costs its own work and a shuffle, together 0.4 s of processor time, in which
# one task reads a million rows of two or three columns.
LEAST_SHARE: Final = 2 << 20
MAX_LISTED_FILES: Final = 3


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A read, ready to be shared out.

    Attributes:
        scan: its tokens, and the claim on their files.
        residual: applied to each batch; None when there is no condition.
        shares: the tokens of each task.
        where: the condition as it was given, or None.
    """

    scan: ScanPlan
    residual: Residual | Projection | None
    shares: tuple[tuple[ScanToken, ...], ...]
    bound: SnapshotBound
    where: str | None = None

    @property
    def size(self) -> int:
        """Estimated bytes to read."""
        return sum(map(_size_of, self.scan.tokens))

    def describe(self, location: TableLocation) -> str:
        """What is read, for people who look at the plan of a query."""
        files = {
            f"{token.tablet_id}/{token.share.rowset.base}.base": None
            for token in self.scan.tokens
            if isinstance(token.share, RowSetShare)
        }
        file_list = ", ".join(
            [*list(files)[:MAX_LISTED_FILES], *["..."][: len(files) > MAX_LISTED_FILES]]
        )
        where = "" if self.where is None else f" where {self.where:.200}"
        moment = format_timestamp(last_before(self.bound))
        named = f" [{file_list}]" if files else ""
        return f"pykudu {location.table} as of {moment}{where} from {len(files)} files{named}"

    @contextmanager
    def leased(self) -> Iterator["ReadPlan"]:
        """The plan, whose files are given back at the end."""
        with self.scan:
            yield self


class ReadPlanner:
    """A database, opened to plan one read. Used by one thread."""

    def __init__(self, database: Database, options: ReadOptions) -> None:
        """Find the table at the moment that is read.

        Raises UndefinedTableError: there is no such table at that moment; InvalidValueError,
        SnapshotInFutureError: `asOf` is no moment of the past.
        """
        self._store = database.store
        self._options = options
        read_timestamps = ReadTimestamps(database)
        self._context = read_timestamps.context
        if options.as_of is None:
            self.bound = self._store.history.snapshots.hold_newest().bound
        else:
            self.bound = read_timestamps.bound_of(options.as_of)
            self._store.wait_until_readable(self.bound)
        self.table: TableInfo = self._store.catalog_at(self.bound).table(options.location.table)

    def columns(self) -> tuple[ColumnSchema, ...]:
        """The requested columns, in their order.

        Raises UndefinedColumnError: the table has no such column.
        """
        by_name = {column.name: column for column in self.table.schema.columns}
        names = self._options.columns
        if names is None:
            return tuple(by_name.values())
        for name in names:
            if name not in by_name:
                raise UndefinedColumnError(
                    f"column '{name:.80}' does not exist in table '{self.table.name}'",
                    hint="its columns are " + ", ".join(by_name),
                )
        return tuple(by_name[name] for name in names)

    def plan(self, columns: Sequence[ColumnSchema]) -> ReadPlan:
        """Share the read out.

        `columns`: wanted, in order, at least one. Raises NotSupportedError: the condition looks at
        other rows; ProgrammingError, DataError: it is none; HistoryPurgedError: history does not
        reach back to the moment.
        """
        spec, query = ScanSpec(tuple(column.id for column in columns)), None
        if self._options.where is not None:
            query, scan = self._condition(columns, self._options.where)
            spec = ScanSpec(scan.column_ids, bind_predicate(scan.predicate, ()))
        split = self._options.split_bytes
        scan_plan = plan_tokens(self._store, self.table, spec, self.bound, split)
        tasks = task_count(scan_plan.tokens, split, self._options.tasks)
        if tasks > len(scan_plan.tokens):
            finer = sum(map(_size_of, scan_plan.tokens)) // tasks
            scan_plan.release()
            scan_plan = plan_tokens(self._store, self.table, spec, self.bound, finer)
        shares = bundles(scan_plan.tokens, tasks)
        residual = None if query is None else residual_of(query, scan_plan.tokens)
        return ReadPlan(scan_plan, residual, shares, self.bound, self._options.where)

    def _condition(self, columns: Sequence[ColumnSchema], where: str) -> tuple[Query, Scan]:
        """The query that applies a condition, and its one scan."""
        context = PlanContext(
            self._context.catalog,
            self._context.catalog_at,
            self._context.now,
            self._context.evaluate,
            PlanSettings(as_of=self.bound),
            self._context.snapshots,
        )
        names = [column.name for column in columns]
        query = plan_condition(where, self.table.name, names, context)
        return query, query.scans[0]


@contextmanager
def read_planner(options: ReadOptions) -> Iterator[ReadPlanner]:
    """A planner over a database that is opened to read for as long.

    Raises OperationalError: there is no database; CorruptionError, DiskError: it cannot be read.
    """
    database = open_to_read(options.location.path)
    try:
        yield ReadPlanner(database, options)
    finally:
        database.release()


def open_to_read(path: str) -> Database:
    """A database, opened for planning; `release` closes it.

    Raises OperationalError: there is none; CorruptionError, DiskError: it cannot be read.
    """
    settings = DatabaseSettings(read_only=True, threads=1, block_cache_bytes=16 << 20)
    return Database(path, settings).acquire()


def residual_of(query: Query, tokens: Sequence[ScanToken]) -> Residual | Projection:
    """What tasks do with the rows of a scan, so that they are those of a query.

    `query`: of a condition, without parameters; `tokens`: of its one scan.
    """
    (scan,), scanned = query.scans, query.scanned
    if scanned is None or scanned.sort or not all(token.is_decisive for token in tokens):
        return Residual(query.sql, scan.name)
    return Projection(tuple(map(scan.column_ids.index, scanned.outputs)))


def task_count(tokens: Sequence[ScanToken], split_bytes: int, tasks: int) -> int:
    """How many tasks should read some tokens.

    Args:
        tokens: of a scan.
        split_bytes: that a task reads, about.
        tasks: that can run at once: as many there are at least, but none for a few bytes, which
            one task reads sooner.
    """
    total = sum(map(_size_of, tokens))
    return max(1, -(-total // split_bytes), min(tasks, total // LEAST_SHARE))


def bundles(tokens: Sequence[ScanToken], tasks: int) -> tuple[tuple[ScanToken, ...], ...]:
    """Tokens in shares of about equal size, in order; none is empty.

    `tokens`: of a scan, in order; `tasks`: shares wanted; fewer where a token would have to be cut.
    """
    total = max(1, sum(map(_size_of, tokens)))
    shares: dict[int, list[ScanToken]] = {}
    before = 0
    for token in tokens:
        size = _size_of(token)
        middle = (2 * before + size) * tasks // (2 * total)
        shares.setdefault(min(middle, tasks - 1), []).append(token)
        before += size
    return tuple(map(tuple, shares.values()))


def _size_of(token: ScanToken) -> int:
    share = token.share
    return share.size if isinstance(share, RowSetShare) else len(share.rows)
