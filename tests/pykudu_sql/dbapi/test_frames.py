"""Rows as Python's tools hold them: appended, and made tables of."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.executor.frames import columns_of_rows

ROWS = [(1, "a"), (2, None)]
TABLE = pa.table({"id": [1, 2], "v": ["a", None]})


@pytest.fixture
def conn() -> pykudu_sql.Connection:
    made = pykudu_sql.connect(autocommit=True)
    made.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING DEFAULT 'x')")
    return made


def stored(conn: pykudu_sql.Connection, table: str = "t") -> list[tuple[object, ...]]:
    return [tuple(row) for row in conn.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        [list(row) for row in ROWS],
        [{"id": 1, "v": "a"}, {"v": None, "id": 2}],
        pl.DataFrame(TABLE).lazy(),
        pl.DataFrame(TABLE),
        ds.dataset(TABLE),
    ],
)
def test_rows_of_all_shapes_are_appended(conn: pykudu_sql.Connection, data: object) -> None:
    assert conn.append("t", data) == 2
    assert stored(conn) == ROWS


def test_tuples_may_leave_out_the_last_columns(conn: pykudu_sql.Connection) -> None:
    assert conn.append("t", [(1,), (2,)]) == 2
    assert stored(conn) == [(1, "x"), (2, "x")]
    assert conn.append("t", [(1, "new")], operation="upsert") == 1
    assert conn.append("t", []) == 0
    assert stored(conn) == [(1, "new"), (2, "x")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([(1, "a"), (2,)], "row 2 does not fit: it has 1 value, the first has 2"),
        ([(1, "a", 3)], "row 1 does not fit: it has 3 values, the table has 2 columns"),
        ([{"id": 1}, {"id": 2, "v": "a"}], "row 2 does not fit: only one .* the key 'v'"),
        ([(1, "a"), {"id": 2}], "row 2 does not fit: it is a dict"),
        ([1, 2], "cannot append a list"),
        ([("x", "a")], "'x'"),
        (7, "cannot append an int"),
        ("nothing/*.csv", "no file matches"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    conn: pykudu_sql.Connection, data: object, message: str
) -> None:
    with pytest.raises(pykudu_sql.Error, match=message):
        conn.append("t", data)
    assert stored(conn) == []


def test_paths_are_read_whatever_statements_may(
    conn: pykudu_sql.Connection, tmp_path: Path
) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("id,v\n3,c\n")
    assert conn.append("t", tmp_path / "a.parquet") == 2
    assert conn.append("t", str(tmp_path / "*.csv")) == 1
    assert stored(conn) == [*ROWS, (3, "c")]
    with pytest.raises(pykudu_sql.NotSupportedError, match="not appended by upsert"):
        conn.append("t", str(tmp_path / "b.csv"), operation="upsert")
    with pytest.raises(pykudu_sql.Error, match="may not read or write files"):
        conn.execute(f"COPY t FROM '{tmp_path}/b.csv'")


def test_tables_are_made_of_frames(conn: pykudu_sql.Connection, tmp_path: Path) -> None:
    noon, day = dt.datetime(2026, 1, 31, 12), dt.date(2026, 1, 1)
    rows = [{"id": 1, "n": Decimal("1.25"), "at": noon, "d": day}]
    assert conn.create_table("a", rows, key=["id"]) == 1
    assert stored(conn, "a") == [tuple(rows[0].values())]
    types = {row[0]: row[1] for row in conn.execute("DESCRIBE a").fetchall()}
    assert types == {"id": "BIGINT", "n": "DECIMAL(3,2)", "at": "TIMESTAMP", "d": "DATE"}
    frame = pl.DataFrame({"id": [1, 2], "V": ["a", None]})
    partitions = "HASH (id) PARTITIONS 2"
    assert conn.create_table("b", frame.lazy(), key=["ID"], partition_by=partitions) == 2
    assert stored(conn, "b") == ROWS
    assert len(conn.execute("SHOW PARTITIONS b").fetchall()) == 2
    (tmp_path / "b.csv").write_text("id,v\n3,c\n")
    assert conn.create_table("c", tmp_path / "b.csv", key=["id"]) == 1
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    assert conn.create_table("e", reader, key=["id"]) == 2


@pytest.mark.parametrize(
    ("data", "key", "message"),
    [
        ({"id": [1, 1]}, ["id"], "given twice"),
        ({"id": [1]}, ["no"], "no column 'no'"),
        ({"id": [[1]]}, ["id"], "no table takes"),
        ({"id": [1], "ID": [2]}, ["id"], "twice"),
        ({"id": [1, "x"]}, ["id"], "several types"),
        ([(1, "a")], ["id"], "no names and types"),
    ],
)
def test_a_table_that_cannot_be_made_is_not_there(
    conn: pykudu_sql.Connection, data: object, key: list[str], message: str
) -> None:
    with pytest.raises(pykudu_sql.Error, match=message):
        conn.create_table("new", data, key=key)
    assert conn.list_tables() == ["t"]


def test_no_rows_are_columns_without_values() -> None:
    assert columns_of_rows([], ["id"]) == {"id": []}
    assert columns_of_rows({"id": [1]}, ["id"]) is None  # type: ignore[arg-type]


class Named(pa.ExtensionType):
    """A type as programs declare them; Python cannot hash it."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "tests.frames")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Named":
        return cls(storage)


def test_a_type_that_the_program_declared_is_the_one_that_stores_it(
    conn: pykudu_sql.Connection,
) -> None:
    texts = pa.array(["a text that is too long to lie within a view", None], pa.string_view())
    column = pa.ExtensionArray.from_storage(Named(texts.type), texts)
    data = pa.table({"id": [1, 2], "v": column})
    conn.append("t", data)
    conn.create_table("u", data, key=["id"])
    conn.register("df", data)
    expected = list(enumerate(texts.to_pylist(), 1))
    assert stored(conn) == stored(conn, "u") == stored(conn, "df") == expected


def test_bytes_of_every_form_become_binary(conn: pykudu_sql.Connection) -> None:
    frame = pl.DataFrame({"id": [1], "v": [b"x"]})
    uuid = pa.table({"id": [1], "v": pa.array([b"x" * 16], pa.binary(16))})
    for name, data, expected in (("u", frame, b"x"), ("w", uuid, b"x" * 16)):
        conn.create_table(name, data, key=["id"])
        conn.register("df", data)
        assert stored(conn, name) == stored(conn, "df") == [(1, expected)]


def test_a_type_that_arrow_has_not_is_an_error_that_says_so(conn: pykudu_sql.Connection) -> None:
    frame = pl.DataFrame({"id": [1], "v": pl.Series([1], dtype=pl.Int128)})
    for take in (
        lambda: conn.append("t", frame),
        lambda: conn.create_table("u", frame, key=["id"]),
        lambda: conn.register("df", frame),
    ):
        with pytest.raises(pykudu_sql.ProgrammingError, match="of a type that Arrow has not"):
            take()
