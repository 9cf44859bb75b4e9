"""Zone maps never lie: no present value lies outside its block's bounds."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_bounds import MAX_BOUND_BYTES, truncate_down, truncate_up
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, InList, IsNull, Op
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding

NAMES = (
    "BOOLEAN",
    "TINYINT",
    "INT",
    "BIGINT",
    "DATE",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(15,2)",
    "DECIMAL(38,0)",
    "STRING",
    "BINARY",
)
TYPES = [parse_type(name) for name in NAMES]


def zone_map_of(values: pa.Array, column_type: DataType, block_size: int = 512) -> ZoneMap:
    encoded = encode_column(
        column_type, Encoding("AUTO_ENCODING"), Compression.NO_COMPRESSION, block_size, values
    )
    stored = encoded.zone_map
    again = ZoneMap.from_bytes(memoryview(stored.to_bytes()), column_type, stored.block_count)
    for name in ("first_ordinals", "null_counts", "mins", "maxs", "has_bounds", "has_nan", "exact"):
        assert np.array_equal(getattr(stored, name), getattr(again, name))
    return again


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@settings(max_examples=20)
@given(
    seed=st.integers(0, 1 << 32),
    nulls=st.sampled_from((0.0, 0.4, 0.97)),
    distinct=st.sampled_from((1, 20, 1 << 40)),
)
def test_present_values_lie_within_the_bounds_of_their_block(
    column: Any, column_type: DataType, seed: int, nulls: float, distinct: int
) -> None:
    values = column(column_type, 300, seed=seed, nulls=nulls, distinct=distinct)
    zone_map = zone_map_of(values, column_type)
    cells = array_to_cells(values, column_type)
    for block in range(zone_map.block_count):
        start, stop = zone_map.first_ordinals[block : block + 2].tolist()
        present = [cell for cell in cells[start:stop] if cell is not None]
        assert zone_map.null_counts[block] == stop - start - len(present)
        numbers = [cell for cell in present if cell == cell]
        assert zone_map.has_nan[block] == (len(numbers) < len(present))
        assert zone_map.has_bounds[block] == bool(numbers)
        if numbers:
            low, high = zone_map.mins[block], zone_map.maxs[block]
            assert low <= min(numbers) and max(numbers) <= high
            assert bool(zone_map.exact[block]) == (low == min(numbers) and high == max(numbers))


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@settings(max_examples=20)
@given(seed=st.integers(0, 1 << 32), op=st.sampled_from(list(Op)))
def test_a_block_with_a_matching_row_is_never_skipped(
    column: Any, column_type: DataType, seed: int, op: Op
) -> None:
    values = column(column_type, 200, seed=seed, nulls=0.3, distinct=300)
    cells = array_to_cells(values, column_type)
    zone_map = zone_map_of(values, column_type)
    present = [ordinal for ordinal, cell in enumerate(cells) if cell is not None]
    ordinal = present[seed % len(present)]
    block = int(np.searchsorted(zone_map.first_ordinals, ordinal, "right")) - 1
    value = cells[ordinal]
    if op in (Op.EQ, Op.LE, Op.GE):
        assert zone_map.may_match(Comparison(1, op, value))[block]
    assert zone_map.may_match(InList(1, (value,)))[block]
    has_null = zone_map.may_match(IsNull(1))
    assert has_null.tolist() == (zone_map.null_counts > 0).tolist()


def test_blocks_that_cannot_match_are_skipped() -> None:
    zone_map = zone_map_of(pa.array(np.arange(640)), parse_type("BIGINT"))
    assert zone_map.may_match(Comparison(1, Op.EQ, 70)).tolist() == [0, 1, *[0] * 8]
    assert zone_map.may_match(Comparison(1, Op.GE, 630)).tolist() == [*[0] * 9, 1]


@pytest.mark.parametrize("name", ["STRING", "BINARY"])
def test_strings_that_end_in_nul_are_told_from_those_that_do_not(name: str) -> None:
    column_type = parse_type(name)
    empty, nul = ("", "\0") if name == "STRING" else (b"", b"\0")
    only_empty = zone_map_of(pa.array([empty] * 3), column_type)
    assert only_empty.may_match(Comparison(1, Op.LT, nul)).all()
    assert not only_empty.may_match(Comparison(1, Op.EQ, nul)).any()
    only_nul = zone_map_of(pa.array([nul] * 3), column_type)
    assert only_nul.may_match(Comparison(1, Op.EQ, nul)).all()
    assert not only_nul.may_match(Comparison(1, Op.LE, empty)).any()


def test_nan_neither_hides_the_other_values_nor_is_lost() -> None:
    values = pa.array([math.nan, 1.0, 2.0] + [math.nan] * 61 + [math.nan] * 64)
    zone_map = zone_map_of(values, parse_type("DOUBLE"))
    assert (zone_map.mins[0], zone_map.maxs[0]) == (1.0, 2.0)
    assert zone_map.has_nan.tolist() == [True, True]
    assert zone_map.has_bounds.tolist() == [True, False]
    assert zone_map.may_match(Comparison(1, Op.EQ, math.nan)).all()
    stats = zone_map.column_stats
    assert (stats.min, stats.max, stats.has_nan) == (1.0, 2.0, True)
    assert not zone_map.is_exact


TEXT = st.text(st.sampled_from("az\u00e9\ud7ff\ue000\U0010ffff"), max_size=60)
BINARY = st.binary(max_size=8).map(lambda tail: b"\xff" * 60 + tail)


@given(st.one_of(TEXT, BINARY, st.binary(max_size=100)))
def test_cut_bounds_of_long_strings_still_enclose_them(cell: Any) -> None:
    low, high = truncate_down(cell), truncate_up(cell)
    assert low <= cell
    assert len(low.encode() if isinstance(low, str) else low) <= MAX_BOUND_BYTES
    if high is not None:
        assert high >= cell
        assert len(high.encode() if isinstance(high, str) else high) <= MAX_BOUND_BYTES + 4


def test_a_string_that_no_shorter_one_exceeds_has_no_bound() -> None:
    assert truncate_up(b"\xff" * 65) is None
    assert truncate_up("\U0010ffff" * 17) is None
    zone_map = zone_map_of(pa.array([b"\xff" * 65, b"a"]), parse_type("BINARY"))
    assert zone_map.has_bounds.tolist() == [False]
    assert zone_map.may_match(Comparison(1, Op.EQ, b"\xff" * 65)).all()
    assert zone_map.column_stats.max is None


def test_bounds_of_a_whole_column_are_exact_when_nothing_was_cut() -> None:
    short = zone_map_of(pa.array(["b", None, "a", "c"]), parse_type("STRING"))
    assert (short.column_stats.min, short.column_stats.max) == ("a", "c")
    assert short.is_exact
    long = zone_map_of(pa.array(["b", "a" * 70]), parse_type("STRING"))
    assert (long.column_stats.min, long.column_stats.max) == ("a" * 64, "b")
    assert not long.is_exact


def test_an_empty_column_has_no_blocks_and_no_bounds() -> None:
    for column_type in TYPES:
        zone_map = zone_map_of(pa.array([], column_type.arrow), column_type)
        stats = zone_map.column_stats
        assert (zone_map.block_count, stats.row_count, stats.min, stats.max) == (0, 0, None, None)
