"""The engine says the types of computed numbers once for all values of the same types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.engine.query_engine import EngineResult, QueryEngine, Relation
from pykudu_sql.executor.computed_types import MAX_ANSWERS, ComputedTypes
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ComputedNumbers

SUM = ComputedNumbers("SELECT [typeof($1 + 0)]", (0,), 20, 4, follows=True)
LEASTS = [-(1 << 63) - 1, -(1 << 63), -(1 << 31) - 1, -(1 << 31), -1]
MOSTS = [0, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64]
DECIMALS = [Decimal(text) for text in ("0", "1.5", "-1.5", "15", "0.05", "1e3", "1e-38", "12.50")]


class AskedEngine:
    """An engine that counts the statements it runs."""

    def __init__(self, engine: QueryEngine[Relation]) -> None:
        self._engine = engine
        self.count = 0

    def execute(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> EngineResult:
        self.count += 1
        return self._engine.execute(sql, relations, parameters)

    def interrupt(self) -> None:
        self._engine.interrupt()

    def close(self) -> None:
        self._engine.close()


@pytest.fixture
def engine(state: SessionState) -> AskedEngine:
    return AskedEngine(state.engine)


def test_values_of_the_same_types_are_asked_for_once(engine: AskedEngine) -> None:
    types = ComputedTypes(lambda: engine)
    assert [types.names(SUM, [value]) for value in (1, 7, 1 << 30)] == [("INTEGER",)] * 3
    assert engine.count == 1
    assert types.names(SUM, [Decimal("1.50")]) == types.names(SUM, [Decimal("7.25")])
    assert engine.count == 2


def test_what_is_kept_is_what_the_engine_says_of_each_value(engine: AskedEngine) -> None:
    types = ComputedTypes(lambda: engine)
    values = [*LEASTS, *MOSTS, *DECIMALS, 1.5, None]
    kept = [types.names(SUM, [value]) for value in values * 2]
    assert kept == [ComputedTypes(lambda: engine).names(SUM, [value]) for value in values * 2]


def test_types_that_values_decide_are_asked_for_at_each_run(engine: AskedEngine) -> None:
    rounded = "SELECT [typeof(round(CAST(1 AS DECIMAL(10,5)), $1))]"
    types = ComputedTypes(lambda: engine)
    by_value = replace(SUM, sql=rounded, follows=False)
    assert types.names(by_value, [2]) == ("DECIMAL(10,2)",)
    assert types.names(by_value, [3]) == ("DECIMAL(10,3)",)


def test_the_answers_that_are_kept_are_bounded(engine: AskedEngine) -> None:
    types = ComputedTypes(lambda: engine)
    for number in range(MAX_ANSWERS + 1):
        types.names(replace(SUM, sql=f"{SUM.sql} /* {number} */"), [1])
    types.names(replace(SUM, sql=f"{SUM.sql} /* {MAX_ANSWERS} */"), [1])
    assert engine.count == MAX_ANSWERS + 1
    types.names(replace(SUM, sql=f"{SUM.sql} /* 0 */"), [1])
    assert engine.count == MAX_ANSWERS + 2


def test_a_statement_that_runs_again_with_like_values_asks_nothing(
    connection: Connection, state: SessionState, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, p DECIMAL(20, 4))")
    connection.execute("INSERT INTO t VALUES (1, 5)")
    asked: list[str] = []
    execute: Callable[..., EngineResult] = state.engine.execute

    def noted(sql: str, *others: Any) -> EngineResult:
        asked.append(sql)
        return execute(sql, *others)

    monkeypatch.setattr(state.engine, "execute", noted)
    query = "SELECT k FROM t WHERE p > ? + 0"
    rows = [connection.execute(query, (value,)).fetchall() for value in (1, 7)]
    assert rows == [[(1,)], []]
    assert len([sql for sql in asked if sql.startswith("SELECT [typeof")]) == 1
