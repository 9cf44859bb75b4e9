"""Decimals that meet in any position keep their digits, or are refused by an error that says so."""

import operator
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import DataError, Error, ProgrammingError

TYPES = ((38, 38), (38, 0), (38, 20), (20, 4), (9, 2))
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">=": operator.ge,
}
REFUSALS = {"22003", "42804"}
ASIS = ("{0}", "abs({0})", "coalesce({0}, NULL)", "(SELECT {0})", "max({0}) OVER (PARTITION BY k)")


def cell(random: Random, precision: int, scale: int) -> Decimal:
    top = 10**precision - 1
    units = random.choice(
        (0, 1, top, top // 3, 5 * 10 ** max(scale - 1, 0), random.randint(0, top))
    )
    return Decimal((0, tuple(map(int, str(min(units, top)))), -scale))


@pytest.fixture(scope="module")
def rows() -> list[list[Decimal]]:
    random = Random(11)
    return [[cell(random, *each) for each in TYPES] for _ in range(8)]


@pytest.fixture(scope="module")
def connection(rows: list[list[Decimal]]) -> Iterator[pykudu_sql.Connection]:
    columns = ", ".join(f"c{i} DECIMAL({p},{s})" for i, (p, s) in enumerate(TYPES))
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute(f"CREATE TABLE t (k INT PRIMARY KEY, {columns})")
        marks = ", ".join("?" * (len(TYPES) + 1))
        values = [(k, *row) for k, row in enumerate(rows)]
        opened.executemany(f"INSERT INTO t VALUES ({marks})", values)
        yield opened


def answer(connection: pykudu_sql.Connection, sql: str) -> list[Any] | None:
    """The first column of a query's rows; None where it is refused as it may be."""
    try:
        return [row[0] for row in connection.execute(sql).fetchall()]
    except Error as error:
        assert isinstance(error, DataError | ProgrammingError), sql
        assert error.sqlstate in REFUSALS, (sql, error)
        return None


@pytest.mark.parametrize("asis", ASIS)
def test_what_is_computed_is_compared_exactly(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], asis: str
) -> None:
    for a, b in product(range(len(TYPES)), repeat=2):
        compared = ", ".join(
            f"{asis.format(f'c{a}')} {word} c{b} AS v{i}" for i, word in enumerate(OPERATORS)
        )
        sql = f"SELECT * EXCLUDE (k) FROM (SELECT k, {compared} FROM t) ORDER BY k"
        expected = [tuple(holds(row[a], row[b]) for holds in OPERATORS.values()) for row in rows]
        assert connection.execute(sql).fetchall() == expected, sql


@pytest.mark.parametrize(
    "form", ["c{0} IN (SELECT c{1} FROM t)", "c{0} = ANY (SELECT c{1} FROM t)"]
)
def test_a_value_is_looked_for_exactly_among_those_of_a_query(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], form: str
) -> None:
    for a, b in product(range(len(TYPES)), repeat=2):
        among = {row[b] for row in rows}
        sql = f"SELECT {form.format(a, b)} FROM t ORDER BY k"
        assert answer(connection, sql) == [row[a] in among for row in rows], sql


CHOICES: Mapping[str, Callable[[Decimal, Decimal], Any]] = {
    "coalesce(c{0}, c{1})": lambda a, b: a,
    "coalesce(NULL, c{1}, c{0})": lambda a, b: b,
    "least(c{0}, c{1})": min,
    "greatest(c{0}, c{1})": max,
    "CASE WHEN k % 2 >= 0 THEN c{0} ELSE c{1} END": lambda a, b: a,
    "if(k < 0, c{0}, c{1})": lambda a, b: b,
    "nullif(c{0}, c{1})": lambda a, b: None if a == b else a,
    "nvl2(k, c{0}, c{1})": lambda a, b: a,
    "[c{0}, c{1}][1]": lambda a, b: a,
    "list_max([c{0}, c{1}])": max,
    "lag(c{0}, 99, c{1}) OVER (ORDER BY k)": lambda a, b: b,
    "CASE c{0} WHEN c{1} THEN c{1} ELSE c{0} END": lambda a, b: a,
}


@pytest.mark.parametrize("form", CHOICES)
def test_a_value_of_several_decimals_is_none_of_them_rounded(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], form: str
) -> None:
    for a, b in product(range(len(TYPES)), repeat=2):
        expected = [CHOICES[form](row[a], row[b]) for row in rows[:3]]
        sql = f"SELECT {form.format(a, b)} FROM (SELECT * FROM t WHERE k {{}}) ORDER BY k"
        if answer(connection, sql.format("< 3")) == expected:
            continue
        for k, value in enumerate(expected):  # One of them may be refused.
            given = answer(connection, sql.format(f"= {k}"))
            assert given in (None, [value]), (sql, k, value, given)


@pytest.mark.parametrize("word", ["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
def test_a_set_operation_rounds_no_decimal(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], word: str
) -> None:
    combine = {"EXCEPT": set.difference, "INTERSECT": set.intersection}.get(word, set.union)
    for (a, b), k in product(product(range(len(TYPES)), repeat=2), range(0, len(rows), 3)):
        one, other = rows[k][a], rows[k][b]
        sql = f"SELECT c{a} FROM t WHERE k = {k} {word} SELECT c{b} FROM t WHERE k = {k}"
        given = answer(connection, sql)
        assert given is None or set(given) == combine({one}, {other}), (sql, one, other, given)


UNITING: Mapping[str, Callable[[Decimal, Decimal], list[Decimal]]] = {
    "SELECT coalesce(c{0}, ?) FROM t WHERE k = {1}": lambda a, b: [a],
    "SELECT coalesce(?, c{0}) FROM t WHERE k = {1}": lambda a, b: [b],
    "SELECT greatest(c{0}, ?) FROM t WHERE k = {1}": lambda a, b: [max(a, b)],
    "SELECT if(k < 0, c{0}, -?) FROM t WHERE k = {1}": lambda a, b: [b.copy_negate()],
    "SELECT unnest([c{0}, ?]) FROM t WHERE k = {1}": lambda a, b: [a, b],
    "SELECT c{0} FROM t WHERE k = {1} UNION ALL SELECT ?": lambda a, b: [a, b],
    "SELECT lag(c{0}, 1, ?) OVER () FROM t WHERE k = {1}": lambda a, b: [b],
    "SELECT list_transform([c{0}], x -> coalesce(NULL, ?, x))[1] FROM t WHERE k = {1}": (
        lambda a, b: [b]
    ),
}


@pytest.mark.parametrize("form", UNITING)
def test_a_parameter_that_becomes_one_value_with_decimals_rounds_none(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], form: str
) -> None:
    exact = 0
    for (a, k), given in product(
        product(range(len(TYPES)), range(2)),
        ("0", "5.5", "-0.005", "1E+36", f"0.{'7' * 38}", f"{'7' * 38}"),
    ):
        sql, value = form.format(a, k), Decimal(given)
        try:
            answered = [row[0] for row in connection.execute(sql, (value,)).fetchall()]
        except DataError as error:
            assert error.sqlstate == "22003", (sql, value)
            continue
        exact += 1
        assert sorted(answered) == sorted(UNITING[form](rows[k][a], value)), (sql, value)
    assert exact >= 12


def test_integers_texts_and_null_become_one_value_with_decimals(
    connection: pykudu_sql.Connection,
) -> None:
    first = connection.execute("SELECT c0 FROM t WHERE k = 1").fetchall()[0][0]
    sql = "SELECT coalesce(c0, ?) FROM t WHERE k = 1"
    assert connection.execute(sql, (0,)).fetchall() == [(first,)]
    assert connection.execute(sql, (None,)).fetchall() == [(first,)]
    assert connection.execute(sql, (0.5,)).fetchall() == [(float(first),)]
    with pytest.raises(DataError, match=r"parameter 5 and DECIMAL.38,38. have no type"):
        connection.execute(sql, (5,))
    assert connection.execute("SELECT coalesce(?, ?)", (None, "a")).fetchall() == [("a",)]


@pytest.mark.parametrize(
    "form",
    [
        "list_transform([c0], x -> coalesce(x, {}))[1]",
        "[coalesce(x, {}) for x in [c0]][1]",
        "list_reduce([c0, c0], (x, y) -> least(x, y, {}))",
    ],
)
def test_a_variable_of_a_list_function_has_the_type_of_the_elements(
    connection: pykudu_sql.Connection, rows: list[list[Decimal]], form: str
) -> None:
    for other in ("1.0", "CAST(5.5 AS DECIMAL(38,2))"):
        given = answer(connection, f"SELECT {form.format(other)} FROM t ORDER BY k")
        expected = [row[0] for row in rows]
        assert given in (None, expected), (form, other)
