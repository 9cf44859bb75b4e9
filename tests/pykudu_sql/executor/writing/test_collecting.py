"""Rows whose values fit no cell, found by halving and reported beside the others."""

import time

import pyarrow as pa
import pytest

from pykudu_sql import Connection, Error
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.collecting import (
    FittingRows,
    collect_columns,
    faults,
    key_of,
    row_error,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import MAX_ROW_ERRORS, RowResults
from pykudu_sql.storage.errors import DataError, NotNullError


@pytest.fixture
def table(connection: Connection, state: SessionState) -> TableInfo:
    """With a key of two columns and the row (1, 'a')."""
    connection.execute("CREATE TABLE t (k INT, word STRING, v INT, PRIMARY KEY (k, word))")
    connection.execute("INSERT INTO t VALUES (1, 'a', 10)")
    return state.catalog.table("t")


@pytest.mark.parametrize("bad", [set(), {0}, {6}, {2, 3, 5}, set(range(7))])
def test_halving_ends_at_the_values_at_fault(bad: set[int]) -> None:
    def attempt(start: int, stop: int) -> None:
        wrong = sorted(bad & set(range(start, stop)))
        if wrong:
            raise DataError(f"value {wrong[0]}")

    errors = faults(7, attempt)
    assert {place: error.message for place, error in errors.items()} == {
        place: f"value {place}" for place in bad
    }


def test_no_values_are_not_attempted() -> None:
    attempts: list[tuple[int, int]] = []
    assert faults(0, lambda start, stop: attempts.append((start, stop))) == {}
    assert attempts == []


def test_rows_that_fit_are_written_and_the_others_reported_in_order(
    connection: Connection, state: SessionState, table: TableInfo
) -> None:
    columns = {
        0: pa.array([1, 1 << 40, 3, 4]),
        1: pa.array(["a", "b", "c", "d"]),
        2: pa.array(["1", "2", "x", "4"]),
    }
    results = state.transactions.write(
        lambda t: collect_columns(t, table, RowOpKind.INSERT, columns)
    )
    assert (results.applied, results.failed) == (1, 3)
    assert [(e.position, e.key, e.status) for e in results.errors] == [
        (0, "(k, word) = (1, a)", "AlreadyPresent"),
        (1, f"(k, word) = ({1 << 40}, b)", "InvalidArgument"),
        (2, "(k, word) = (3, c)", "InvalidArgument"),
    ]
    assert connection.execute("SELECT k, v FROM t ORDER BY k").fetchall() == [(1, 10), (4, 4)]


@pytest.mark.parametrize("chunks", [1, 2])
def test_a_value_that_comes_again_is_attempted_once(
    state: SessionState, table: TableInfo, chunks: int
) -> None:
    attempts: list[None] = []
    words = pa.array([["x", None, "y", "7"][i % 4] for i in range(4000)])
    columns = {
        0: pa.array(range(10, 4010)),
        1: pa.array(["w"] * 4000),
        2: words if chunks == 1 else pa.chunked_array([words[:1001], words[1001:]]),
    }
    results = state.transactions.write(
        lambda t: collect_columns(
            t, table, RowOpKind.INSERT, columns, lambda: attempts.append(None)
        )
    )
    assert (results.applied, results.failed) == (2000, 2000)
    assert [error.position for error in results.errors] == [
        row for row in range(4000) if row % 4 in (0, 2)
    ]
    assert len(attempts) < 20


def test_values_of_a_dictionary_are_found_too(state: SessionState, table: TableInfo) -> None:
    values = pa.array(["x", "y", "x"]).dictionary_encode()
    columns = {0: pa.array([5, 6, 7]), 1: pa.array(["w"] * 3), 2: values}
    results = state.transactions.write(
        lambda t: collect_columns(t, table, RowOpKind.INSERT, columns)
    )
    assert (results.applied, results.failed) == (0, 3)


@pytest.mark.parametrize("way", ["query", "append", "arrow", "executemany"])
def test_a_search_for_bad_values_ends_with_the_time_limit(connection: Connection, way: str) -> None:
    connection.execute("CREATE TABLE days (id BIGINT PRIMARY KEY, day DATE)")
    connection.execute("SET row_errors = 'collect'")
    texts = [f"no day {i}" for i in range(30_000)]
    ids = list(range(30_000))
    connection.execute("SET statement_timeout = 300")
    begun = time.monotonic()
    with pytest.raises(Error) as caught:
        if way == "query":
            connection.execute("INSERT INTO days SELECT i, 'no day ' || i FROM range(30000) r(i)")
        elif way == "append":
            connection.append("days", {"id": ids, "day": texts})
        elif way == "arrow":
            connection.append("days", pa.table({"id": ids, "day": texts}))
        else:
            connection.executemany(
                "INSERT INTO days VALUES (?, ?)", list(zip(ids, texts, strict=True))
            )
    assert caught.value.sqlstate == "57014"
    assert time.monotonic() - begun < 5


def test_a_key_is_shown_without_the_columns_that_were_not_given(table: TableInfo) -> None:
    assert key_of(table, {1: pa.array(["a", None]), 2: pa.array([1, 2])}, 1) == "(word) = (None)"


def test_positions_of_a_batch_become_those_of_the_statement() -> None:
    refused = row_error(1, "(k) = (9)", NotNullError("no value"))
    outside = row_error(2, "(k) = (x)", DataError("no number"))
    rows = FittingRows(RowOperations(RowOpKind.INSERT, {}, 2), [0, 4], [outside], 5)
    together = rows.reported(RowResults(1, 0, 1, (refused,)))
    assert [(error.position, error.key) for error in together.errors] == [
        (2, "(k) = (x)"),
        (4, "(k) = (9)"),
    ]
    assert (together.applied, together.ignored, together.failed) == (1, 2, 2)


def test_all_failures_are_counted_and_the_first_are_kept() -> None:
    many = [row_error(place, "", DataError("bad")) for place in range(MAX_ROW_ERRORS + 5)]
    rows = FittingRows(RowOperations(RowOpKind.INSERT, {}, 0), [], many[::-1], len(many))
    together = rows.reported(RowResults(0, 0, 0, ()))
    assert together.failed == MAX_ROW_ERRORS + 5
    assert [error.position for error in together.errors] == list(range(MAX_ROW_ERRORS))
