"""The writers as Spark calls them, without Spark: attempts, copies, replays and forged messages."""

import datetime as dt
import json
import pickle
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

import pykudu_sql
from pykudu_sql.spark.arrow.arrow_types import spark_schema
from pykudu_sql.spark.options import TableLocation, WriteOptions
from pykudu_sql.spark.writing.staged_job import find_table
from pykudu_sql.spark.writing.writer import PykuduStreamWriter, PykuduWriter, StagedMessage
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import AlreadyPresentError, CorruptionError, DataError

Rows = list[tuple[object, ...]]
PAIR = StructType().add("id", "long").add("v", "string")


@pytest.fixture
def table(path: str) -> str:
    with pykudu_sql.connect(path) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING) PARTITION BY HASH (id) "
                     "PARTITIONS 3")  # fmt: skip
        conn.execute("CREATE TABLE u (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return path


def writer(path: str, table: str = "t", overwrite: bool = False) -> PykuduWriter:
    made = PykuduWriter(WriteOptions(TableLocation(path, table), RowOpKind.INSERT), PAIR, overwrite)
    copied: PykuduWriter = pickle.loads(pickle.dumps(made))
    return copied


def batches(*rows: tuple[object, ...]) -> Iterator[pa.RecordBatch]:
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    return iter([pa.RecordBatch.from_arrays(columns, ["id", "v"])])


def content(path: str, sql: str = "SELECT * FROM t ORDER BY id") -> Rows:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return [tuple(row) for row in conn.execute(sql).fetchall()]


def strays(path: str) -> list[str]:
    folders = [Path(path) / name for name in ("staging", "tmp")]
    return [str(file) for folder in folders for file in folder.rglob("*") if file.is_file()]


def test_only_the_attempts_that_spark_names_count(table: str) -> None:
    job = writer(table)
    job.write(batches((5, "an attempt that failed")))
    first, second = job.write(batches((5, "x"), (4, "x"))), job.write(batches((6, "x")))
    job.write(batches((6, "a copy that was slower")))
    job.commit([first, second, None])
    assert content(table)[2:] == [(4, "x"), (5, "x"), (6, "x")]
    assert strays(table) == []


def test_a_second_commit_and_a_late_abort_change_nothing(table: str) -> None:
    job = writer(table)
    message = job.write(batches((5, "x")))
    job.commit([message])
    job.abort([message])
    with pytest.raises(CorruptionError, match="committed or aborted before"):
        job.commit([message])
    assert len(content(table)) == 3


def test_a_commit_that_fails_and_its_abort_leave_no_trace(table: str) -> None:
    job = writer(table)
    messages = [job.write(batches((5, "x"))), job.write(batches((2, "x")))]
    with pytest.raises(AlreadyPresentError):
        job.commit(list(messages))
    job.abort(list(messages))
    assert content(table) == [(1, "a"), (2, "b")]
    assert strays(table) == []


def test_a_message_of_another_write_is_refused(table: str) -> None:
    other, job = writer(table, "u"), writer(table)
    forged = other.write(batches((5, "x")))
    with pytest.raises(DataError, match="not by write"):
        job.commit([forged])
    with pytest.raises(DataError, match="no staged file"):
        writer(table).commit([StagedMessage(['{"write": "../.."}'])])
    assert len(content(table)) == 2


def forged(message: StagedMessage, **changed: object) -> StagedMessage:
    """A message that names another thing than its task wrote."""
    (file,) = message.files
    return StagedMessage([json.dumps({**json.loads(file), **changed})])


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"tablet": "../../../../../etc"}, DataError),
        ({"write": "../../elsewhere"}, DataError),
        ({"number": 7}, DataError),
        ({"number": 1 << 50}, CorruptionError),
        ({"checksum": 1}, CorruptionError),
        ({"size": 1}, CorruptionError),
        ({"rows": 2}, CorruptionError),
        ({"min_key": "00"}, CorruptionError),
        ({"table": "6d1fb6f2-0d5c-4c39-9d2e-3a1d8f6c9b57"}, DataError),
        ({"tablet": "6d1fb6f2-0d5c-4c39-9d2e-3a1d8f6c9b57"}, DataError),
    ],
)
def test_a_message_that_was_tampered_with_is_refused(
    table: str, changed: dict[str, object], error: type[Exception]
) -> None:
    job = writer(table)
    message = forged(job.write(batches((5, "x"))), **changed)
    with pytest.raises(error):
        job.commit([message])
    job.abort([message])
    assert content(table) == [(1, "a"), (2, "b")]
    assert strays(table) == []


def test_a_message_replayed_to_a_later_write_is_refused(table: str) -> None:
    first = writer(table)
    message = first.write(batches((5, "x")))
    first.commit([message])
    with pytest.raises(DataError, match="not by write"):
        writer(table).commit([message])
    twice = writer(table)
    again = twice.write(batches((6, "x")))
    with pytest.raises(DataError, match="named twice"):
        twice.commit([again, again])
    assert [row[0] for row in content(table)] == [1, 2, 5]
    assert strays(table) == []


def test_an_overwrite_replaces_all_rows_and_as_of_shows_the_old(table: str) -> None:
    with pykudu_sql.connect(table, autocommit=True) as conn:
        conn.execute("CREATE SNAPSHOT old")
    job = writer(table, overwrite=True)
    job.commit([job.write(batches((2, "new"), (7, "new")))])
    assert content(table) == [(2, "new"), (7, "new")]
    old = "SELECT * FROM t FOR VERSION AS OF 'old' ORDER BY id"
    assert content(table, old) == [(1, "a"), (2, "b")]


def test_a_batch_of_a_stream_is_done_once(table: str) -> None:
    def run(number: int, *rows: tuple[object, ...]) -> None:
        options = WriteOptions(TableLocation(table, "t"), RowOpKind.INSERT, write_id="stream")
        sent, committing = (PykuduStreamWriter(options, PAIR) for _ in range(2))
        committing.commit([sent.write(batches(*rows))], number)

    run(0, (5, "x"))
    run(1, (6, "x"))
    run(1, (6, "x"))
    run(2, (7, "x"))
    assert [row[0] for row in content(table)] == [1, 2, 5, 6, 7]
    assert strays(table) == []


def test_every_type_is_written_as_given(path: str) -> None:
    kinds = (
        "id BIGINT PRIMARY KEY, a BOOLEAN, b TINYINT, e FLOAT, g DECIMAL(5,2), h DECIMAL(15,3), "
        "i DECIMAL(38,10), j DATE, k TIMESTAMP, l STRING, m VARCHAR(5), n BINARY"
    )
    with pykudu_sql.connect(path) as conn:
        conn.execute(f"CREATE TABLE t ({kinds})")
    _, info = find_table(TableLocation(path, "t"))
    schema = spark_schema(info.schema.columns)
    row = (
        1, True, -128, 0.5, Decimal("-999.99"), Decimal("123456789012.345"),
        Decimal("-9999999999999999999999999999.9999999999"), dt.date(1, 1, 1),
        dt.datetime(1812, 6, 24, 5, 6, 7, 8), "a\0b", "äöü", b"\x00\xff",
    )  # fmt: skip
    kinds_given = [
        pa.int64(), pa.bool_(), pa.int8(), pa.float32(), pa.decimal128(5, 2), pa.decimal128(15, 3),
        pa.decimal128(38, 10), pa.date32(), pa.timestamp("us", "UTC"), pa.string(), pa.string(),
        pa.binary(),
    ]  # fmt: skip
    empty = (2, *[None] * 11)
    columns = [
        pa.array([value, nothing], kind)
        for value, nothing, kind in zip(row, empty, kinds_given, strict=True)
    ]
    job = PykuduWriter(WriteOptions(TableLocation(path, "t"), RowOpKind.UPSERT), schema, False)
    job.commit([job.write(iter([pa.RecordBatch.from_arrays(columns, schema.names)]))])
    assert content(path) == [row, empty]
