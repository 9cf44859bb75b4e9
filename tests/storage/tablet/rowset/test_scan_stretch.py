"""A stretch is scanned a step of the filter at a time, and reads no more cells than it must."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.column_predicate import (
    Among,
    And,
    Comparison,
    Op,
    Predicate,
)
from pykudu_sql.storage.common.predicate.row_filter import FilterStep, RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.rowset.tablet_scanner import (
    ordinals_between,
    scan_ordinals,
    scan_stretch,
    scattered_ordinals,
    split_ranges,
)
from tests.storage.common.predicates import set_of

ROWS = 100
INT = DataType(Kind.INT32)
SCHEMA = create_schema(
    [ColumnSchema(0, "k", INT), ColumnSchema(0, "v", INT), ColumnSchema(0, "w", INT)], ["k"]
)
K, V, W = SCHEMA.columns


class Cells:
    """A rowset whose every cell is its ordinal; notes which were read."""

    def __init__(self) -> None:
        self.reads: list[tuple[str, int]] = []

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        self.reads.append((column.name, stop - start))
        return pa.array(ordinals_between(start, stop), pa.int32())

    def take(self, column: ColumnSchema, ordinals: npt.NDArray[np.int64]) -> pa.Array:
        self.reads.append((column.name, len(ordinals)))
        return pa.array(ordinals, pa.int32())

    def addresses(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        return ordinals_between(start, stop)

    def evaluate(self, step: FilterStep, start: int, stop: int) -> None:
        return None

    def is_ordered_by(self, column: ColumnSchema) -> bool:
        return column is K


def filtered(predicate: Predicate) -> RowFilter:
    return RowFilter.of(predicate, [K], SCHEMA.columns)


def test_columns_of_the_result_are_read_only_where_rows_survive() -> None:
    cells, stats = Cells(), ScanStats()
    row_filter = filtered(Comparison(V.id, Op.LT, 3))
    block = scan_stretch(cells, [V, W], row_filter, (0, ROWS), None, stats)
    assert block is not None
    assert [column.to_pylist() for column in block.columns] == [[0, 1, 2], [0, 1, 2]]
    assert cells.reads == [("v", ROWS), ("w", 3)]
    assert (stats.rows_scanned, stats.rows_returned) == (ROWS, 3)


def test_a_stretch_without_a_match_ends_at_the_step_that_says_so() -> None:
    cells = Cells()
    row_filter = filtered(And((Comparison(V.id, Op.GT, ROWS), Comparison(W.id, Op.LT, 5))))
    assert scan_stretch(cells, [K], row_filter, (0, ROWS), None, None) is None
    assert len(cells.reads) < 3
    assert ("k", ROWS) not in cells.reads


def test_dead_rows_are_left_out_and_not_counted() -> None:
    alive = np.arange(ROWS) % 10 == 0
    stats = ScanStats()
    block = scan_stretch(Cells(), [K], None, (20, 60), alive, stats)
    assert block is not None
    assert block.columns[0].to_pylist() == [20, 30, 40, 50]
    assert stats.rows_scanned == 4


def test_a_filter_that_most_rows_pass_leaves_the_stretch_whole() -> None:
    row_filter = filtered(Comparison(V.id, Op.LT, 90))
    block = scan_stretch(Cells(), [V], row_filter, (0, ROWS), None, None)
    assert block is not None
    assert block.length == ROWS
    exact = scan_stretch(Cells(), [V], row_filter.exactly(), (0, ROWS), None, None)
    assert exact is not None
    assert exact.length == 90


def test_few_keys_are_looked_for_and_other_columns_read_where_they_are() -> None:
    cells = Cells()
    row_filter = filtered(And((Comparison(V.id, Op.LT, 90), Among(K.id, set_of(20, 70)))))
    alive = np.arange(ROWS) != 20
    block = scan_stretch(cells, [K, W], row_filter, (10, ROWS), alive, None)
    assert block is not None
    assert [column.to_pylist() for column in block.columns] == [[70], [70]]
    assert cells.reads == [("k", ROWS - 10), ("v", 1), ("w", 1)]


def test_ranges_are_cut_into_pieces_of_at_most_so_many_rows() -> None:
    assert list(split_ranges([(0, 5), (7, 8)], 2)) == [(0, 2), (2, 4), (4, 5), (7, 8)]
    assert list(split_ranges([(0, 5)], None)) == [(0, 5)]


def test_short_ranges_are_read_as_one_list_of_ordinals() -> None:
    ranges = [(start, start + 2) for start in range(0, ROWS, 10)]
    ordinals = scattered_ordinals(ranges, None)
    assert ordinals is not None
    cells, stats = Cells(), ScanStats()
    row_filter = filtered(Comparison(V.id, Op.GT, 70))
    alive = np.arange(ROWS) != 80
    block = scan_ordinals(cells, [V, W], row_filter, ordinals, alive, stats)
    assert block is not None
    assert [column.to_pylist() for column in block.columns] == [[71, 81, 90, 91]] * 2
    assert cells.reads == [("v", 19), ("w", 4)]
    assert (stats.rows_scanned, stats.rows_returned) == (19, 4)


def test_ranges_that_are_few_or_long_are_read_one_by_one() -> None:
    assert scattered_ordinals([(0, 2), (5, 7)], None) is None
    assert scattered_ordinals([(n * 9000, n * 9000 + 8000) for n in range(9)], None) is None
    assert scattered_ordinals([(n * 9, n * 9 + 2) for n in range(9)], 17) is None
