"""What the log keeps of a commit comes back as it was, and damaged bytes never pass for one."""

import tracemalloc
import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    CommitRecord,
    RowInsert,
    RowMutation,
    TabletWrites,
    decode_commit,
    encode_commit,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 126), 1 << 126),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
)
ROWS = st.dictionaries(st.integers(0, 299), CELLS, max_size=6)
KINDS = st.sampled_from(DeltaKind)
IDS = st.integers(0, 1 << 40)


@st.composite
def tablet_writes(draw: st.DrawFn) -> TabletWrites:
    inserts = draw(st.lists(st.builds(RowInsert, ROWS), max_size=3))
    mutations = draw(st.lists(st.builds(RowMutation, IDS, IDS, KINDS, IDS, ROWS), max_size=3))
    return TabletWrites(str(draw(st.uuids())), draw(IDS), inserts, mutations)


@given(timestamp=st.integers(0, (1 << 63) - 1), conditional=st.booleans(), data=st.data())
def test_rows_come_back_as_they_were(
    timestamp: int, conditional: bool, data: st.DataObject
) -> None:
    record = CommitRecord(timestamp, conditional, data.draw(st.lists(tablet_writes(), max_size=3)))
    assert decode_commit(encode_commit(record)) == record


def test_batches_come_back_with_their_arrow_types() -> None:
    columns = {
        3: pa.array([1, None, 3], pa.int16()),
        7: pa.array(["x", "y", "x"]).dictionary_encode(),
    }
    ordinals = np.array([5, 2, 9], np.int64)
    writes = TabletWrites(
        str(uuid.uuid4()),
        4,
        [BatchInsert(columns)],
        [
            BatchMutation(1, 2, DeltaKind.UPDATE, ordinals, {3: columns[3]}),
            BatchMutation(1, 2, DeltaKind.DELETE, ordinals, {}),
        ],
    )
    (found,) = decode_commit(encode_commit(CommitRecord(1, False, [writes]))).tablets
    (insert,) = found.inserts
    update, delete = found.mutations
    assert isinstance(insert, BatchInsert) and insert.columns == columns
    assert isinstance(update, BatchMutation) and update.columns == {3: columns[3]}
    assert isinstance(delete, BatchMutation) and delete.columns == {}
    assert update.ordinals.tolist() == delete.ordinals.tolist() == [5, 2, 9]


def batches(texts: int, width: int) -> CommitRecord:
    """A commit of rows and batches, these of some texts of a width."""
    columns = {
        1: pa.array(range(texts + 3), pa.int64()).slice(3),
        2: pa.array([None if i % 5 == 3 else "x" * width for i in range(texts)]),
        7: pa.array(["x", "y"] * texts).dictionary_encode().slice(0, texts),
    }
    change = BatchMutation(1, 2, DeltaKind.UPDATE, np.arange(texts), {2: columns[2]})
    row = RowInsert({1: 5, 2: "abc"})
    return CommitRecord(
        9, False, [TabletWrites(str(uuid.UUID(int=7)), 4, [row, BatchInsert(columns)], [change])]
    )


@given(st.integers(1, 40), st.integers(0, 90))
def test_large_batches_have_the_bytes_of_small_ones(texts: int, width: int) -> None:
    record = batches(texts, width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pykudu_sql.storage.tablet.commit_record._LARGE_BYTES", 1)
        as_large = encode_commit(record)
    assert as_large == encode_commit(record)


def test_a_record_is_the_only_copy_of_its_large_batches() -> None:
    record = batches(200, 60_000)
    arrow_bytes, arrow_peak = pa.total_allocated_bytes(), pa.default_memory_pool().max_memory()
    tracemalloc.start()
    size = len(encode_commit(record))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 18 << 20
    assert peak < 1.2 * size
    assert pa.total_allocated_bytes() == arrow_bytes
    assert pa.default_memory_pool().max_memory() <= max(arrow_peak, arrow_bytes + (1 << 20))


def test_a_record_cut_anywhere_is_corruption() -> None:
    writes = TabletWrites(
        str(uuid.uuid4()), 1, [RowInsert({0: 5, 1: "abc", 2: None, 3: b"xy", 4: 1 << 100})], []
    )
    whole = encode_commit(CommitRecord(9, False, [writes]))
    for size in range(len(whole)):
        with pytest.raises(CorruptionError):
            decode_commit(whole[:size])
