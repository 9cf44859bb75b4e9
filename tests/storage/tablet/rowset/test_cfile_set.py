"""The base image of a rowset: keys to ordinals, and columns by ordinal."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.bloom_filter import BloomFilter
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
from tests.storage.small_store import INT, SmallStore


def flushed() -> tuple[SmallStore, CFileSet]:
    small = SmallStore()
    small.upsert({key: 10 * key for key in range(0, 100, 2)})
    small.store.flush()
    base = small.rowset.base
    assert isinstance(base, CFileSet)
    return small, base


def test_a_key_is_at_its_ordinal_and_an_absent_one_at_none() -> None:
    small, base = flushed()
    probe = small.tablet.probe
    assert [base.find_one(probe((key,))) for key in (0, 2, 98, 1, 99, -2)] == [0, 1, 49, -1, -1, -1]


def test_keys_in_memory_are_searched_without_the_bloom_filter_in_the_first_rowset_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, base = flushed()
    asked: list[int] = []
    may_contain_one = BloomFilter.may_contain_one
    monkeypatch.setattr(
        BloomFilter,
        "may_contain_one",
        lambda bloom, hash64: (asked.append(hash64), may_contain_one(bloom, hash64))[1],
    )
    fresh = [small.tablet.probe((key,)) for key in (-2, 1, 2, 98, 99)]
    assert base.find_one(small.tablet.probe((4,))) == 2
    assert len(asked) == 1  # its keys were not in memory
    assert [base.find_one(probe) for probe in fresh] == [-1, -1, 1, 49, -1]
    assert len(asked) == 1
    assert [base.find_one(probe) for probe in fresh] == [-1, -1, 1, 49, -1]
    assert len(asked) == 1 + len(fresh)


def test_many_keys_are_where_each_of_them_is() -> None:
    small, base = flushed()
    ordinals = np.array([7, 0, 49], np.int64)
    assert base.find(base.keys().take(ordinals)).tolist() == [7, 0, 49]
    encoder = small.tablet.key_encoder
    for keys in ([1, 99], list(range(1, 1001, 2))):  # few, and more than are searched for at once
        absent = encoder.encode({encoder.columns[0].id: pa.array(keys, pa.int32())})
        assert set(base.find(absent).tolist()) == {-1}


def test_a_stretch_and_single_rows_of_a_column_are_the_same_cells() -> None:
    small, base = flushed()
    _, value = small.table.schema.columns
    assert base.column(value, 3, 6).to_pylist() == [60, 80, 100]
    assert base.column_once(value, 3, 6).to_pylist() == [60, 80, 100]
    ordinals = np.arange(3, 6, dtype=np.int64)
    assert base.take(value, ordinals).to_pylist() == base.take_once(value, ordinals).to_pylist()
    assert base.cells(small.table.schema.columns, 4) == (8, 80)


def test_a_column_that_the_file_lacks_reads_as_its_default() -> None:
    _, base = flushed()
    added = ColumnSchema(9, "n", INT, read_default=7)
    assert base.cfile(9) is None
    assert base.zone_map(9) is None
    assert base.column(added, 0, 2).to_pylist() == [7, 7]
    assert base.column(replace(added, read_default=None), 0, 2).to_pylist() == [None, None]


def test_a_column_without_a_skip_index_excludes_nothing() -> None:
    small, base = flushed()
    value = small.table.schema.columns[1]
    assert base.skip_index(value.id) is None
    assert not base.excludes(Comparison(value.id, Op.EQ, 11))
