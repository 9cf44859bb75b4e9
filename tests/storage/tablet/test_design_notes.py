"""The examples of Kudu's design notes on tablets and schema changes, told step by step."""

from pathlib import Path

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.golden import check_golden
from tests.storage.tablet.tablet_dump import dump_tablet

GOLDEN = Path(__file__).parent / "golden"
STRING, INT = DataType(Kind.STRING), DataType(Kind.INT32)


class Story:
    """One table; remembers the commits so that times read as 1, 2, 3, ..."""

    def __init__(self, columns: list[ColumnSchema], key: str) -> None:
        self.store = Store(
            MemoryEnv(), "/story", StoreOptions(durability="off", threads=1, maintenance=False)
        )
        schema = create_schema(columns, [key])
        self.store.create_table("t", schema, PartitionSchema())
        self.commits: list[int] = []
        self.lines: list[str] = []

    def do(self, kind: RowOpKind, **cells: object) -> None:
        table = self.store.catalog.table("t")
        txn = self.store.begin()
        by_id = {table.schema.column(name).id: value for name, value in cells.items()}
        txn.write_row(table, kind, by_id)  # type: ignore[arg-type]
        timestamp = txn.commit(durable=False)
        assert timestamp is not None
        self.commits.append(timestamp)
        self.lines.append(f"@{len(self.commits)} {kind} {cells}")

    def rows(self, bound: int | None = None) -> str:
        at = self.store.begin().bound if bound is None else bound
        table = self.store.catalog_at(at).table("t")
        spec = ScanSpec(tuple(c.id for c in table.schema.columns))
        found = self.store.begin().table_scan(table, spec, at).to_pylist()
        return " ".join(str(tuple(row.values())) for row in found) or "no rows"

    def read_all_times(self) -> None:
        for place, timestamp in enumerate(self.commits, start=1):
            self.lines.append(f"  read at {place}: {self.rows(timestamp + 1)}")
        self.lines.append(f"  read before 1: {self.rows(self.commits[0])}")

    def flush(self) -> None:
        self.store.flush()
        self.lines.append("flush")

    def dump(self) -> None:
        table = self.store.catalog.table("t")
        show = {time: str(place) for place, time in enumerate(self.commits, start=1)}
        for info in table.tablets:
            text = dump_tablet(self.store.tablets[info.id], lambda time: show[time])
            self.lines += ["  " + line for line in text.splitlines()]

    def check(self, name: str) -> None:
        self.store.close()
        check_golden(GOLDEN / f"{name}.txt", "\n".join(self.lines) + "\n")


def row_story() -> Story:
    story = Story([ColumnSchema(0, "row", STRING), ColumnSchema(0, "val", INT)], "row")
    story.do(RowOpKind.INSERT, row="row", val=1)
    story.do(RowOpKind.UPDATE, row="row", val=2)
    story.do(RowOpKind.DELETE, row="row")
    story.do(RowOpKind.INSERT, row="row", val=3)
    return story


def test_one_rows_history_reads_the_same_before_and_after_its_flush() -> None:
    story = row_story()
    story.dump()
    story.read_all_times()
    story.flush()
    story.dump()
    story.read_all_times()
    story.check("row_history")


def test_a_row_deleted_on_disk_lives_on_in_the_memrowset_when_inserted_again() -> None:
    story = row_story()
    story.flush()
    story.do(RowOpKind.UPDATE, row="row", val=4)
    story.do(RowOpKind.DELETE, row="row")
    story.do(RowOpKind.INSERT, row="row", val=5)
    story.dump()
    story.read_all_times()
    story.flush()
    story.dump()
    story.read_all_times()
    story.check("reinsert_after_flush")


def test_a_row_deleted_last_keeps_its_delete_as_redo() -> None:
    story = row_story()
    story.do(RowOpKind.DELETE, row="row")
    story.flush()
    story.dump()
    story.read_all_times()
    story.check("trailing_delete")


def test_a_column_dropped_and_added_again_never_shows_its_old_data() -> None:
    columns = [ColumnSchema(0, "col_a", INT), ColumnSchema(0, "col_b", INT)]
    story = Story(columns, "col_a")
    story.do(RowOpKind.INSERT, col_a=1, col_b=2)
    story.flush()
    before = story.store.begin().bound
    story.store.alter_table("t", [DropColumn("col_b")])
    story.store.alter_table("t", [AddColumn(ColumnSchema(0, "col_b", INT, write_default=999))])
    assert story.rows() == "(1, 999)"
    assert story.rows(before) == "(1, 2)"
    story.store.close()
