"""Ordinal ranges behave as the sets they stand for."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Op,
    Or,
)
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.types.hybrid_time import Timestamp, bound_at
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
from pykudu_sql.storage.tablet.rowset.pruning import Range, matching_ranges, unite
from tests.storage.small_store import INT, SmallStore

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


def rows_of(ranges: list[Range]) -> set[int]:
    return {row for start, stop in ranges for row in range(start, stop)}


@given(ranges=RANGES)
def test_a_union_holds_the_same_rows_in_ascending_ranges_that_do_not_touch(
    ranges: list[Range],
) -> None:
    united = unite(ranges)
    assert rows_of(united) == rows_of(ranges)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(united))
    assert all(start < stop for start, stop in united)


def test_without_a_zone_map_nothing_is_pruned() -> None:
    predicate = Or(
        (And((Comparison(1, Op.LT, 5), Comparison(2, Op.GT, 9))), Comparison(1, Op.EQ, 7))
    )
    no_rows = np.empty(0, np.int64)
    ranges = matching_ranges(predicate, 100, lambda _: None, lambda _: no_rows, lambda _: False)
    assert ranges == [(0, 100)]


VALUES = st.none() | st.integers(0, 3) | st.integers(97, 103)
CONDITIONS = (
    lambda column, value: Comparison(column, Op.EQ, value),
    lambda column, value: Comparison(column, Op.GT, value),
    lambda column, value: Comparison(column, Op.LE, value),
    lambda column, value: InList(column, (value, value + 2)),
    lambda column, value: Or((IsNull(column), Comparison(column, Op.GE, value))),
    lambda column, value: And((IsNotNull(column), Comparison(column, Op.LT, value))),
)


@given(st.data())
def test_a_scan_finds_changed_rows_at_every_moment_though_no_base_cell_matches(
    data: st.DataObject,
) -> None:
    small = SmallStore()
    rows: dict[int, int | None] = {key: key + 4 for key in range(60)}
    moments = [(small.upsert(rows), dict(rows))]
    small.store.flush()
    keys = st.lists(st.integers(0, 59), min_size=1, max_size=6, unique=True)
    for _ in range(data.draw(st.integers(1, 20))):
        changed = {key: data.draw(VALUES) for key in data.draw(keys)}
        rows |= changed
        moments.append((small.upsert(changed), dict(rows)))
        if data.draw(st.integers(0, 5)) == 0:
            small.store.flush()
    key, column = (column.id for column in small.table.schema.columns)
    for time, rows_then in moments:
        predicate = data.draw(st.sampled_from(CONDITIONS))(column, data.draw(st.integers(96, 104)))
        spec = ScanSpec((key, column), predicate)
        scan = small.store.begin().table_scan(small.table, spec, bound_at(Timestamp(time)))
        types = {column: INT}
        values = {column: pa.array(list(rows_then.values()), pa.int32())}
        wanted = {
            row
            for row, matches in zip(rows_then, evaluate(predicate, values, types), strict=True)
            if matches
        }
        read = scan.select(["k", "v"]).to_pylist()
        assert wanted <= {row["k"] for row in read}
        assert all(rows_then[row["k"]] == row["v"] for row in read)


def test_a_block_is_passed_over_though_a_cell_was_changed_to_one_that_does_not_match() -> None:
    small = SmallStore()
    small.upsert({key: key for key in range(60)})
    small.store.flush()
    earlier = small.upsert({1: 100, 2: 200})
    later = small.upsert({1: 300})
    column_id = small.table.schema.columns[1].id

    def rows_left(value: int, time: int) -> int:
        schema = small.table.schema
        predicate = Comparison(column_id, Op.EQ, value)
        row_filter = RowFilter.of(predicate, schema.key_columns, schema.columns)
        view = small.rowset.view(bound_at(Timestamp(time)), None)
        return sum(stop - start for start, stop in small.rowset.ranges(row_filter, view))

    assert [rows_left(value, later) for value in (150, 200, 300)] == [0, 60, 60]
    assert [rows_left(value, earlier) for value in (100, 300)] == [60, 0]


def test_the_key_index_is_read_for_ranges_that_end_within_the_rowset_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = SmallStore()
    small.upsert({key: key for key in range(10, 70)})
    small.store.flush()
    schema = small.table.schema
    key_id = schema.columns[0].id
    reads: list[CFileSet] = []
    index = small.rowset.base.key_index

    def spans(*bounds: tuple[Op, int]) -> list[Range]:
        predicate = And(tuple(Comparison(key_id, op, value) for op, value in bounds))
        row_filter = RowFilter.of(predicate, schema.key_columns, schema.columns)
        return small.rowset.key_spans(row_filter)

    def noted(base: CFileSet) -> object:
        reads.append(base)
        return index

    monkeypatch.setattr(CFileSet, "key_index", property(noted))
    assert spans((Op.GE, 10), (Op.LE, 69)) == [(0, 60)]
    assert spans((Op.GE, -5)) == spans((Op.LT, 70)) == [(0, 60)]
    assert not reads
    assert spans((Op.GE, 11), (Op.LE, 69)) != []
    assert spans((Op.GT, 69)) == []
    assert len(reads) == 2
