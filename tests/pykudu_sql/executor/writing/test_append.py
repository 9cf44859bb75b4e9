"""Bulk append: what is taken as columns, and what is refused before a row is written."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.executor.writing.append import append
from pykudu_sql.executor.writing.present_keys import IN_APPEND
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DataError,
    InterfaceError,
    NotNullError,
    ProgrammingError,
    UndefinedColumnError,
    UndefinedTableError,
    ValueOutOfRangeError,
)
from pykudu_sql.storage.transaction.transaction import Transaction

Append = Callable[..., Outcome]


@pytest.fixture
def insert(connection: Connection, state: SessionState) -> Append:
    """Appends to a table with a key and a default."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, word STRING DEFAULT 'new')")

    def insert(data: object, name: str = "t", operation: str = "insert") -> Outcome:
        return append(state, name, data, operation)

    return insert


class Stream:
    """What offers Arrow's C stream, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "data",
    [
        {"k": [1, 2]},
        {"K": (1, 2)},
        {"k": np.array([1, 2])},
        {"k": np.array([1, "2"], dtype=object)},
        {"k": range(1, 3)},
        pa.table({"k": [1, 2]}),
        pa.record_batch({"k": [1, 2]}),
        Stream(pa.table({"k": [1, 2]})),
    ],
    ids=lambda data: type(data).__name__,
)
def test_columns_are_taken_in_any_shape_and_those_left_out_get_their_default(
    connection: Connection, insert: Append, data: object
) -> None:
    assert insert(data).message == "Inserted 2 row(s)"
    rows = connection.execute("SELECT * FROM t ORDER BY k").fetchall()
    assert rows == [(1, "new"), (2, "new")]


def test_columns_without_values_are_no_rows_and_a_key_is_needed_all_the_same(
    insert: Append,
) -> None:
    assert insert({"k": []}).rowcount == 0
    with pytest.raises(NotNullError, match="key column 'k'") as caught:
        insert({})
    assert caught.value.hint and caught.value.hint.startswith("each row needs the whole key (k)")
    with pytest.raises(NotNullError, match="key column 'k'") as caught:
        insert({"word": ["a"]}, operation="delete")
    assert caught.value.hint == "DELETE finds rows by their whole key"


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"k": [1, 2], "word": ["a"]}, DataError, r"differ in length \(k: 2, word: 1\)"),
        ({"k": [1], "K": [1]}, ProgrammingError, "column 'k' is given twice"),
        (pa.table([[1], [2]], names=["k", "k"]), ProgrammingError, "column 'k' is given twice"),
        ({"k": [1], "nope": [1]}, UndefinedColumnError, "column 'nope' does not exist"),
        ({"k": "12"}, InterfaceError, "column 'k' needs a sequence of values, not str"),
        ({"k": 1}, InterfaceError, "column 'k' needs a sequence of values, not int"),
        ([1, "a"], InterfaceError, "cannot append a list"),
    ],
)
def test_data_that_are_no_columns_of_the_table_are_refused(
    connection: Connection, insert: Append, data: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        insert(data)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_near_miss_of_a_name_is_suggested(insert: Append) -> None:
    with pytest.raises(UndefinedColumnError) as raised:
        insert({"k": [1], "wrod": ["a"]})
    assert raised.value.hint == "did you mean 'word'?"


def test_a_table_or_an_operation_that_does_not_exist_is_named(insert: Append) -> None:
    with pytest.raises(UndefinedTableError, match="'nope'"):
        insert({"k": [1]}, name="nope")
    with pytest.raises(ProgrammingError, match="no operation 'replace'"):
        insert({"k": [1]}, operation="replace")


def test_one_value_that_does_not_fit_refuses_all_rows(
    connection: Connection, insert: Append
) -> None:
    with pytest.raises(DataError, match="row 2, column 'k'"):
        insert({"k": [1, 1 << 40]})
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_collected_a_value_that_does_not_fit_costs_its_own_row_only(
    connection: Connection, state: SessionState, insert: Append
) -> None:
    connection.execute("SET row_errors = 'collect'")
    outcome = insert({"word": pa.array(["a", "b", "c", "d"]), "k": [1, "x", 1, 4]})
    assert outcome.message == "Inserted 2 row(s), 2 row(s) failed"
    assert [(error.position, error.key, error.status) for error in outcome.row_errors] == [
        (1, "(k) = (x)", "InvalidArgument"),
        (2, "(k) = (1)", "AlreadyPresent"),
    ]
    assert state.row_errors == outcome.row_errors
    rows = connection.execute("SELECT * FROM t ORDER BY k").fetchall()
    assert rows == [(1, "a"), (4, "d")]


@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_surplus_digits_are_rounded_half_away_from_zero(operation: str) -> None:
    given = ["1.004", "1.005", "-1.005", "9.994", "9.995", "0.000", None]
    values = [None if each is None else Decimal(each) for each in given]
    keys = pa.array(range(len(values)), pa.int32())
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n DECIMAL(9, 2))")
        rows = pa.table({"k": keys, "n": pa.array(values, pa.decimal128(4, 3))})
        connection.append("t", rows, operation=operation)
        stored = [n for (n,) in connection.execute("SELECT n FROM t ORDER BY k").fetchall()]
        expected = ["1.00", "1.01", "-1.01", "9.99", "10.00", "0.00"]
        assert stored == [*map(Decimal, expected), None]
        connection.execute("TRUNCATE TABLE t")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        written = [n for (n,) in connection.execute("SELECT n FROM t ORDER BY k").fetchall()]
        assert written == stored


def test_surplus_digits_before_the_point_are_an_error() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n DECIMAL(3, 2))")
        rows = pa.table({"k": pa.array([1], pa.int32()), "n": [Decimal("9.995")]})
        with pytest.raises(ValueOutOfRangeError, match="'n'"):
            connection.append("t", rows)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


WIDE = "a" * 1000


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each batch that is written from here on, in pieces of 4 KiB."""
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 4096)
    written: list[int] = []
    for name in ("insert", "write_batches"):
        write = getattr(Transaction, name)

        def noting(transaction, table, batches, write=write):  # type: ignore[no-untyped-def]
            def noted() -> Iterator[RowOperations]:
                for batch in batches:
                    written.append(batch.length)
                    yield batch

            return write(transaction, table, noted())

        monkeypatch.setattr(Transaction, name, noting)
    return written


@pytest.mark.parametrize("operation", ["insert", "upsert", "insert-ignore"])
@pytest.mark.parametrize("shape", ["dict", "table", "tuples"])
def test_large_texts_are_written_in_pieces(
    connection: Connection, insert: Append, small_pieces: list[int], shape: str, operation: str
) -> None:
    columns: dict[str, list[Any]] = {"k": [*range(30)], "word": [f"{WIDE}{k}" for k in range(30)]}
    tuples = [*zip(*columns.values(), strict=True)]
    rows = {"dict": columns, "table": pa.table(columns), "tuples": tuples}
    assert insert(rows[shape], operation=operation).rowcount == 30
    assert sum(small_pieces) == 30
    assert max(small_pieces) <= 4
    stored = connection.execute("SELECT k, word FROM t ORDER BY k").fetchall()
    assert stored == tuples


def test_a_row_of_a_later_piece_is_named_by_its_place_and_undoes_the_others(
    connection: Connection, insert: Append, small_pieces: list[int]
) -> None:
    words: list[Any] = [WIDE] * 20
    with pytest.raises(DataError, match="row 21, column 'word'"):
        insert({"k": [*range(21)], "word": [*words, object()]})
    with pytest.raises(pykudu_sql.IntegrityError):
        insert({"k": [*range(20), 3], "word": [*words, WIDE]})
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
    assert small_pieces


def test_small_texts_are_one_batch(insert: Append, small_pieces: list[int]) -> None:
    assert insert({"k": [*range(300)], "word": ["abc"] * 300}).rowcount == 300
    assert small_pieces == []


def test_a_value_without_a_size_is_no_matter_of_pieces(insert: Append) -> None:
    class Sizeless:
        def __sizeof__(self) -> int:
            raise ValueError("no size")

    with pytest.raises(DataError, match="cannot read a Sizeless"):
        insert({"k": [1], "word": [Sizeless()]})


@pytest.mark.parametrize("keys", [[1], [2, 2]], ids=["present", "twice"])
def test_a_key_that_is_there_is_answered_with_what_append_can_do(
    insert: Append, keys: list[int]
) -> None:
    insert({"k": [1]})
    with pytest.raises(AlreadyPresentError) as caught:
        insert({"k": keys})
    assert caught.value.hint == IN_APPEND
    for operation in re.findall("operation='(.*?)'", IN_APPEND):
        assert operation in {kind.lower() for kind in RowOpKind.__members__}
        insert({"k": keys}, operation=operation)
