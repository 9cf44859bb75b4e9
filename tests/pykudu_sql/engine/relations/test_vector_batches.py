"""Batches of wide rows are cut, and the engine's vectors with them."""

from collections.abc import Iterator, Sequence
from math import inf

import duckdb
import pyarrow as pa
import pytest
from duckdb.func import PythonUDFType

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.engine.relations import vector_batches
from pykudu_sql.engine.relations.sized_stream import registered
from pykudu_sql.engine.relations.vector_batches import (
    batches_in_vectors,
    bytes_of_row,
    pieces,
    row_bytes,
    table_in_vectors,
    vector_bytes,
    width_of,
)

SIZE = 1 << 20
WIDE = "x" * 60_000
ROWS = 100
WIDE_ROWS = pa.table({"k": range(ROWS), "s": [WIDE] * ROWS})


class Streamed:
    """The same rows as a stream of one batch."""

    schema = WIDE_ROWS.schema
    row_count = ROWS
    row_bytes = 60_000.0

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        yield from WIDE_ROWS.select(list(columns)).to_batches()


@pytest.mark.parametrize("relation", [WIDE_ROWS, Streamed()], ids=["table", "stream"])
def test_the_engine_computes_no_more_than_a_vector_of_bytes_at_once(relation: Relation) -> None:
    seen: list[int] = []

    def note(texts: pa.ChunkedArray) -> pa.ChunkedArray:
        seen.append(len(texts))
        return texts

    with duckdb.connect(config={"threads": 1}) as connection:
        text = connection.sqltype("VARCHAR")
        connection.create_function("note", note, [text], text, type=PythonUDFType.ARROW)
        connection.register("t", registered(relation, SIZE))
        total = connection.execute("SELECT sum(length(note(s))) FROM t").fetchall()
    assert total == [(ROWS * len(WIDE),)]
    assert sum(seen) == ROWS
    assert max(seen) * len(WIDE) <= SIZE


def test_the_rows_stay_as_they_are_and_narrow_ones_in_their_batches() -> None:
    cut = table_in_vectors(WIDE_ROWS, SIZE)
    assert cut.equals(WIDE_ROWS)
    assert max(batch.num_rows for batch in cut.to_batches()) == SIZE // len(WIDE)
    for narrow in (pa.table({"k": range(100_000)}), pa.table({"s": ["ab"] * 100_000})):
        assert table_in_vectors(narrow, SIZE) is narrow
    no_columns = pa.table({"k": range(5)}).select([])
    assert table_in_vectors(no_columns, SIZE) is no_columns


def test_only_the_stretch_with_wide_rows_is_cut() -> None:
    texts = ["ab"] * 4096 + [WIDE] * 20 + ["ab"] * 4096
    (batch,) = pa.table({"s": texts}).to_batches()
    lengths = [part.num_rows for part in batches_in_vectors([batch], batch.schema, SIZE)]
    assert lengths[:2] == [2048, 2048] and sum(lengths) == len(texts)
    assert lengths[2] < 2048


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()], ids=str)
def test_a_large_batch_whose_vectors_are_all_small_stays_whole(kind: pa.DataType) -> None:
    texts = pa.array(["some text"] * 300_000).cast(kind)
    batch = pa.record_batch({"s": texts, "w": texts.slice(0).dictionary_encode()}).slice(1234)
    assert list(batches_in_vectors([batch], batch.schema, SIZE)) == [batch]
    lists = pa.record_batch({"l": [[1, 2, 3]] * 50_000})
    cut = list(batches_in_vectors([lists], lists.schema, SIZE))
    assert pa.Table.from_batches(cut).equals(pa.Table.from_batches([lists]))


def test_views_of_texts_are_cut_by_the_texts_of_their_rows() -> None:
    kind = pa.string_view()
    small = pa.table({"s": pa.array(["a text of some size"] * 100_000, kind)})
    assert len(table_in_vectors(small, SIZE).to_batches()) == 1
    wide = pa.table({"s": pa.array(["ab"] * 4096 + [WIDE] * ROWS, kind)})
    cut = table_in_vectors(wide, SIZE)
    assert cut.equals(wide)
    assert [batch.num_rows for batch in cut.to_batches()][:3] == [2048, 2048, SIZE // len(WIDE)]


def test_a_word_of_a_dictionary_counts_for_each_of_its_rows() -> None:
    words = pa.array([WIDE] * ROWS).dictionary_encode()
    cut = table_in_vectors(pa.table({"s": words}), SIZE)
    assert max(batch.num_rows for batch in cut.to_batches()) == SIZE // len(WIDE)


def test_a_vector_follows_the_memory_of_the_engine() -> None:
    assert vector_bytes(0) == vector_bytes(8 << 30) == 4 << 20
    assert vector_bytes(64 << 20) == 1 << 20
    assert vector_bytes(1 << 20) == 256 << 10


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_a_word_of_a_dictionary_counts_for_each_row_that_has_it(kind: pa.DataType) -> None:
    words = pa.array([WIDE, *map(str, range(1000))], kind)
    codes = pa.array([None] * 2048 + [0, 7, None] * 2000, pa.int32())
    table = pa.table({"s": pa.DictionaryArray.from_arrays(codes, words)})
    assert bytes_of_row(table) * len(table) == 2000 * (len(WIDE) + 1)
    sizes = [batch.num_rows for batch in table_in_vectors(table, SIZE).to_batches()]
    assert sizes[0] == 2048
    assert max(sizes[1:]) <= 3 * (SIZE // len(WIDE) + 1)


def test_a_row_of_small_words_has_the_mean_of_its_dictionary() -> None:
    table = pa.table({"s": pa.array(["abcd", "efgh"] * 500).dictionary_encode()})
    assert bytes_of_row(table) == 8
    assert bytes_of_row(pa.table({"s": pa.array([], pa.string())})) == 0


@pytest.mark.parametrize("relation", [WIDE_ROWS, Streamed()], ids=["table", "stream"])
def test_rows_are_wide_where_a_vector_of_them_has_many_times_its_bytes(relation: Relation) -> None:
    assert row_bytes(relation) == pytest.approx(60_000, rel=0.001)
    assert pieces(row_bytes(relation), SIZE) > 1
    assert pieces(row_bytes(relation), 1 << 30) == 1


def test_the_longest_word_bounds_a_vector_whatever_the_number_of_rows() -> None:
    """So a large table of a few short words is handed on without a look at its batches."""
    words = pa.array(["a short word", "another one", None] * 100_000).dictionary_encode()
    table = pa.table({"k": range(300_000), "s": words, "v": words.slice(0)}).slice(77)
    assert width_of(table).vector_bytes == 2 * 2048 * len("a short word")
    assert width_of(WIDE_ROWS).vector_bytes >= ROWS * len(WIDE)
    assert width_of(pa.table({"k": range(5)})).vector_bytes == 0
    assert width_of(Streamed()).vector_bytes == inf


@pytest.mark.parametrize("start", [0, 1, 2048])
def test_no_vector_has_more_bytes_than_the_bound(start: int) -> None:
    texts = ["ab"] * 2048 + [WIDE] * 20 + ["ab"] * 2048
    for array in (pa.array(texts), pa.array(texts, pa.string_view())):
        batch = pa.record_batch({"s": array}).slice(start)
        assert width_of(pa.Table.from_batches([batch])).vector_bytes >= 20 * len(WIDE)
    coded = pa.table({"s": pa.array(texts).dictionary_encode()}).slice(start)
    assert width_of(coded).vector_bytes == 2048 * len(WIDE)


@pytest.mark.parametrize(
    ("width", "expected"), [(0, 1), (4_000, 1), (4_096, 8), (5_000, 16), (60_000, 128), (1e9, 2048)]
)
def test_vectors_are_cut_into_a_power_of_two_of_parts(width: float, expected: int) -> None:
    assert pieces(width, SIZE) == expected


def test_the_width_of_a_table_is_worked_out_once_and_forgotten_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def look(relation: Relation) -> float:
        looked.append(len(relation.schema))
        return row_bytes(relation)

    monkeypatch.setattr(vector_batches, "row_bytes", look)
    known = len(vector_batches._TABLE_WIDTHS)
    table = pa.table({"s": ["a", "b"]})
    assert width_of(table) == width_of(table)
    assert width_of(table.select(["s"])) == width_of(table)
    assert looked == [1, 1]
    del table
    assert len(vector_batches._TABLE_WIDTHS) == known
