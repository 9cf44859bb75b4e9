"""Rows proposed by an INSERT with ON CONFLICT, and the scan of those that they meet."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.conflicts import proposed_rows, target_scan_of
from pykudu_sql.planner.plan.change_plans import ConflictInsert, Repeated
from pykudu_sql.storage.common.predicate.column_predicate import NEVER, Comparison, InList, Op
from pykudu_sql.storage.errors import DataError, IntegrityError

SQL = "INSERT INTO t (k) VALUES (?), (?), (?) ON CONFLICT DO UPDATE SET v = excluded.v"


@pytest.fixture
def plan(connection: Connection, planned: Callable[[str], Any]) -> ConflictInsert:
    """Of three rows, by their keys alone."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING DEFAULT 'new')")
    planned_insert = planned(SQL)
    assert isinstance(planned_insert, ConflictInsert)
    return planned_insert


def proposed(state: SessionState, plan: ConflictInsert, *keys: Any) -> list[list[Any]]:
    columns = proposed_rows(state, plan, keys, state.transactions.reading())
    return [columns[column.id].to_pylist() for column in plan.table.schema.columns]


def test_rows_are_completed_by_defaults(state: SessionState, plan: ConflictInsert) -> None:
    assert proposed(state, plan, 3, 1, 2) == [[3, 1, 2], ["new"] * 3]


def test_a_value_that_does_not_fit_is_an_error(state: SessionState, plan: ConflictInsert) -> None:
    with pytest.raises(DataError, match="'k'"):
        proposed(state, plan, 1, 2, 1 << 40)


def test_a_key_that_is_proposed_twice_is_refused_where_the_row_would_change_twice(
    state: SessionState, plan: ConflictInsert
) -> None:
    assert plan.repeated is Repeated.REFUSED
    with pytest.raises(IntegrityError, match="a row of table 't' more than once"):
        proposed(state, plan, 1, 2, 1)


def test_of_a_key_that_is_proposed_twice_the_first_or_the_last_row_may_count(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    plan = planned("INSERT INTO t VALUES (2, 1), (1, 2), (2, 3) ON CONFLICT DO UPDATE SET v = 0")
    first = proposed(state, replace(plan, repeated=Repeated.FIRST))
    last = proposed(state, replace(plan, repeated=Repeated.LAST))
    assert first == [[2, 1], [1, 2]]
    assert last == [[1, 2], [2, 3]]


def narrowed(plan: ConflictInsert, keys: pa.Array) -> Any:
    (scan,) = target_scan_of(plan, {0: keys}).scans
    return scan.predicate


def test_few_keys_are_looked_up_one_by_one(plan: ConflictInsert) -> None:
    assert narrowed(plan, pa.array([5, 2, 5], pa.int32())) == InList(0, (5, 2))


def test_many_keys_are_looked_up_by_their_range(plan: ConflictInsert) -> None:
    predicate = narrowed(plan, pa.array(range(1001), pa.int32()))
    assert set(predicate.parts) == {Comparison(0, Op.GE, 0), Comparison(0, Op.LE, 1000)}


def test_without_rows_nothing_is_scanned(plan: ConflictInsert) -> None:
    assert narrowed(plan, pa.array([], pa.int32())) == NEVER


def test_a_query_that_reads_the_table_for_other_reasons_scans_it_whole(
    plan: ConflictInsert,
) -> None:
    other = replace(plan, target_scan=None)
    assert target_scan_of(other, {0: pa.array([1], pa.int32())}) is plan.change.query
