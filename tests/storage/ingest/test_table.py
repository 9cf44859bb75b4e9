"""Blocks of scans as one Arrow table: strings stay encoded where most of them are."""

import pyarrow as pa

from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.ingest.table import assemble, unify
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

STRING = DataType(Kind.STRING)


def encoded(texts: list[str | None], index_type: str = "int8") -> pa.DictionaryArray:
    plain = pa.array(texts, pa.string())
    return plain.dictionary_encode().cast(pa.dictionary(index_type, pa.string()))


def test_a_column_that_is_mostly_encoded_stays_encoded_with_the_widest_codes() -> None:
    chunks = [encoded(["a", None] * 40), encoded(["b"] * 40, "int16"), pa.array(["c"])]
    column = unify(chunks, STRING)
    assert column.type == pa.dictionary(pa.int32(), pa.string())
    assert column.cast(pa.string()).to_pylist() == ["a", None] * 40 + ["b"] * 40 + ["c"]


def test_a_column_with_many_plain_chunks_becomes_plain() -> None:
    column = unify([encoded(["a"] * 7), pa.array(["b"])], STRING)
    assert column.type == pa.dictionary(pa.int32(), pa.string())
    column = unify([encoded(["a"] * 6), pa.array(["b"])], STRING)
    assert column.type == pa.string()
    assert column.to_pylist() == ["a"] * 6 + ["b"]


def test_a_chunk_a_block_and_the_names_of_the_columns() -> None:
    columns = [ColumnSchema(0, "a", DataType(Kind.INT64)), ColumnSchema(1, "b", STRING)]
    blocks = [
        RowBlock([pa.array([1, 2]), pa.array(["x", "y"])], 2),
        RowBlock([pa.array([3]), pa.array([None], pa.string())], 1),
    ]
    table = assemble(columns, iter(blocks))
    assert table.to_pydict() == {"a": [1, 2, 3], "b": ["x", "y", None]}
    assert table.column("a").num_chunks == 2
    assert assemble(columns, iter(())).num_rows == 0


def test_rows_without_columns_are_counted() -> None:
    assert assemble((), iter([RowBlock([], 4), RowBlock([], 3)])).num_rows == 7
