"""Rows that a scan hands on are those, with the types, that the engine makes of them."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.reading import queries, scanned_rows
from pykudu_sql.storage.errors import Error, InterfaceError, QueryCancelledError
from tests.pykudu_sql.executor.reading.engine_only import engine_only
from tests.pykudu_sql.executor.reading.random_conditions import (
    COLUMNS,
    DAY,
    DDL,
    MOMENT,
    Conditions,
    row,
    rows_at_the_ends,
)

Answer = tuple[object, bool]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pykudu_sql.Connection]:
    """Rows on disk, changed and deleted since, newer ones in memory, and those of a transaction."""
    pick = Random(5)
    path = tmp_path_factory.mktemp("kinds") / "db"
    with pykudu_sql.connect(
        str(path), autocommit=True, durability="off", maintenance=False, files=True
    ) as opened:
        opened.execute(DDL)
        marks = ", ".join("?" * len(COLUMNS))
        insert = f"UPSERT INTO kinds VALUES ({marks})"
        opened.executemany(insert, [row(pick, key % 60) for key in range(120)])
        opened.execute("FLUSH TABLE kinds")
        opened.executemany(insert, [row(pick, key % 90) for key in range(80)])
        opened.execute("DELETE FROM kinds WHERE k % 7 = 3")
        opened.execute("FLUSH TABLE kinds")
        opened.executemany(insert, [row(pick, key % 120) for key in range(70)])
        opened.execute("UPDATE kinds SET a = a + 1, s = 'own' WHERE k % 11 = 2")
        opened.executemany(insert, rows_at_the_ends())
        yield opened


def handed_on(
    connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()
) -> pykudu_sql.Cursor:
    """A query that must do without the engine."""
    with patch.object(queries, "_computed_rows", side_effect=AssertionError(sql)):
        return connection.execute(sql, tuple(values))


def needs_engine(connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()) -> bool:
    """Whether a query is left to the engine where the scan does not look at few rows."""
    with (
        patch.object(queries, "selected_rows", return_value=None),
        patch.object(queries, "_computed_rows", wraps=queries._computed_rows) as computed,
    ):
        connection.execute(sql, tuple(values))
    return computed.called


def is_selected(connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()) -> bool:
    """Whether the scan alone selects the rows of a query, however many it looks at."""
    with (
        patch.object(queries, "scanned_rows", return_value=None),
        patch.object(queries, "read_for", wraps=queries.read_for) as computed,
    ):
        connection.execute(sql, tuple(values))
    return not computed.called


def by_engine(
    connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()
) -> pykudu_sql.Cursor:
    """The same query by the engine."""
    with engine_only():
        return connection.execute(sql, tuple(values))


@pytest.mark.parametrize("seed", range(3))
def test_rows_types_and_order_are_those_of_the_engine(
    connection: pykudu_sql.Connection, seed: int
) -> None:
    pick = Random(seed)
    if seed == 0:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM kinds WHERE k % 5 = 1")
        connection.execute(
            "UPSERT INTO kinds (k, w, a, s) VALUES (7, 'new', 1, 'a'), (8, '', 2, 'b')"
        )
    handed = 0
    for _ in range(20):
        conditions = Conditions(pick)
        shown = ", ".join(pick.choices(COLUMNS, k=pick.randint(1, 5)))
        sql = f"SELECT {pick.choice(['*', shown, shown])} FROM kinds WHERE {conditions.decided()}"
        if pick.random() < 0.5:
            sql += " ORDER BY k, w" + pick.choice(["", " LIMIT 3", " LIMIT 5 OFFSET 2", " LIMIT 0"])
        if needs_engine(connection, sql, conditions.values):
            continue  # a part that is the same for all rows leaves parameters to be looked at
        handed += 1
        ours = handed_on(connection, sql, conditions.values)
        theirs = by_engine(connection, sql, conditions.values)
        assert ours.description == theirs.description, sql
        assert ours.rowcount == theirs.rowcount
        ours_rows, theirs_rows = ours.fetchall(), theirs.fetchall()
        assert ours_rows == theirs_rows, (sql, conditions.values)
        if ours_rows:
            ours = handed_on(connection, sql, conditions.values)
            arrow = ours.fetch_arrow_table()
            assert arrow == by_engine(connection, sql, conditions.values).fetch_arrow_table()
    assert handed >= 15
    if seed == 0:
        connection.execute("ROLLBACK")


def answer(connection: pykudu_sql.Connection, sql: str, values: Sequence[Any]) -> Answer:
    """The rows of a query or its error, and whether the engine made them."""
    with patch.object(queries, "_computed_rows", wraps=queries._computed_rows) as computed:
        try:
            rows = connection.execute(sql, tuple(values)).fetchall()
        except (Error, UnicodeEncodeError) as error:
            return f"{type(error).__name__}: {error}", computed.called
    return sorted(map(repr, rows)), computed.called


@pytest.mark.parametrize("seed", range(4))
def test_whether_a_scan_decides_a_condition_changes_no_answer(
    connection: pykudu_sql.Connection, seed: int
) -> None:
    pick = Random(seed)
    handed = left = 0
    for _ in range(60):
        conditions = Conditions(pick, others=0.4)
        sql = f"SELECT k, w, a FROM kinds WHERE {conditions.any(pick.randint(0, 2))}"
        ours, has_engine = answer(connection, sql, conditions.values)
        if has_engine:
            left += 1
            continue
        handed += 1
        with engine_only():
            theirs, _ = answer(connection, sql, conditions.values)
        assert ours == theirs, (sql, conditions.values)
    assert handed >= 10
    assert left >= 10


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_counted_as_the_engine_counts_them(
    connection: pykudu_sql.Connection, seed: int
) -> None:
    pick = Random(seed)
    if seed == 0:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM kinds WHERE k % 5 = 1")
        connection.execute("UPSERT INTO kinds (k, w, a, s) VALUES (7, 'new', 1, 'a')")
    counted = 0
    for _ in range(40):
        conditions = Conditions(pick, others=0.3)
        sql = f"SELECT count(*) n, count(k) FROM kinds WHERE {conditions.any(pick.randint(0, 2))}"
        ours, has_engine = answer(connection, sql, conditions.values)
        counted += not has_engine
        with engine_only():
            theirs, _ = answer(connection, sql, conditions.values)
        assert ours == theirs, (sql, conditions.values)
    assert counted >= 10
    if seed == 0:
        connection.execute("ROLLBACK")


def test_a_count_has_the_names_and_types_that_the_engine_gives(
    connection: pykudu_sql.Connection,
) -> None:
    sql = "SELECT count(*), COUNT(*) AS n, count(w) FROM kinds WHERE a > ?"
    ours, theirs = handed_on(connection, sql, [1]), by_engine(connection, sql, [1])
    assert ours.description == theirs.description
    assert ours.rowcount == theirs.rowcount == 1
    assert ours.fetch_arrow_table() == theirs.fetch_arrow_table()


@pytest.mark.parametrize(
    ("sql", "has_engine"),
    [
        ("SELECT count(*) FROM kinds WHERE a > 1", False),
        ("SELECT count(*) FROM kinds WHERE a > 1 AND f > 0.5", True),
        ("SELECT count(*) FROM kinds WHERE a > 1 LIMIT 1", True),
        ("SELECT count(*) FROM kinds WHERE a > 1 GROUP BY ALL", True),
        ("SELECT count(*) FROM kinds WHERE a > 1 HAVING count(*) > 1000000", True),
        ("SELECT count(*) + 1 FROM kinds WHERE a > 1", True),
        ("SELECT count(s) FROM kinds WHERE a > 1", True),
        ("SELECT count(DISTINCT k) FROM kinds WHERE a > 1", True),
        ("SELECT count(*) FILTER (WHERE a > 2) FROM kinds WHERE a > 1", True),
        ("SELECT count(*) OVER () FROM kinds WHERE a > 1", True),
        ("SELECT count(*), max(a) FROM kinds WHERE a > 1", True),
    ],
)
def test_only_plain_counts_under_exact_conditions_need_no_engine(
    connection: pykudu_sql.Connection, sql: str, has_engine: bool
) -> None:
    ours, computed = answer(connection, sql, ())
    assert computed == has_engine
    with engine_only():
        assert answer(connection, sql, ())[0] == ours


@pytest.mark.parametrize("seed", range(2))
def test_conditions_of_changes_and_copies_are_decided_alike(
    connection: pykudu_sql.Connection, tmp_path: Path, seed: int
) -> None:
    pick = Random(seed)
    target = tmp_path / "rows.parquet"
    connection.execute("BEGIN")
    for _ in range(15):
        conditions = Conditions(pick, others=0.2)
        where = f"WHERE {conditions.any(1)}"
        with engine_only():
            theirs, _ = answer(connection, f"SELECT k, w FROM kinds {where}", conditions.values)
        if isinstance(theirs, str):
            continue
        sql = f"COPY (SELECT k, w FROM kinds {where}) TO '{target}'"
        connection.execute(sql, tuple(conditions.values))
        copied = [tuple(row.values()) for row in pq.read_table(target).to_pylist()]
        assert sorted(map(repr, copied)) == theirs, (sql, conditions.values)
        target.unlink()
        connection.execute("SAVEPOINT before_it")
        deleted = connection.execute(f"DELETE FROM kinds {where}", tuple(conditions.values))
        assert isinstance(theirs, list)
        assert deleted.rowcount == len(theirs), (where, conditions.values)
        connection.execute("ROLLBACK TO SAVEPOINT before_it")
    connection.execute("ROLLBACK")


def test_an_earlier_moment_is_read_as_it_was(connection: pykudu_sql.Connection) -> None:
    moment = connection.snapshot_timestamp()
    sql = f"SELECT k, a, s FROM kinds FOR SYSTEM_TIME AS OF {moment} WHERE k >= 5 ORDER BY k, w"
    before = by_engine(connection, sql).fetchall()
    connection.execute("UPDATE kinds SET a = 77, s = 'later' WHERE k < 30")
    assert handed_on(connection, sql).fetchall() == before


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("a > ?", True), ("a > ?", 1e300), ("m = ?", 1.5), ("x = ?", (1 << 53) + 1),
        ("t = ?", "2020-02-29T12:00:00+01:00"),
        ("t < ?", "2020-02-29 12:00:00.0000001"),
        ("f = ?", 1), ("s = ?", "\ud800"), ("a = ?", "x"), ("s = ?", 5), ("d < ?", "never"),
    ],
)  # fmt: skip
def test_values_that_the_scan_cannot_compare_exactly_go_to_the_engine(
    connection: pykudu_sql.Connection, condition: str, value: object
) -> None:
    sql = f"SELECT k FROM kinds WHERE {condition} ORDER BY k, w"
    try:
        expected: object = by_engine(connection, sql, [value]).fetchall()
    except (Error, UnicodeEncodeError) as error:
        with pytest.raises(type(error)) as raised:
            connection.execute(sql, (value,))
        assert str(raised.value) == str(error)
    else:
        assert connection.execute(sql, (value,)).fetchall() == expected
        assert needs_engine(connection, sql, [value])


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("a = ?", 1.0), ("a < ?", "2"), ("a > ?", Decimal("0.5")), ("a > ?", 1 << 80),
        ("d = ?", " 2020-02-29"), ("d >= ?", MOMENT), ("t > ?", DAY), ("m < ?", 1),
        ("n >= ?", "0.5"), ("z = ?", b"\x01"),
    ],
)  # fmt: skip
def test_values_of_another_kind_that_it_can_compare_do_not(
    connection: pykudu_sql.Connection, condition: str, value: object
) -> None:
    sql = f"SELECT k FROM kinds WHERE {condition} ORDER BY k, w"
    expected = by_engine(connection, sql, [value]).fetchall()
    assert handed_on(connection, sql, [value]).fetchall() == expected


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_a_condition_selects_are_those_of_the_engine(
    connection: pykudu_sql.Connection, seed: int
) -> None:
    pick = Random(seed)
    connection.execute("BEGIN")
    connection.execute("DELETE FROM kinds WHERE k % 7 = 3")
    connection.execute("UPDATE kinds SET a = a + 1 WHERE k % 5 = 2 AND a < 100")
    selected = 0
    for _ in range(60):
        conditions = Conditions(pick, others=0.2)
        tail = pick.choice(("", "ORDER BY a DESC, k, w LIMIT 7", "ORDER BY w, k LIMIT 9 OFFSET 3"))
        sql = f"SELECT w, k, a, s FROM kinds WHERE {conditions.any(pick.randint(0, 2))} {tail}"
        with engine_only():
            theirs, _ = answer(connection, sql, conditions.values)
        with patch.object(queries, "scanned_rows", return_value=None):
            ours, _ = answer(connection, sql, conditions.values)
        assert ours == theirs, (sql, conditions.values)
        selected += not isinstance(ours, str) and is_selected(connection, sql, conditions.values)
    connection.execute("ROLLBACK")
    assert selected >= 15


@pytest.mark.parametrize(
    ("sql", "is_so"),
    [
        ("SELECT k, s FROM kinds WHERE a > 0", True),
        ("SELECT k, s FROM kinds WHERE a > 0 ORDER BY s LIMIT 3", True),
        ("SELECT k, s FROM kinds WHERE a > 0 ORDER BY s", False),
        ("SELECT k, s FROM kinds WHERE a > 0 ORDER BY k, w", False),
        ("SELECT k, s FROM kinds WHERE a > 0 LIMIT 3", False),
        ("SELECT k, s FROM kinds", False),
        ("SELECT k, s FROM kinds ORDER BY s LIMIT 3", False),
        ("SELECT max(a) FROM kinds WHERE a > 0", False),
        ("SELECT k, s FROM kinds WHERE a % 2 = 0", False),
    ],
)
def test_all_rows_or_the_first_that_a_condition_leaves_are_selected_by_the_scan(
    connection: pykudu_sql.Connection, sql: str, is_so: bool
) -> None:
    assert is_selected(connection, sql) is is_so


def test_more_rows_than_may_be_held_are_left_to_the_engine(
    connection: pykudu_sql.Connection,
) -> None:
    sql = "SELECT k, s FROM kinds WHERE k >= 0"
    assert is_selected(connection, sql)
    for setting in ("result_memory_bytes", "scan_memory_bytes"):
        connection.execute(f"SET {setting} = 1000")
        assert not is_selected(connection, sql)
        connection.execute(f"SET {setting} = DEFAULT")


def test_a_scan_is_prepared_once_to_look_at_few_rows_or_to_select(
    connection: pykudu_sql.Connection,
) -> None:
    with (
        patch.object(scanned_rows, "MOST_ROWS", 1),
        patch.object(scanned_rows, "prepared_scan", wraps=scanned_rows.prepared_scan) as prepared,
    ):
        connection.execute("SELECT k, s FROM kinds WHERE a > 0")
    assert prepared.call_count == 1


def test_a_parameter_without_a_value_is_missed(connection: pykudu_sql.Connection) -> None:
    with pytest.raises(InterfaceError):
        connection.execute("SELECT k FROM kinds WHERE a = ?", ())


def test_what_may_be_large_is_left_to_the_engine(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT k, s FROM kinds WHERE k >= 0"
    assert not needs_engine(connection, sql)
    with patch.object(scanned_rows, "MOST_ROWS", 10):
        assert needs_engine(connection, sql)
        assert not needs_engine(connection, f"{sql} LIMIT 10")
    for setting in ("result_memory_bytes", "scan_memory_bytes"):
        connection.execute(f"SET {setting} = 1000")
        assert needs_engine(connection, sql)
        connection.execute(f"SET {setting} = DEFAULT")


def test_a_request_to_stop_ends_the_scan(connection: pykudu_sql.Connection) -> None:
    check = connection._session._state.cancellation.check
    checks: list[None] = []

    def stop_at_the_last(self: Cancellation) -> None:
        checks.append(None)
        if len(checks) == 4:
            raise QueryCancelledError("stopped")
        check()

    with (
        patch.object(Cancellation, "check", stop_at_the_last),
        pytest.raises(QueryCancelledError, match="stopped"),
    ):
        handed_on(connection, "SELECT k FROM kinds WHERE k > 3")
