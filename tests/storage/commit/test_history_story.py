"""Two weeks in the life of a table's history, for people to read: marks, reads, drops, purges."""

from pathlib import Path

import pyarrow as pa

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn, DropRange
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import bound_at, format_timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import HistoryPurgedError, UndefinedTableError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.golden import check_golden

GOLDEN = Path(__file__).parent / "golden" / "history.txt"
DAY = 24 * 3_600_000_000
START = 1_767_225_600_000_000  # 2026-01-01 00:00
INT = DataType(Kind.INT32)


class HistoryStory:
    """A database whose days pass when the story says so."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.day = 0
        self.moments: dict[int, int] = {}
        options = StoreOptions(wall=lambda: START + self.day * DAY, maintenance=False, threads=1)
        self.store = Store(MemoryEnv(), "/db", options)
        columns = [ColumnSchema(0, "k", INT), ColumnSchema(0, "v", INT, True)]
        ranges = (RangePartition((0,), (10,)), RangePartition((10,), (20,)))
        partitions = PartitionSchema((), (0,), ranges)
        self.store.create_table("t", create_schema(columns, ["k"]), partitions)

    def begin_day(self, day: int, what: str) -> None:
        self.day = day
        self.lines.append(f"day {day}: {what}")

    def upsert(self, key: int, value: int) -> None:
        table = self.store.catalog.table("t")
        ids = [column.id for column in table.schema.columns]
        columns = {ids[0]: pa.array([key], pa.int32()), ids[1]: pa.array([value], pa.int32())}
        transaction = self.store.begin()
        transaction.write(table, RowOperations(RowOpKind.UPSERT, columns, 1))
        transaction.commit(True)

    def end_day(self) -> None:
        """Everything is compacted and collected; then each day's evening is read."""
        self.moments[self.day] = bound_at(self.store.now())
        for name in self.store.catalog.tables:
            self.store.optimize(name, full=True)
        purged = self.store.vacuum().tablets
        if purged:
            self.lines.append(f"  purged: {purged} tablets")
        for table_id, table in self.store._services.state.history.newest.items():
            mark = format_timestamp(self.store.history.mark(table_id))
            self.lines.append(f"  {table.name}: {len(self.store.tablets)} tablets, mark {mark}")
        for day, bound in self.moments.items():
            self.lines.append(f"  as of the end of day {day}: {self.read(bound)}")

    def read(self, bound: int) -> str:
        self.store.wait_until_readable(bound)
        try:
            table = self.store.catalog_at(bound).table("t")
            spec = ScanSpec(tuple(column.id for column in table.schema.columns))
            found = self.store.begin().table_scan(table, spec, bound)
        except (HistoryPurgedError, UndefinedTableError) as error:
            return error.message
        rows = sorted(found.to_pylist(), key=lambda row: row["k"])
        return " ".join(str(row) for row in rows) or "no rows"


def test_how_history_goes_with_the_days() -> None:
    story = HistoryStory()
    story.begin_day(0, "rows 1 and 11 are inserted")
    story.upsert(1, 0)
    story.upsert(11, 0)
    story.end_day()
    story.begin_day(2, "row 1 is updated; column v is dropped, w added")
    story.upsert(1, 2)
    new = AddColumn(ColumnSchema(0, "w", INT, True, read_default=5, write_default=5))
    story.store.alter_table("t", [DropColumn("v"), new])
    story.end_day()
    story.begin_day(4, "the range of row 11 is dropped; a snapshot gets a name")
    story.store.alter_table("t", [DropRange(RangePartition((10,), (20,)))])
    story.store.definitions.create_snapshot("day4", None, "")
    story.end_day()
    story.begin_day(8, "nothing; day 0 is out of reach")
    story.end_day()
    story.begin_day(12, "nothing; the snapshot keeps day 4")
    story.end_day()
    story.begin_day(13, "the snapshot and the table are dropped")
    story.store.definitions.drop_snapshot("day4")
    story.store.drop_table("t")
    story.end_day()
    story.begin_day(21, "nothing; the table is out of reach")
    story.end_day()
    check_golden(GOLDEN, "\n".join(story.lines) + "\n")
    story.store.close()
