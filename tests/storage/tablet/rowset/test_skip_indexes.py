"""Skip indexes in the life of a rowset: flush, deltas, both compactions, ALTER, and the check."""

import pytest

from pykudu_sql.storage.catalog.alter import CreateIndex, DropColumn, DropIndex
from pykudu_sql.storage.cfile.skip_index import SkipIndex
from pykudu_sql.storage.check.rowset_check import check_base
from pykudu_sql.storage.common.predicate.column_predicate import (
    Comparison,
    InList,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.errors import DuplicateObjectError, UndefinedObjectError
from tests.storage.tablet.test_delta_mechanisms import INT, DeltaStory, story_of_three_rows


def indexed_story() -> DeltaStory:
    """Rows with 0, 10 and 0 visits on disk, an index over them."""
    story = story_of_three_rows()
    story.store.alter_table("t", [CreateIndex("by_visits", ("visits", "grade"))])
    story.do(RowOpKind.UPDATE, key=2, visits=10)
    story.flush_rows()
    return story


def visits(story: DeltaStory, *values: int) -> Predicate:
    column_id = story.tablet.schema.column("visits").id
    if len(values) == 1:
        return Comparison(column_id, Op.EQ, values[0])
    return InList(column_id, values)


def rows_left(story: DeltaStory, predicate: Predicate) -> tuple[int, int]:
    """How many rows of the first rowset may match, and how often an index told that none do."""
    rowset, stats = story.rowset, ScanStats()
    view = rowset.view(story.store.begin().bound, None)
    schema = story.tablet.schema
    row_filter = RowFilter.of(predicate, schema.key_columns, schema.columns)
    ranges = rowset.ranges(row_filter, view, stats)
    return sum(stop - start for start, stop in ranges), stats.index_skips


def test_a_flush_keeps_the_index_and_values_between_are_skipped() -> None:
    story = indexed_story()
    assert rows_left(story, visits(story, 5)) == (0, 1)
    assert rows_left(story, visits(story, 5, 7)) == (0, 1)
    assert rows_left(story, visits(story, 5, 10)) == (3, 0)
    either = Or((visits(story, 5), visits(story, 10)))
    assert rows_left(story, either)[0] == 3


def test_rows_flushed_before_are_indexed_by_the_next_merging_compaction() -> None:
    story = story_of_three_rows()
    story.do(RowOpKind.UPDATE, key=2, visits=10)
    story.flush_rows()
    story.store.alter_table("t", [CreateIndex("by_visits", ("visits",))])
    assert rows_left(story, visits(story, 5)) == (3, 0)
    story.compact()
    assert rows_left(story, visits(story, 5)) == (0, 1)


def test_a_changed_cell_is_found_though_the_index_does_not_know_it() -> None:
    story = indexed_story()
    story.do(RowOpKind.UPDATE, key=1, visits=5)
    assert rows_left(story, visits(story, 5))[0] == 3
    assert rows_left(story, visits(story, 6))[0] == 0
    story.flush_deltas()
    assert rows_left(story, visits(story, 5))[0] == 3
    assert rows_left(story, visits(story, 6))[0] == 0


def test_a_major_delta_compaction_writes_the_index_anew_beside_its_column() -> None:
    story = indexed_story()
    story.do(RowOpKind.UPDATE, key=1, visits=5)
    story.flush_deltas()
    story.major("visits")
    assert rows_left(story, visits(story, 5)) == (3, 0)
    assert rows_left(story, visits(story, 6)) == (0, 1)


def test_an_index_dropped_is_not_written_any_more() -> None:
    story = indexed_story()
    story.store.alter_table("t", [DropIndex("by_visits")])
    story.compact()
    column = story.tablet.schema.column("visits")
    assert story.rowset.base.skip_index(column.id) is None


def test_an_index_loses_a_dropped_column_and_keeps_the_others() -> None:
    story = indexed_story()
    story.store.alter_table("t", [DropColumn("visits")])
    (left,) = story.store.catalog.table("t").schema.indexes["by_visits"]
    assert left.name == "grade"


def test_names_of_indexes_are_taken_once_and_must_be_known() -> None:
    story = indexed_story()
    with pytest.raises(DuplicateObjectError, match="by_visits"):
        story.store.alter_table("t", [CreateIndex("by_visits", ("note",))])
    with pytest.raises(UndefinedObjectError, match="by_note"):
        story.store.alter_table("t", [DropIndex("by_note")])


def test_a_check_names_an_index_that_lacks_values() -> None:
    story = indexed_story()
    assert list(check_base(story.rowset)) == []
    column_id = story.tablet.schema.column("visits").id
    of_others = SkipIndex.build(cells_to_array([77], INT), INT)
    story.rowset.base._skips[column_id] = of_others
    (finding,) = check_base(story.rowset)
    assert "skip index lacks 2 values" in finding.problem
