"""How a scan is shared out among tasks, and how its cells travel."""

from decimal import Decimal

import pyarrow as pa
import pytest

from pykudu_sql.spark.arrow.arrow_types import to_spark
from pykudu_sql.spark.options import ReadOptions, TableLocation, WriteOptions
from pykudu_sql.spark.reading.read_plan import LEAST_SHARE, bundles, task_count
from pykudu_sql.storage.errors import InvalidValueError, ProgrammingError, ValueOutOfRangeError
from pykudu_sql.storage.scan.scan_token import MemoryShare, ScanToken

PLACE = {"path": "/data/my.db", "table": "T"}


def token(size: int) -> ScanToken:
    return ScanToken(bytes(16), "t", "", 0, (), None, MemoryShare(bytes(size)))


def sizes(tokens: list[ScanToken], tasks: int) -> list[int]:
    shares = bundles(tokens, tasks)
    assert [one for share in shares for one in share] == tokens
    return [len(share) for share in shares]


def test_every_processor_has_a_share_unless_there_is_little_to_read() -> None:
    many = [token(LEAST_SHARE) for _ in range(8)]
    assert task_count(many, 1 << 30, 2) == 2
    assert task_count(many, 1 << 30, 100) == 8
    assert task_count(many, 2 * LEAST_SHARE, 2) == 4
    assert task_count([token(10)], 1 << 30, 100) == 1
    assert task_count([], 1 << 30, 100) == 1


def test_tokens_are_shared_out_evenly_and_in_order() -> None:
    assert sizes([token(100) for _ in range(8)], 2) == [4, 4]
    assert sizes([token(100) for _ in range(7)], 3) == [2, 3, 2]
    assert sizes([token(1000), token(1), token(1)], 2) == [1, 2]
    assert sizes([token(5)], 4) == [1]
    assert sizes([token(0), token(0)], 3) == [2]
    assert sizes([], 3) == []


@pytest.mark.parametrize(
    "kind",
    [pa.decimal32(4, 2), pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(4, 2),
     pa.decimal128(18, 2)],
)  # fmt: skip
def test_decimals_travel_as_their_digits_where_integers_are_expected(kind: pa.DataType) -> None:
    precision = kind.precision
    values = pa.array([Decimal("-99.99"), None, Decimal("0.01")], pa.decimal128(precision, 2))
    batch = pa.record_batch([values.cast(kind)], ["a"]).slice(0, 3)
    sent = to_spark(batch.slice(1), pa.schema([pa.field("a", pa.int64())]))
    assert sent.column(0).to_pylist() == [None, 1]
    assert to_spark(batch, pa.schema([("a", pa.int64())])).column(0).to_pylist() == [-9999, None, 1]


def test_a_value_that_a_narrower_schema_lacks_is_an_error() -> None:
    batch = pa.record_batch([pa.array([1, 1 << 40])], ["a"])
    with pytest.raises(ValueOutOfRangeError, match=r"column 'a' .*1099511627776") as raised:
        to_spark(batch, pa.schema([("a", pa.int32())]))
    assert "was widened" in str(raised.value.hint)


@pytest.mark.parametrize("path", ["/data/my.db", "file:/data/my.db", "file:///data/my.db"])
def test_a_path_may_be_a_uri_of_a_file(path: str) -> None:
    assert TableLocation.of({"path": path, "table": "T"}) == TableLocation("/data/my.db", "t")


def test_options_that_nobody_reads_are_refused() -> None:
    assert ReadOptions.of({**PLACE, "tasks": "7", "columns": "a, b"}).columns == ("a", "b")
    with pytest.raises(ProgrammingError, match="no option 'timestampasof'") as raised:
        ReadOptions.of({**PLACE, "timestampasof": "2026-01-31"})
    assert "asOf" in str(raised.value.hint)
    with pytest.raises(ProgrammingError, match="no option 'asof'"):
        WriteOptions.of({**PLACE, "asof": "2026-01-31"})
    with pytest.raises(InvalidValueError, match="not a number of tasks"):
        ReadOptions.of({**PLACE, "tasks": "all"})
    with pytest.raises(InvalidValueError, match="names 'a' twice"):
        ReadOptions.of({**PLACE, "columns": "a,b,A"})
