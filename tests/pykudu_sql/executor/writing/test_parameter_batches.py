"""Many sets of parameters in pieces: the same rows, counts and errors as of one batch."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.executor.writing.parameter_batches import have_few_bytes, pieces
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.transaction.transaction import Transaction

WIDE = "a" * 1000
MANY = 40
NUMBER, TEXT = DataType(Kind.INT32), DataType(Kind.STRING)
VALUES = (Parameter(0, NUMBER, "k"), Parameter(1, TEXT, "x"))


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 4096)
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, x STRING, n INT)")
        yield opened


def lengths(connection: Connection) -> dict[int, int]:
    return dict(connection.execute("SELECT k, length(x) FROM t").fetchall())


def fill(connection: Connection) -> None:
    rows = [(place, WIDE, place) for place in range(MANY)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)


def test_a_large_batch_is_inserted_a_piece_at_a_time(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[int] = []
    insert = Transaction.insert

    def noting(transaction: Transaction, table, batches) -> int:  # type: ignore[no-untyped-def]
        def noted() -> Iterator[RowOperations]:
            for batch in batches:
                converted.append(batch.length)
                yield batch

        return insert(transaction, table, noted())

    monkeypatch.setattr(Transaction, "insert", noting)
    cursor = connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?)", [(place, WIDE, 1) for place in range(MANY)]
    )
    assert cursor.rowcount == sum(converted) == MANY
    assert max(converted) == 4
    assert lengths(connection) == dict.fromkeys(range(MANY), len(WIDE))


def test_constants_make_pieces_as_parameters_do(connection: Connection) -> None:
    rows = [(place,) for place in range(MANY)]
    cursor = connection.executemany(f"INSERT INTO t VALUES (?, '{WIDE}', 1)", rows)
    assert cursor.rowcount == MANY == len(lengths(connection))


def test_a_large_batch_of_changes_writes_the_same_rows(connection: Connection) -> None:
    fill(connection)
    longer = [(WIDE + "b" * place, place) for place in range(MANY + 5)]
    cursor = connection.executemany("UPDATE t SET x = ? WHERE k = ?", longer)
    assert cursor.rowcount == MANY
    assert lengths(connection) == {place: 1000 + place for place in range(MANY)}
    upserted = [(place, WIDE, place) for place in range(MANY // 2, MANY * 2)]
    cursor = connection.executemany("UPSERT INTO t VALUES (?, ?, ?)", upserted)
    assert cursor.rowcount == len(upserted)
    assert len(lengths(connection)) == MANY * 2


def test_of_one_key_in_two_pieces_the_last_counts_for_an_update(connection: Connection) -> None:
    fill(connection)
    rows = [(WIDE * (1 + place // MANY), place % MANY) for place in range(MANY * 2)]
    connection.executemany("UPDATE t SET x = ? WHERE k = ?", rows)
    assert set(lengths(connection).values()) == {2 * len(WIDE)}


def test_of_one_key_in_two_pieces_the_first_counts_for_insert_or_ignore(
    connection: Connection,
) -> None:
    rows = [(place % MANY, WIDE * (1 + place // MANY), place) for place in range(MANY * 2)]
    cursor = connection.executemany("INSERT OR IGNORE INTO t VALUES (?, ?, ?)", rows)
    assert cursor.rowcount == MANY
    assert set(lengths(connection).values()) == {len(WIDE)}


def test_rows_whose_keys_are_wide_are_deleted_in_pieces(connection: Connection) -> None:
    connection.execute("CREATE TABLE wide (k STRING PRIMARY KEY, n INT)")
    keys = [(WIDE + str(place),) for place in range(MANY)]
    connection.executemany("INSERT INTO wide VALUES (?, 1)", keys)
    assert connection.executemany("DELETE FROM wide WHERE k = ?", keys[3:]).rowcount == MANY - 3
    assert len(connection.execute("SELECT k FROM wide").fetchall()) == 3


def test_a_row_that_does_not_fit_undoes_every_piece_and_is_counted_from_the_first(
    connection: Connection,
) -> None:
    rows = [(place, WIDE, 1) for place in range(MANY)]
    with pytest.raises(pykudu_sql.DataError, match="row 31, column 'n'"):
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [*rows[:30], (30, WIDE, "one")])
    assert lengths(connection) == {}
    with pytest.raises(pykudu_sql.IntegrityError, match="k"):
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [*rows, (2, WIDE, 1)])
    assert lengths(connection) == {}


def test_an_inexact_key_in_a_later_piece_is_compared_by_the_engine(connection: Connection) -> None:
    fill(connection)
    rows = [*((WIDE + "b", place) for place in range(30)), ("c", "31")]
    connection.executemany("UPDATE t SET x = ? WHERE k = ?", rows)
    assert lengths(connection)[31] == 1


def test_pieces_belong_to_an_open_transaction(connection: Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t VALUES (1000, 'x', 1)")
    fill(connection)
    connection.executemany(
        "UPDATE t SET x = ? WHERE k = ?", [(WIDE * 2, place) for place in (*range(MANY), 1000)]
    )
    assert set(lengths(connection).values()) == {2 * len(WIDE)}
    connection.execute("ROLLBACK")
    assert lengths(connection) == {}


def test_a_cancelled_batch_stops_between_pieces(connection: Connection) -> None:
    connection.execute("SET statement_timeout = 1")
    rows = [(place, WIDE * 60, 1) for place in range(100)]
    with pytest.raises(pykudu_sql.OperationalError) as raised:
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    assert raised.value.sqlstate == "57014"
    connection.execute("SET statement_timeout = 0")
    assert lengths(connection) == {}


def sized(*sizes: int) -> list[tuple[int, str]]:
    return [(place, "a" * size) for place, size in enumerate(sizes)]


def test_small_texts_are_one_piece() -> None:
    assert pieces(VALUES, sized(*[10] * 50), 1000) == [range(50)]
    assert pieces(VALUES, [], 1000) == [range(0)]


def test_a_piece_has_as_many_sets_as_fit() -> None:
    assert pieces(VALUES, sized(400, 400, 400, 100, 500, 900), 1000) == [
        range(2), range(2, 5), range(5, 6),
    ]  # fmt: skip


def test_a_set_that_is_larger_than_a_piece_is_one() -> None:
    assert pieces(VALUES, sized(5000, 10, 5000, 5000), 1000) == [
        range(1), range(1, 2), range(2, 3), range(3, 4),
    ]  # fmt: skip


def test_constants_count_for_every_set() -> None:
    rows: list[tuple[int]] = [(place,) for place in range(6)]
    assert pieces((Parameter(0, NUMBER, "k"), "a" * 400), rows, 1000) == [
        range(2), range(2, 4), range(4, 6),
    ]  # fmt: skip


def test_names_of_parameters_and_null_are_measured_too() -> None:
    values = (Parameter("x", TEXT, "x"),)
    rows: Sequence[Mapping[str, Any]] = [{"x": "a" * 900}, {"x": None}, {"x": b"a" * 900}]
    assert pieces(values, rows, 1000) == [range(2), range(2, 3)]


@pytest.mark.parametrize("rows", [[(1,), (2,)], [{"x": 1}, {"x": 2}], [None, None]])
def test_values_that_are_missing_are_no_matter_of_pieces(rows: Sequence[Any]) -> None:
    assert pieces(VALUES, rows, 0) == [range(2)]


@pytest.mark.parametrize(
    ("columns", "few"),
    [([["ab", None, ""]], True), ([["ab"], [b"ab"]], True), ([["a" * 26]], False),
     ([[1]], False), ([[object()]], False), ([], True)],
)  # fmt: skip
def test_lengths_of_texts_say_that_they_have_few_bytes(columns: list[list[Any]], few: bool) -> None:
    assert have_few_bytes(columns, 100) is few


def test_pieces_are_all_sets_in_their_order() -> None:
    rows = sized(*(place * 37 % 700 for place in range(300)))
    assert list(chain.from_iterable(pieces(VALUES, rows, 1500))) == [*range(300)]
