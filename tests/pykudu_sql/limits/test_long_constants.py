"""Long constants of a statement arrive in every row, in however many chunks."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.executor.writing.repeated_cells import RepeatedCells
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type

LONG = "repeat('c', 5000)"
ROWS = 6_000  # of which 5,000 bytes each are more than a chunk


@pytest.fixture
def filled() -> Iterator[pykudu_sql.Cursor]:
    with (
        pykudu_sql.connect(":memory:", autocommit=True, memory_limit="320MB") as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE TABLE s (k INT PRIMARY KEY, x STRING, n INT DEFAULT 7)")
        cursor.execute("CREATE TABLE r (k INT PRIMARY KEY)")
        cursor.execute("INSERT INTO r SELECT range FROM range(?)", (ROWS,))
        yield cursor


def shown(cursor: pykudu_sql.Cursor) -> list[tuple[object, ...]]:
    text = "SELECT count(*), min(length(x)), max(length(x)), min(n), max(n), min(x) = max(x) FROM s"
    return cursor.execute(text).fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO s (k, x) SELECT k, {LONG} FROM r",
        f"INSERT INTO s (x, k) SELECT {LONG}, * FROM r",
        f"INSERT INTO s BY NAME SELECT {LONG} AS x, k FROM r",
        f"INSERT INTO s SELECT DISTINCT k, {LONG}, 7 FROM r ORDER BY 2, 1",
        f"INSERT INTO s (k, x) SELECT k, {LONG} AS y FROM r GROUP BY 1, 2",
        f"INSERT INTO s (k, x) SELECT k, {LONG} AS y FROM r GROUP BY ALL HAVING y > 'a'",
        f"UPSERT INTO s (k, x) SELECT k, {LONG} FROM r",
        f"INSERT INTO s (k, x) SELECT k, {LONG} FROM r ON CONFLICT DO NOTHING",
        f"WITH q AS (SELECT k FROM r) INSERT INTO s (k, x) SELECT k, {LONG} FROM q",
    ],
)
@pytest.mark.parametrize("row_errors", ["fail", "collect"])
def test_every_row_gets_the_text(
    filled: pykudu_sql.Cursor, statement: str, row_errors: str
) -> None:
    filled.execute(f"SET row_errors = '{row_errors}'")
    assert filled.execute(statement).rowcount == ROWS
    assert shown(filled) == [(ROWS, 5000, 5000, 7, 7, True)]


def test_every_row_gets_a_parameter(filled: pykudu_sql.Cursor) -> None:
    filled.execute("INSERT INTO s SELECT k + ?, ?, ? FROM r", (0, "é" * 5000, 3))
    assert shown(filled) == [(ROWS, 5000, 5000, 3, 3, True)]
    filled.execute(
        "INSERT INTO s SELECT k + :by, :x, 3 FROM r WHERE k < 2", {"by": ROWS, "x": None}
    )
    assert filled.execute("SELECT count(*) FROM s WHERE x IS NULL").fetchone() == (2,)


def test_rows_that_are_there_get_the_text_by_upsert_also_in_a_transaction(
    filled: pykudu_sql.Cursor,
) -> None:
    filled.execute("INSERT INTO s SELECT k, 'a', 1 FROM r WHERE k % 2 = 0")
    filled.execute("BEGIN")
    filled.execute("INSERT INTO s VALUES (-1, 'b', 2)")
    filled.execute(f"UPSERT INTO s (k, x) SELECT k, {LONG} FROM s")
    text = "SELECT count(*), min(length(x)), max(length(x)), count(DISTINCT n) FROM s"
    assert filled.execute(text).fetchall() == [(ROWS // 2 + 1, 5000, 5000, 2)]
    filled.execute("ROLLBACK")
    assert filled.execute("SELECT count(*), max(length(x)) FROM s").fetchall() == [(ROWS // 2, 1)]


def test_rows_that_are_refused_are_told_by_their_place(filled: pykudu_sql.Cursor) -> None:
    filled.execute(f"INSERT INTO s VALUES ({ROWS - 1}, 'a', 1)")
    filled.execute("SET row_errors = 'collect'")
    filled.execute(f"INSERT INTO s (k, x) SELECT k, {LONG} FROM r ORDER BY k")
    (error,) = filled.row_errors
    assert (error.position, error.key) == (ROWS - 1, f"(k) = ({ROWS - 1})")


def test_a_text_of_the_current_time_is_computed_each_time(filled: pykudu_sql.Cursor) -> None:
    text = "UPSERT INTO s (k, x) SELECT k, repeat(CAST(now() AS STRING), 100) FROM r WHERE k = 1"
    texts = set()
    for _ in range(2):
        filled.execute(text)
        texts.add(filled.execute("SELECT x FROM s").fetchone())
    assert len(texts) == 2


def test_returning_shows_the_text(filled: pykudu_sql.Cursor) -> None:
    text = f"INSERT INTO s (k, x) SELECT k, {LONG} FROM r WHERE k < 3 RETURNING length(x), n"
    assert filled.execute(text).fetchall() == [(5000, 7)] * 3


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO s SELECT k, 'b', 3 FROM r WHERE k < 4"
        " ON CONFLICT (k) DO UPDATE SET x = {}, n = excluded.n",
        "MERGE INTO s USING r ON s.k = r.k AND r.k < 4 WHEN MATCHED THEN UPDATE SET x = {}, n = 3",
        "UPDATE s SET x = {}, n = 3",
        "MERGE INTO s USING (SELECT k + 9 AS k FROM r WHERE k < 4) q ON s.k = q.k"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT VALUES (q.k, {}, 3)",
    ],
)
@pytest.mark.parametrize("returning", ["", " RETURNING length(x), n"])
def test_branches_of_a_statement_give_their_rows_long_texts_and_parameters(
    filled: pykudu_sql.Cursor, statement: str, returning: str
) -> None:
    for value, parameters in ((LONG, ()), ("?", ("é" * 5000,))):
        filled.execute("DELETE FROM s")
        filled.execute("INSERT INTO s SELECT k, 'a', 1 FROM r WHERE k < 4")
        filled.execute(statement.format(value) + returning, parameters)
        if returning:
            assert {row for row in filled.fetchall() if row != (1, 1)} == {(5000, 3)}
        assert shown(filled) == [(4, 5000, 5000, 3, 3, True)]


def test_rows_of_a_branch_that_have_no_room_are_refused_before_they_are_made(
    filled: pykudu_sql.Cursor,
) -> None:
    filled.execute("INSERT INTO s SELECT k, 'a', 1 FROM r")
    for text in (
        "UPDATE s SET x = repeat('c', 60000) RETURNING k",
        "INSERT INTO s (k, x) SELECT k + 9000, repeat('c', 60000) FROM r RETURNING k",
    ):
        with pytest.raises(pykudu_sql.OperationalError) as caught:
            filled.execute(text)
        assert caught.value.sqlstate == "53200"
    assert filled.execute("SELECT count(*), max(x) FROM s").fetchall() == [(ROWS, "a")]


def test_cells_become_columns_of_any_length() -> None:
    columns = [
        ColumnSchema(0, "k", parse_type("INT"), False),
        ColumnSchema(1, "x", parse_type("STRING")),
    ]
    cells = RepeatedCells(create_schema(columns, ["k"]), {1: "c" * 10})
    assert cells.row_bytes == 10
    assert cells.columns(2)[1].to_pylist() == cells.coded(2)[1].to_pylist() == ["c" * 10] * 2


def test_a_text_too_large_for_a_row_is_refused_as_such(filled: pykudu_sql.Cursor) -> None:
    with pytest.raises(pykudu_sql.DataError, match="value too large for column 'x'") as caught:
        filled.execute("INSERT INTO s (k, x) SELECT k, repeat('c', 70000) FROM r")
    assert caught.value.sqlstate == "22001"
    assert shown(filled)[0][0] == 0
