"""Row errors through the face: settings, cursors, SHOW ROW ERRORS, append with every operation."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.errors import (
    DataError,
    IntegrityError,
    InterfaceError,
    ProgrammingError,
    UndefinedColumnError,
)


@pytest.fixture
def db() -> Iterator[Connection]:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT, note STRING DEFAULT 'new')")
        connection.execute("INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two')")
        yield connection


def rows(db: Connection) -> list[tuple[object, ...]]:
    return db.execute("SELECT * FROM t ORDER BY id").fetchall()


def collect(db: Connection) -> None:
    db.execute("SET row_errors = 'collect'")


def test_a_cursor_tells_the_rows_that_were_left_out(db: Connection) -> None:
    collect(db)
    cursor = db.execute("INSERT INTO t (id) VALUES (1), (3)")
    assert cursor.rowcount == 1
    assert cursor.message == "Inserted 1 row(s), 1 row(s) failed"
    (error,) = cursor.row_errors
    assert (error.position, error.key, error.status) == (0, "(id) = (1)", "AlreadyPresent")
    assert db.row_errors == cursor.row_errors
    assert db.execute("SELECT 1").row_errors == ()
    assert db.execute("SHOW ROW ERRORS").fetchall() == [
        (0, "(id) = (1)", "AlreadyPresent", "23505", error.message)
    ]
    assert db.execute("DELETE FROM t WHERE id = 3").row_errors == ()
    assert db.row_errors == ()


def test_positions_count_over_all_sets_of_parameters(db: Connection) -> None:
    collect(db)
    values = [(1, 5), (3, 5), (2, 5), (4, 5)]
    cursor = db.executemany("INSERT INTO t (id, n) VALUES (?, ?)", values)
    assert [error.position for error in cursor.row_errors] == [0, 2]
    queries = [(10,), (11,), (10,)]
    cursor = db.executemany("INSERT INTO t (id) SELECT id + ? FROM t WHERE id = 1", queries)
    assert cursor.rowcount == 2
    assert [(e.position, e.key) for e in cursor.row_errors] == [(2, "(id) = (11)")]


def test_a_rollback_takes_the_good_rows_back_too(db: Connection) -> None:
    collect(db)
    db.execute("BEGIN")
    assert db.execute("INSERT INTO t (id) VALUES (1), (3)").rowcount == 1
    db.execute("ROLLBACK")
    assert [row[0] for row in rows(db)] == [1, 2]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("upsert", [(1, 10, "one"), (2, 2, "two"), (3, 30, "new")]),
        ("upsert_ignore", [(1, 10, "one"), (2, 2, "two"), (3, 30, "new")]),
        ("insert-ignore", [(1, 1, "one"), (2, 2, "two"), (3, 30, "new")]),
        ("update_ignore", [(1, 10, "one"), (2, 2, "two")]),
    ],
)
def test_append_does_any_operation(
    db: Connection, operation: str, expected: list[tuple[object, ...]]
) -> None:
    db.append("t", {"id": [1, 3], "n": [10, 30]}, operation=operation)
    assert rows(db) == expected


def test_append_refuses_rows_that_do_not_fit_unless_they_are_collected(db: Connection) -> None:
    for operation in ("insert", "update"):
        with pytest.raises(IntegrityError):
            db.append("t", {"id": [1, 3], "n": [10, 30]}, operation=operation)
    with pytest.raises(IntegrityError):
        db.append("t", {"id": [1, 3]}, operation="delete")
    assert rows(db) == [(1, 1, "one"), (2, 2, "two")]
    collect(db)
    assert db.append("t", {"id": [1, 3], "n": [10, 30]}, operation="update") == 1
    assert [error.status for error in db.row_errors] == ["NotFound"]
    assert db.append("t", pa.table({"id": [1, 3]}), operation="delete") == 1
    assert rows(db) == [(2, 2, "two")]


def test_appended_values_that_do_not_fit_are_errors_of_their_rows(db: Connection) -> None:
    collect(db)
    data = {
        "id": [3, "x", 5, 1, 6],
        "n": pa.array([1, 2, 3, 4, 5]),
        "note": ["a", "b", 7, "d", "e"],
    }
    assert db.append("t", data) == 3
    assert [(e.position, e.key, e.status) for e in db.row_errors] == [
        (1, "(id) = (x)", "InvalidArgument"),
        (3, "(id) = (1)", "AlreadyPresent"),
    ]
    assert db.row_errors[0].message == "column 'id': cannot read 'x' as INT"
    assert [(row[0], row[2]) for row in rows(db)][2:] == [(3, "a"), (5, "7"), (6, "e")]
    mixed = pa.array([1 << 40, 9]).to_numpy().astype(object)
    mixed[1] = "y"
    assert db.append("t", {"id": mixed, "n": [0, 1]}) == 0
    assert [e.position for e in db.row_errors] == [0, 1]


def test_columns_of_different_lengths_are_refused_whatever_is_collected(db: Connection) -> None:
    collect(db)
    with pytest.raises(DataError, match=r"differ in length \(id: 2, n: 1\)"):
        db.append("t", {"id": [3, 4], "n": [1]})


def test_append_says_what_an_operation_cannot_take(db: Connection) -> None:
    with pytest.raises(ProgrammingError, match="no operation 'merge'"):
        db.append("t", {"id": [1]}, operation="merge")
    with pytest.raises(ProgrammingError, match="should not have a value for column 'n'"):
        db.append("t", {"id": [1], "n": [1]}, operation="delete")
    with pytest.raises(ProgrammingError, match="no fields updated"):
        db.append("t", {"id": [1]}, operation="update")
    with pytest.raises(IntegrityError, match="key column 'id'"):
        db.append("t", {"n": [1]}, operation="upsert")


def test_rows_of_a_table_that_counts_are_changed_by_their_number(db: Connection) -> None:
    db.execute("CREATE TABLE log (day INT, msg STRING, NON UNIQUE PRIMARY KEY (day))")
    db.append("log", {"day": [1, 1], "msg": ["a", "b"]})
    with pytest.raises(UndefinedColumnError):
        db.append("log", {"day": [1], "auto_incrementing_id": [5]})
    key = {"day": [1, 1], "auto_incrementing_id": [1, 7]}
    db.append("log", {**key, "msg": ["A", "g"]}, operation="upsert")
    db.append("log", {"day": [1], "auto_incrementing_id": [2]}, operation="delete")
    db.append("log", {"day": [2]})
    listed = db.execute("SELECT day, auto_incrementing_id, msg FROM log ORDER BY 2").fetchall()
    assert listed == [(1, 1, "A"), (1, 7, "g"), (2, 8, None)]
    collect(db)
    assert db.append("log", {"day": [3], "auto_incrementing_id": [-3]}, "upsert") == 0
    assert [e.status for e in db.row_errors] == ["InvalidArgument"]


def test_a_value_that_does_not_fit_is_an_error_of_its_row(db: Connection) -> None:
    collect(db)
    cursor = db.executemany(
        "INSERT INTO t (id, n) VALUES (?, ?)", [(3, 1), (4, "x"), (1, 1), (5, 5), (6, 1 << 40)]
    )
    assert cursor.rowcount == 2
    assert [(e.position, e.status, e.sqlstate) for e in cursor.row_errors] == [
        (1, "InvalidArgument", "22018"),
        (2, "AlreadyPresent", "23505"),
        (4, "InvalidArgument", "22003"),
    ]
    cursor = db.execute("INSERT INTO t (id, n) SELECT range, range * 1000000000 FROM range(5, 10)")
    assert cursor.rowcount == 0
    assert [(e.position, e.key) for e in cursor.row_errors][:2] == [
        (0, "(id) = (5)"),
        (1, "(id) = (6)"),
    ]
    given = {"id": pa.array([7, 8, 1 << 40, 9]), "n": pa.array(["1", "two", "3", "4"])}
    db.append("t", given)
    assert [(e.position, e.key) for e in db.row_errors] == [
        (1, "(id) = (8)"),
        (2, f"(id) = ({1 << 40})"),
    ]
    assert [row[0] for row in rows(db)] == [1, 2, 3, 5, 7, 9]


def test_a_statement_that_fails_whole_leaves_no_old_row_errors_behind(db: Connection) -> None:
    collect(db)
    db.execute("INSERT INTO t (id) VALUES (1)")
    assert len(db.row_errors) == 1
    with pytest.raises(DataError):
        db.execute("INSERT INTO t (id) SELECT CAST(note AS INT) FROM t")
    assert db.row_errors == ()
    assert db.execute("SHOW ROW ERRORS").fetchall() == []
    db.execute("INSERT INTO t (id) VALUES (1)")
    db.execute("SET row_errors = 'fail'")
    with pytest.raises(IntegrityError):
        db.execute("INSERT INTO t (id) VALUES (2)")
    assert db.row_errors == ()


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t (n, id) VALUES (?, ?)", "UPSERT INTO t (n, id) VALUES (?, ?)"]
)
@pytest.mark.parametrize("value", [object(), [1]], ids=["object", "list"])
def test_an_object_that_sql_has_no_value_for_is_an_error_of_its_row(
    db: Connection, sql: str, value: object
) -> None:
    collect(db)
    cursor = db.executemany(sql, [(5, 11), (value, 12), (5, value), (7, 13)])
    assert cursor.rowcount == 2
    assert [(e.position, e.sqlstate) for e in cursor.row_errors] == [(1, "07006"), (2, "07006")]


def test_a_missing_parameter_fails_the_whole_statement(db: Connection) -> None:
    collect(db)
    with pytest.raises(InterfaceError) as caught:
        db.executemany("INSERT INTO t (id, n) VALUES (:id, :n)", [{"id": 11, "n": 1}, {"id": 12}])
    assert caught.value.sqlstate == "07001"
    assert db.execute("SELECT count(*) FROM t WHERE id > 10").fetchall() == [(0,)]
