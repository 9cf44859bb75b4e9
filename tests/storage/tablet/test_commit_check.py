"""Commits whose record is whole and makes no sense are not applied."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.tablet.commit_check import check_insert, check_mutation
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind

TYPES = {0: parse_type("INT"), 1: parse_type("STRING"), 2: parse_type("DATE")}


@pytest.mark.parametrize(
    "cells",
    [
        {1: "a"},
        {0: None},
        {0: 1 << 31},
        {0: "1"},
        {0: 1, 1: b"a"},
        {0: 1, 2: 1 << 30},
        {0: True},
    ],
    ids=str,
)
def test_a_row_with_a_cell_that_its_column_cannot_hold_is_refused(
    cells: Mapping[int, Cell],
) -> None:
    check_insert(RowInsert({0: 1, 1: None, 2: 19_000}), TYPES, [0])
    with pytest.raises(ValueError, match=r"is no|is missing"):
        check_insert(RowInsert(cells), TYPES, [0])


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {0: pa.array([], pa.int32())},
        {0: pa.array([1, None], pa.int32())},
        {0: pa.array([1, 2], pa.int64())},
        {1: pa.array(["a"])},
        {0: pa.array([1], pa.int32()), 1: pa.array(["a", "b"])},
        {0: pa.array([1, 2], pa.int32()), 2: pa.array([None, 1 << 30], pa.int32()).cast("date32")},
    ],
    ids=["none", "no rows", "null key", "other type", "no key", "unequal lengths", "no day"],
)
def test_a_batch_of_other_columns_is_refused(columns: Mapping[int, pa.Array]) -> None:
    check_insert(BatchInsert({0: pa.array([1, 2], pa.int32())}), TYPES, [0])
    with pytest.raises(ValueError):
        check_insert(BatchInsert(columns), TYPES, [0])


def test_arrow_data_that_lead_outside_their_buffers_are_refused() -> None:
    buffers = [None, pa.py_buffer(np.array([0, 1 << 20, 5], np.int32)), pa.py_buffer(b"short")]
    wild = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(pa.ArrowInvalid):
        check_insert(BatchInsert({0: pa.array([1, 2], pa.int32()), 1: wild}), TYPES, [0])


@pytest.mark.parametrize("ordinals", [[-1], [10], [0, 1 << 62], [3, 3], []], ids=str)
def test_a_change_of_rows_that_are_not_there_is_refused(ordinals: list[int]) -> None:
    def batch(places: list[int]) -> BatchMutation:
        return BatchMutation(1, 1, DeltaKind.DELETE, np.array(places, np.int64), {})

    check_mutation(batch([9, 0]), TYPES, 10)
    with pytest.raises(ValueError, match="changed"):
        check_mutation(batch(ordinals), TYPES, 10)
    if len(ordinals) == 1:
        with pytest.raises(ValueError, match="changed"):
            check_mutation(RowMutation(1, 1, DeltaKind.DELETE, ordinals[0], {}), TYPES, 10)


def test_an_update_of_no_column_is_refused() -> None:
    with pytest.raises(ValueError, match="an update of no column"):
        check_mutation(RowMutation(1, 1, DeltaKind.UPDATE, 0, {}), TYPES, 10)
