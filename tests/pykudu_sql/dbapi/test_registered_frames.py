"""Frames of the program that statements read by name."""

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import pykudu_sql
from pykudu_sql.executor.caller_scope import calling_frame, frame_in_scope
from pykudu_sql.executor.frame_tables import frame_of, is_frame
from pykudu_sql.executor.reading.frame_scan import FrameScan, frame_relation

ROWS = [(1, "a"), (2, None)]
TABLE = pa.table({"id": [1, 2], "V": ["a", None]})
module_frame = pl.DataFrame({"x": [7]})


@pytest.fixture
def conn() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(autocommit=True) as made:
        made.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, w STRING)")
        made.execute("INSERT INTO t VALUES (2, 'two'), (3, 'three')")
        yield made


def rows(conn: pykudu_sql.Connection, sql: str) -> list[tuple[Any, ...]]:
    return conn.execute(sql).fetchall()


@pytest.mark.parametrize(
    "made",
    [
        lambda: TABLE,
        lambda: TABLE.to_batches()[0],
        lambda: TABLE.to_reader(),
        lambda: TABLE.to_pandas(),
        lambda: pl.DataFrame(TABLE),
        lambda: pl.DataFrame(TABLE).lazy(),
        lambda: ds.dataset(TABLE),
        lambda: {"id": [1, 2], "v": ["a", None]},
        lambda: [{"id": 1, "v": "a"}, {"id": 2, "v": None}],
        lambda: pykudu_sql.connect().execute("VALUES (1, 'a'), (2, NULL) ORDER BY 1"),
    ],
)
def test_data_of_all_shapes_is_read_joined_and_written(
    conn: pykudu_sql.Connection, made: Callable[[], object]
) -> None:
    conn.register("df", made())
    names = [column[0] for column in conn.execute("SELECT * FROM df LIMIT 0").description or ()]
    if isinstance(made(), pa.RecordBatchReader):
        conn.register("df", made())
    key, value = names
    made_of = f"CREATE TABLE n PRIMARY KEY (id) AS SELECT {key} AS id, {value} AS v FROM df"
    conn.execute(made_of)
    assert rows(conn, "SELECT * FROM n ORDER BY id") == ROWS


def test_frames_are_relations_of_every_statement_that_reads(conn: pykudu_sql.Connection) -> None:
    conn.register("df", TABLE)
    assert rows(conn, "SELECT count(*), max(v) FROM df") == [(2, "a")]
    assert rows(conn, "SELECT id, w FROM t JOIN df USING (id)") == [(2, "two")]
    assert rows(conn, "SELECT a.id FROM df a, df b WHERE a.id = b.id + 1") == [(2,)]
    assert rows(conn, "SELECT w FROM t WHERE id NOT IN (SELECT id FROM df)") == [("three",)]
    assert rows(conn, "WITH df AS (SELECT 9 AS x) SELECT * FROM df") == [(9,)]
    conn.execute(
        "MERGE INTO t USING df ON t.id = df.id WHEN MATCHED THEN UPDATE SET w = df.v "
        "WHEN NOT MATCHED THEN INSERT VALUES (df.id, df.v)"
    )
    assert rows(conn, "SELECT * FROM t ORDER BY id") == [*ROWS, (3, "three")]
    conn.execute("UPDATE t SET w = 'new' FROM df WHERE t.id = df.id AND df.v IS NULL")
    conn.execute("DELETE FROM t USING df WHERE t.id = df.id AND df.v = 'a'")
    conn.execute("INSERT INTO t SELECT id + 10, v FROM df")
    assert rows(conn, "SELECT id, w FROM t ORDER BY id") == [
        (2, "new"),
        (3, "three"),
        (11, "a"),
        (12, None),
    ]
    assert "FRAME df" in str(rows(conn, "EXPLAIN SELECT * FROM t JOIN df USING (id)"))


def test_a_table_is_read_only_where_a_frame_has_keys(conn: pykudu_sql.Connection) -> None:
    conn.create_table("large", pa.table({"id": range(100_000)}), key=["id"])
    conn.flush()
    conn.register("df", {"k": [5, 70_000]})
    plan = rows(conn, "EXPLAIN ANALYZE SELECT count(*) FROM large JOIN df ON id = k")
    assert ("    narrowed by: rows of df",) in plan
    assert rows(conn, "SELECT count(*) FROM large JOIN df ON id = k") == [(2,)]


def test_rows_in_memory_are_those_of_the_registration(conn: pykudu_sql.Connection) -> None:
    frame = pd.DataFrame({"id": [1, 2], "x": [0.5, float("nan")]}, index=[8, 9])
    conn.register("df", frame)
    frame.loc[8, "id"] = 100
    frame["more"] = 1
    assert rows(conn, "SELECT * FROM df ORDER BY id") == [(1, 0.5), (2, None)]
    conn.register("DF", frame)
    assert rows(conn, "SELECT * FROM df WHERE id = 100") == [(100, 0.5, 1)]


def test_a_stream_is_read_anew_by_each_statement_and_a_reader_once(
    conn: pykudu_sql.Connection,
) -> None:
    read = []

    def part(frame: pl.DataFrame) -> pl.DataFrame:
        read.append(frame.height)
        return frame

    conn.register("lazy", pl.DataFrame(TABLE).lazy().map_batches(part, schema=None))
    before = len(read)
    for _ in range(2):
        assert rows(conn, "SELECT sum(id) FROM lazy") == [(3,)]
    assert len(read) == before + 2
    conn.register("once", TABLE.to_reader())
    assert rows(conn, "SELECT sum(id) FROM once") == [(3,)]
    with pytest.raises(pykudu_sql.OperationalError, match="'once' was read already"):
        rows(conn, "SELECT sum(id) FROM once")


def test_an_error_of_a_reader_leaves_as_it_is_and_changes_nothing(
    conn: pykudu_sql.Connection,
) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise KeyError("of the program")

    conn.register("df", pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    with pytest.raises(KeyError, match="of the program"):
        conn.execute("INSERT INTO t SELECT id + 10, v FROM df")
    assert rows(conn, "SELECT count(*) FROM t") == [(2,)]


def test_types_are_those_of_tables(conn: pykudu_sql.Connection) -> None:
    cells = {
        "n": pa.array([2**64 - 1], pa.uint64()),
        "at": pa.array([1_700_000_000_000_000_000], pa.timestamp("ns", "UTC")),
        "word": pa.array(["x"]).dictionary_encode(),
        "cat": pl.Series(["x"], dtype=pl.Categorical).to_arrow(),
        "price": pa.array([Decimal("1.50")]),
        "none": pa.nulls(1),
    }
    conn.register("df", pa.table(cells))
    at = dt.datetime(2023, 11, 14, 22, 13, 20)
    assert rows(conn, "SELECT * FROM df") == [
        (Decimal(2**64 - 1), at, "x", "x", Decimal("1.50"), None)
    ]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t", TABLE, "there is a table or view 't' already"),
        ("a.b", TABLE, "cannot be the name"),
        ("", TABLE, "cannot be the name"),
        (5, TABLE, "is text, not int"),
        ("df", 5, "has no names"),
        ("df", [], "has no names"),
        ("df", pd.DataFrame(), "a frame has columns"),
        ("df", pd.Series([1, 2]), "type 'Series' has no names and types of columns"),
        ("df", pl.Series([1, 2]), "type 'Series' has no names and types of columns"),
        ("df", pa.chunked_array([[1]]), "type 'ChunkedArray' has no names"),
        ("df", pa.table({"l": [[1]]}), "'l' is list<.*which no table takes"),
        ("df", pa.table([[1], [2]], names=["a", "A"]), "there twice"),
        ("df", {"at": pa.array([1], pa.timestamp("ns"))}, "no whole microseconds"),
    ],
)
def test_what_is_no_frame_or_has_a_taken_name_is_refused(
    conn: pykudu_sql.Connection, name: Any, data: object, message: str
) -> None:
    with pytest.raises(pykudu_sql.Error, match=message):
        conn.register(name, data)
    with pytest.raises(pykudu_sql.Error, match="does not exist"):
        conn.execute("SELECT * FROM df")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE VIEW v AS SELECT * FROM df", "a view cannot read 'df'"),
        ("CREATE VIEW v AS SELECT * FROM t WHERE id IN (SELECT id FROM df)", "a view cannot"),
        ("SELECT * FROM df AS OF now()", "has no past"),
        ("INSERT INTO df VALUES (1, 'a')", "which queries read"),
        ("SELECT * FROM default.df", "does not exist"),
        ("SET frames = true", "for the program to choose"),
    ],
)
def test_what_frames_are_not_for_is_refused(
    conn: pykudu_sql.Connection, sql: str, message: str
) -> None:
    conn.register("df", TABLE)
    with pytest.raises(pykudu_sql.Error, match=message):
        conn.execute(sql)


def test_a_table_made_later_makes_the_name_ambiguous(conn: pykudu_sql.Connection) -> None:
    conn.register("df", TABLE)
    conn.execute("CREATE TABLE df PRIMARY KEY (id) AS SELECT * FROM df")
    with pytest.raises(pykudu_sql.ProgrammingError, match="also a table") as caught:
        conn.execute("SELECT * FROM df")
    assert caught.value.sqlstate == "42P09"
    assert rows(conn, "SELECT count(*) FROM default.df") == [(2,)]
    conn.unregister("df")
    assert rows(conn, "SELECT count(*) FROM df") == [(2,)]
    with pytest.raises(pykudu_sql.ProgrammingError, match="no frame 'df' is registered"):
        conn.unregister("df")


def test_frames_belong_to_their_connection(conn: pykudu_sql.Connection, tmp_path: Any) -> None:
    with pykudu_sql.connect(tmp_path / "db") as one, pykudu_sql.connect(tmp_path / "db") as other:
        one.register("df", TABLE)
        with pytest.raises(pykudu_sql.Error, match="does not exist"):
            other.execute("SELECT * FROM df")


def test_variables_of_the_caller_are_read_where_the_program_permits_it(
    conn: pykudu_sql.Connection,
) -> None:
    Local = pd.DataFrame({"x": [1]})
    number = 5
    assert is_frame(Local) and not is_frame(number) and not is_frame([])
    sought = ("SELECT * FROM Local", "SELECT * FROM module_frame")
    for sql in sought:
        with pytest.raises(pykudu_sql.Error, match="does not exist"):
            conn.execute(sql)
    with pykudu_sql.connect(frames=True, autocommit=True) as permitted:
        assert permitted.execute(sought[0]).fetchall() == [(1,)]
        assert permitted.execute(sought[1]).fetchall() == [(7,)]
        Local = pd.DataFrame({"x": [1], "y": [2]})
        assert permitted.execute("SELECT * FROM Local").fetchall() == [(1, 2)]
        with pytest.raises(pykudu_sql.Error, match="does not exist"):
            permitted.execute("SELECT * FROM number")
        with pytest.raises(pykudu_sql.Error, match="a view cannot read"):
            permitted.execute("CREATE VIEW v AS SELECT * FROM Local")
        permitted.execute("CREATE TABLE module_frame (k INT PRIMARY KEY)")
        assert permitted.execute("SELECT * FROM module_frame").fetchall() == []
        Local = pd.DataFrame({"x": [[1]]})
        with pytest.raises(pykudu_sql.Error, match="which no table takes"):
            permitted.execute("SELECT * FROM Local")
    assert frame_in_scope(None, "Local") is None
    assert calling_frame() is not None


def test_a_frame_gives_only_the_columns_that_are_read(conn: pykudu_sql.Connection) -> None:
    state = conn._session._state
    held, streamed = frame_of("df", TABLE), frame_of("df", ds.dataset(TABLE))
    assert frame_relation(state, held, [1]).schema.names == ["v"]
    scan = frame_relation(state, streamed, [1, 0])
    assert isinstance(scan, FrameScan)
    assert [batch.to_pydict() for batch in scan.batches([1])] == [{"id": [1, 2]}]


@pytest.mark.parametrize("form", [lambda table: table, ds.dataset], ids=["table", "dataset"])
def test_a_column_that_no_table_takes_is_refused_where_it_is_read(
    conn: pykudu_sql.Connection, form: Any
) -> None:
    taken = pa.array([1, 2], pa.time64("us"))
    conn.register("df", form(pa.table({"l": [[1], [2]], "id": [1, 2], "took": taken})))
    assert conn.execute("SELECT max(id), count(*) FROM df").fetchall() == [(2, 2)]
    for read, what in (("*", "'l' of 'df' is list"), ("took", "'took' of 'df' is time64")):
        with pytest.raises(pykudu_sql.Error, match=f"{what}.*which no table takes"):
            conn.execute(f"SELECT {read} FROM df").fetchall()
