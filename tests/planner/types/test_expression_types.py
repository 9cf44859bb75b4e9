"""The derived types are those that the engine gives the same expressions."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.constant_folding.moment import fold_current
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.types.return_types import RETURN_TYPES
from pykudu_sql.planner.value_bounds.value_bounds import bound_values
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS
from pykudu_sql.storage.common.types.type_names import format_engine_type
from pykudu_sql.storage.errors import ProgrammingError

CALLS = Path(__file__).parents[1] / "functions" / "calls.sql"
COLUMNS = {
    "tiny": "TINYINT",
    "small": "SMALLINT",
    "i": "INT",
    "big": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "m": "DECIMAL(9,2)",
    "p": "DECIMAL(18,6)",
    "w": "DECIMAL(38,10)",
    "x": "DECIMAL(38,38)",
}
OTHERS = {"s": "STRING", "v": "VARCHAR(3)", "b": "BOOLEAN", "y": "BINARY", "day": "DATE"}
LITERALS = ("1", "-1", "200", "70000", "3000000000", "1.5", "0.05", "1e3", "12345678901234567890")
FORMS = (
    "{0}", "-({0})", "abs({0})", "sum({0})", "avg({0})", "min({0})", "count({0})", "[{0}]",
    "[{0}][1]", "[[{0}]][1][1]",
    "coalesce({0}, NULL)", "sum(DISTINCT {0})", "max({0}) OVER ()", "lag({0}) OVER (ORDER BY k)",
    "CAST({0} AS DECIMAL(20, 3))", "CAST({0} AS STRING)", "{0} IS NULL", "round({0}, 1)",
    "list_transform([{0}], e -> e)", "list_transform([[{0}]], e -> list_transform(e, g -> g))",
    "{{'a': {0}}}.a", "first({0} ORDER BY k)", "sum({0}) FILTER (WHERE k > 1)",
    "approx_quantile({0}, 0.5)",
)  # fmt: skip
SOURCES = (
    "SELECT z.c FROM (SELECT {0} AS c FROM t) z",
    "WITH z AS (SELECT {0} FROM t) SELECT c FROM z z(c)",
    "SELECT (SELECT {0} FROM t) AS c",
    "SELECT q.st.a FROM (SELECT {{'a': {0}}} AS st FROM t) q",
    "SELECT u FROM t, unnest([{0}]) AS n(u)",
    "SELECT unnest([{0}]) FROM t",
    "SELECT {0} AS c FROM t UNION ALL SELECT NULL",
    "SELECT c FROM (SELECT {0} AS c FROM t) z JOIN (SELECT {0} AS c FROM t) y USING (c)",
)


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    columns = ", ".join(f"{name} {kind}" for name, kind in (COLUMNS | OTHERS).items())
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute(f"CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP, {columns})")
        yield opened


def derived(connection: pykudu_sql.Connection, sql: str, *, asks: bool) -> list[str | None]:
    """The types of a query's columns; "?" for what no rule tells where the engine is not asked."""
    context: PlanContext = connection._session._planner.context(
        connection._session._state.visible_catalog
    )
    asked: list[str] = []

    def refuse(question: str) -> Any:
        asked.append(question)
        raise ProgrammingError("not asked")

    types = ExpressionTypes(
        context if asks else replace(context, evaluate=refuse),
        lambda node: bound_values(apply_rules(node)),
    )
    query = bind(parse(sql), context)
    return [
        "?" if name is None and asked else name
        for _, name in types.of_columns(fold_current(query.tree, context))
    ]


def by_the_engine(connection: pykudu_sql.Connection, sql: str) -> list[str]:
    return [row[1] for row in connection.execute(f"DESCRIBE {sql}").fetchall()]


def check(connection: pykudu_sql.Connection, sql: str, *, asks: bool) -> bool:
    """Compare the derived types of a query with the engine's; whether rules told them all."""
    names = derived(connection, sql, asks=asks)
    if "?" in names:
        return False
    expected = by_the_engine(connection, sql)
    assert [format_engine_type(str(name)) for name in names] == expected, sql
    return True


@pytest.mark.parametrize("column", COLUMNS)
def test_what_is_computed_of_a_number_has_the_type_of_the_engine(
    connection: pykudu_sql.Connection, column: str
) -> None:
    for form in FORMS:
        items = form.format(column)
        groups = " GROUP BY ALL" if "sum(" in form or "avg(" in form else ""
        check(connection, f"SELECT {items} FROM t{groups}", asks=True)
    for source in SOURCES:
        check(connection, source.format(column), asks=True)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "=", "<"])
def test_an_operator_has_the_type_of_the_engine(
    connection: pykudu_sql.Connection, operator: str
) -> None:
    for left in COLUMNS:
        too_wide = TOO_WIDE if operator == "*" else ()
        rights = [each for each in (*COLUMNS, *LITERALS) if (left, each) not in too_wide]
        items = [f"{a} {operator} {b}" for r in rights for a, b in ((left, r), (r, left))]
        sql = f"SELECT {', '.join(items)} FROM t"
        assert check(connection, sql, asks=False), sql


# Products of decimals with more than 38 digits behind the point, which the engine refuses.
TOO_WIDE = {
    *(("x", other) for other in ("m", "p", "w", "x", "1.5", "0.05")),
    *((other, "x") for other in ("m", "p", "w", "x")),
}


def test_one_of_several_values_has_the_type_of_the_engine(
    connection: pykudu_sql.Connection,
) -> None:
    for left, right in product(COLUMNS, (*COLUMNS, *LITERALS)):
        forms = (f"coalesce({left}, {right})", f"[{right}, {left}]", f"greatest({left}, {right})")
        sql = f"SELECT {', '.join(forms)}, CASE WHEN k > 1 THEN {left} ELSE {right} END FROM t"
        check(connection, sql, asks=True)


@pytest.mark.parametrize("column", OTHERS)
def test_other_columns_have_the_type_of_the_engine(
    connection: pykudu_sql.Connection, column: str
) -> None:
    forms = "{0}, min({0}), coalesce({0}, NULL), [{0}], [{0}][1], {0} = {0}, count({0})"
    check(connection, f"SELECT {forms.format(column)} FROM t GROUP BY ALL", asks=False)


def test_a_call_has_the_type_of_the_engine(connection: pykudu_sql.Connection) -> None:
    calls = [c for c in CALLS.read_text(encoding="utf-8").splitlines() if not c.startswith("--")]
    told = 0
    for call in calls:
        groups = " GROUP BY k" if call.startswith("grouping") else ""
        sql = f"SELECT {call} FROM t{groups}"
        told += check(connection, sql, asks=False)
    assert told > len(calls) / 3


def test_the_table_of_return_types_has_functions_of_the_dialect() -> None:
    assert set(RETURN_TYPES) <= set(FUNCTIONS)
