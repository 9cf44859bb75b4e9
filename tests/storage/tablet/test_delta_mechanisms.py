"""What delta flush, compactions and collection of history do to a small tablet, for people to read.

Each story prints rowsets, rows by ordinal, their deltas and their files before and after, and what
every snapshot reads.
"""

from collections.abc import Iterator
from dataclasses import replace

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.flush import flush_delta_stores, flush_memrowset
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices
from tests.storage.tablet.test_design_notes import Story

INT, STRING = DataType(Kind.INT32), DataType(Kind.STRING)


class DeltaStory(Story):
    """A table whose one tablet is flushed, compacted and collected step by step."""

    mark = 0

    @property
    def tablet(self) -> Tablet:
        return self.store.tablets[self.store.catalog.table("t").tablets[0].id]

    @property
    def rowset(self) -> DiskRowSet:
        return self.tablet.components.tree.rowsets[0]

    def services(self) -> TabletServices:
        return replace(self.store.committer.tablet_services, history_mark=lambda _: self.bound)

    @property
    def bound(self) -> int:
        """The ancient history mark: snapshots from that of the commit `mark` on are kept."""
        return self.commits[self.mark - 1] + 1 if self.mark else 0

    def keep_from(self, mark: int) -> None:
        self.mark = mark
        self.lines.append(f"snapshots are kept from {mark} on")

    def flush_rows(self) -> None:
        flush_memrowset(self.tablet, self.services())
        self.lines.append("MemRowSet flush")

    def flush_deltas(self) -> None:
        flush_delta_stores(self.tablet, self.services())
        self.lines.append("DeltaMemStore flush")

    def minor(self) -> None:
        merged = compact_redo(self.tablet, self.rowset, self.services())
        self.lines.append(f"minor delta compaction of {merged} REDO files")

    def major(self, *names: str) -> None:
        ids = [self.tablet.schema.column(name).id for name in names]
        compact_major(self.tablet, self.rowset, ids, self.services())
        self.lines.append(f"major delta compaction of {', '.join(names)}")

    def compact(self) -> None:
        done = compact_rowsets(self.tablet, self.tablet.components.tree.rowsets, self.services())
        self.lines.append(
            f"merging compaction of {done.rowsets_in} rowsets, {done.rows_in} rows,"
            f" to {done.rowsets_out}, {done.rows_out} rows"
        )

    def collect(self) -> bool:
        """Undo GC and deleted-rowset GC; whether anything went."""
        undo = collect_undo(self.tablet, self.services())
        rowsets = collect_deleted_rowsets(self.tablet, self.services())
        self.lines += ["UNDO GC"] * bool(undo) + ["deleted-rowset GC"] * bool(rowsets)
        return bool(undo or rowsets)

    def show(self) -> None:
        """The files there are, the tablet, and what snapshots read."""
        self.lines += [f"  {line}" for line in self.files()]
        self.dump()
        for place, timestamp in enumerate(self.commits, start=1):
            if place >= self.mark:
                self.lines.append(f"  read at {place}: {self.rows(timestamp + 1)}")
        self.lines.append("")

    def files(self) -> Iterator[str]:
        for rowset in self.tablet.components.tree.rowsets:
            meta, name = rowset.meta, self.name_of
            yield f"files: base ({', '.join(map(name, meta.column_ids))})"
            for overlay in meta.overlays:
                yield f"       overlay ({', '.join(map(name, overlay.column_ids))})"
            for file in (*meta.undo, *meta.redo):
                stats = file.stats
                sets = [f"{name(i)}: {count}" for i, count in stats.updates.items()]
                first, last = self.time(stats.min_timestamp), self.time(stats.max_timestamp)
                yield (
                    f"       {file.kind} @{first}..@{last}, {stats.records} records"
                    f" ({', '.join([*sets, f'deletes: {stats.deletes}'])})"
                )

    def name_of(self, column_id: int) -> str:
        return self.tablet.column_schemas[column_id].name

    def time(self, timestamp: int) -> int:
        return self.commits.index(timestamp) + 1


def story_of_three_rows() -> DeltaStory:
    """Three rows on disk, of five columns."""
    names = ("key", "city", "visits", "grade", "note")
    types = (INT, STRING, INT, INT, STRING)
    columns = [ColumnSchema(0, name, kind) for name, kind in zip(names, types, strict=True)]
    story = DeltaStory(columns, "key")
    for key, city in enumerate(("Bern", "Oslo", "Rome"), start=1):
        story.do(RowOpKind.INSERT, key=key, city=city, visits=0, grade=1, note="new")
    return story


def story_of_deltas() -> DeltaStory:
    """The same with two REDO files, and changes in memory; one column of five is hot."""
    story = story_of_three_rows()
    story.flush_rows()
    story.do(RowOpKind.UPDATE, key=1, visits=1)
    story.do(RowOpKind.UPDATE, key=2, visits=1, grade=2)
    story.flush_deltas()
    story.do(RowOpKind.UPDATE, key=1, visits=2)
    story.do(RowOpKind.DELETE, key=3)
    story.flush_deltas()
    story.do(RowOpKind.UPDATE, key=1, visits=3)
    story.show()
    return story


def test_flushes_bring_rows_and_then_deltas_to_disk() -> None:
    story = story_of_three_rows()
    story.do(RowOpKind.UPDATE, key=2, visits=1)
    story.show()
    story.flush_rows()
    story.show()
    story.do(RowOpKind.UPDATE, key=1, visits=1)
    story.do(RowOpKind.UPDATE, key=1, visits=2)
    story.do(RowOpKind.DELETE, key=3)
    story.show()
    story.flush_deltas()
    story.show()
    story.check("flush_and_delta_flush")


def test_a_minor_compaction_merges_redo_files() -> None:
    story = story_of_deltas()
    story.minor()
    story.show()
    story.check("minor_delta_compaction")


def test_a_major_compaction_of_one_column_of_five_leaves_the_others_redo() -> None:
    story = story_of_deltas()
    story.major("visits")
    story.show()
    story.flush_deltas()
    story.major("visits", "grade")
    story.show()
    story.check("major_delta_compaction")


def test_updates_that_nobody_can_tell_apart_are_collapsed() -> None:
    story = story_of_deltas()
    story.flush_deltas()
    story.keep_from(7)
    story.minor()
    story.show()
    story.check("collapsed_updates")


def test_a_major_compaction_writes_no_history_below_the_mark() -> None:
    story = story_of_deltas()
    story.flush_deltas()
    story.keep_from(6)
    story.major("visits")
    story.show()
    story.check("major_without_old_history")


def test_undo_files_below_the_mark_are_dropped_whole() -> None:
    story = story_of_deltas()
    story.major("visits", "grade")
    story.show()
    story.keep_from(4)
    assert story.collect()
    assert not story.collect()
    story.show()
    story.check("undo_gc")


def test_a_rowset_deleted_before_the_mark_is_dropped() -> None:
    story = DeltaStory([ColumnSchema(0, "key", INT), ColumnSchema(0, "n", INT)], "key")
    story.do(RowOpKind.INSERT, key=1, n=1)
    story.do(RowOpKind.INSERT, key=2, n=2)
    story.flush_rows()
    story.do(RowOpKind.DELETE, key=1)
    story.do(RowOpKind.DELETE, key=2)
    story.do(RowOpKind.INSERT, key=3, n=3)
    story.flush_deltas()
    story.show()
    story.keep_from(3)
    story.collect()
    story.show()
    story.keep_from(4)
    story.collect()
    story.show()
    story.check("deleted_rowset_gc")


def story_of_ghosts() -> DeltaStory:
    """A key that lived three times, in three rowsets, beside rows of an ordinary life."""
    story = DeltaStory([ColumnSchema(0, "key", INT), ColumnSchema(0, "n", INT)], "key")
    story.do(RowOpKind.INSERT, key=1, n=10)
    story.do(RowOpKind.INSERT, key=5, n=50)
    story.flush_rows()
    story.do(RowOpKind.UPDATE, key=1, n=11)
    story.do(RowOpKind.DELETE, key=1)
    story.do(RowOpKind.INSERT, key=1, n=12)
    story.do(RowOpKind.INSERT, key=3, n=30)
    story.flush_deltas()
    story.flush_rows()
    story.do(RowOpKind.DELETE, key=1)
    story.do(RowOpKind.DELETE, key=3)
    story.do(RowOpKind.INSERT, key=1, n=13)
    story.flush_deltas()
    story.flush_rows()
    story.do(RowOpKind.UPDATE, key=5, n=51)
    story.show()
    return story


def test_a_merging_compaction_splices_the_lives_of_one_key_into_one_history() -> None:
    story = story_of_ghosts()
    story.compact()
    story.show()
    story.check("merging_compaction")


def test_a_merging_compaction_drops_rows_and_history_below_the_mark() -> None:
    story = story_of_ghosts()
    story.keep_from(8)
    story.compact()
    story.show()
    story.check("merging_compaction_without_old_history")


def test_a_column_added_after_the_flush_gets_its_first_file_from_a_major_compaction() -> None:
    story = DeltaStory([ColumnSchema(0, "key", INT), ColumnSchema(0, "n", INT)], "key")
    for key in (1, 2):
        story.do(RowOpKind.INSERT, key=key, n=0)
    story.flush_rows()
    added = ColumnSchema(0, "m", INT, read_default=7, write_default=7)
    story.store.alter_table("t", [AddColumn(added)])
    story.do(RowOpKind.UPDATE, key=2, m=8, n=1)
    story.store.alter_table("t", [DropColumn("n")])
    story.flush_deltas()
    story.major("m")
    assert story.rows() == "(1, 7) (2, 8)"
    assert story.rows(story.commits[1] + 1) == "(1, 0) (2, 0)"
    story.store.close()
