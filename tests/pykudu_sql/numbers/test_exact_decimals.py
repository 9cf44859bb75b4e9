"""Decimals of 38 digits are compared exactly, whatever they meet."""

import operator
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from random import Random
from typing import Any

import pytest

import pykudu_sql

TYPES = ((38, 38), (38, 0), (38, 10), (37, 5), (36, 36), (20, 4), (9, 2))
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ODD = (
    *map(Decimal, ("1", "-1", "0", "0.5", "2.5", "-1E-38", "1E-38", "1E-40", "-1E-50", "1E38")),
    *map(Decimal, ("1E45", "-1E45", "12345678901234567890.5", "1E-999999", "-9E999")),
    *(10**30, 7),
)
_EXACT = Context(prec=200)


def values_of(precision: int, scale: int) -> list[Decimal]:
    top = 10**precision - 1
    units = (-top, 1 - top, -1, 0, 1, top - 1, top)
    return [Decimal(number).scaleb(-scale, _EXACT) for number in units]


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        for precision, scale in TYPES:
            name = f"d{precision}_{scale}"
            opened.execute(
                f"CREATE TABLE {name} (k INT PRIMARY KEY, a DECIMAL({precision},{scale}))"
            )
            rows = [*enumerate(values_of(precision, scale)), (99, None)]
            opened.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
            opened.execute(f"FLUSH TABLE {name}")
        yield opened


def keys(connection: pykudu_sql.Connection, sql: str, values: tuple[Any, ...]) -> list[int]:
    return sorted(k for (k,) in connection.execute(sql, values).fetchall())


def forms(value: Decimal | int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """A value as a parameter, and as a literal if that is not too long."""
    yield "?", (value,)
    if abs(Decimal(value).adjusted()) < 60:
        yield f"{Decimal(value):f}", ()


def candidates(precision: int, scale: int) -> list[Decimal | int]:
    stored = values_of(precision, scale)
    unit = Decimal(1).scaleb(-scale, _EXACT)
    between = [_EXACT.add(stored[-1], unit / 2), _EXACT.add(stored[1], unit / 2), -unit / 2]
    return [*stored, *between, *ODD]


@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_a_column_compares_exactly_with_literals_and_parameters(
    connection: pykudu_sql.Connection, precision: int, scale: int
) -> None:
    name, stored = f"d{precision}_{scale}", dict(enumerate(values_of(precision, scale)))
    for value in candidates(precision, scale):
        expected = {
            (word, negation): [k for k, cell in stored.items() if holds(cell, value) == plain]
            for word, holds in OPERATORS.items()
            for negation, plain in (("", True), ("NOT ", False))
        }
        for text, given in forms(value):
            sql = " UNION ALL ".join(
                f"SELECT '{word}', '{negation}', k FROM {name} WHERE {negation}(a {word} {text})"
                for word, negation in expected
            )
            found: dict[tuple[str, str], list[int]] = {each: [] for each in expected}
            for word, negation, k in connection.execute(sql, given * len(expected)).fetchall():
                found[word, negation].append(k)
            assert {each: sorted(ks) for each, ks in found.items()} == expected, (text, given)


@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_lists_and_ranges_hold_exactly_what_they_name(
    connection: pykudu_sql.Connection, precision: int, scale: int
) -> None:
    pick = Random(precision * 100 + scale)
    name, stored = f"d{precision}_{scale}", dict(enumerate(values_of(precision, scale)))
    for _ in range(8):
        drawn = [pick.choice(candidates(precision, scale)) for _ in range(2)]
        (one, first), (two, second) = (pick.choice(list(forms(value))) for value in drawn)
        given = (*first, *second)
        listed = [k for k, cell in stored.items() if cell in drawn]
        within = [k for k, cell in stored.items() if drawn[0] <= cell <= drawn[1]]
        outside = [k for k in stored if k not in within]
        rest = [k for k in stored if k not in listed]
        for condition, expected in (
            (f"a IN ({one}, {two})", listed),
            (f"a NOT IN ({one}, {two})", rest),
            (f"a IN ({one}, NULL, {two})", listed),
            (f"a NOT IN ({one}, NULL, {two})", []),
            (f"a BETWEEN {one} AND {two}", within),
            (f"a NOT BETWEEN {one} AND {two}", outside),
            (f"a >= {one} AND a <= {two}", within),
        ):
            sql = f"SELECT k FROM {name} WHERE {condition}"
            assert keys(connection, sql, given) == expected, (sql, given)


def test_columns_of_different_types_compare_exactly(connection: pykudu_sql.Connection) -> None:
    for one, other in ((TYPES[0], TYPES[1]), (TYPES[0], TYPES[2]), (TYPES[1], TYPES[3])):
        left, right = (dict(enumerate(values_of(*each))) for each in (one, other))
        for word, holds in OPERATORS.items():
            pairs = connection.execute(
                f"SELECT l.k, r.k FROM d{one[0]}_{one[1]} l JOIN d{other[0]}_{other[1]} r"
                f" ON l.a {word} r.a"
            ).fetchall()
            assert sorted(pairs) == [
                (k, n) for k, x in left.items() for n, y in right.items() if holds(x, y)
            ]


@pytest.mark.parametrize("value", [0.5, "0.5", float("inf"), float("nan"), None])
def test_a_wide_column_meets_parameters_of_other_types(
    connection: pykudu_sql.Connection, value: object
) -> None:
    stored = dict(enumerate(values_of(38, 38)))
    expected = [] if value is None else [k for k, cell in stored.items() if cell < Decimal("0.5")]
    if isinstance(value, float) and value != 0.5:
        expected = list(stored)
    assert keys(connection, "SELECT k FROM d38_38 WHERE a < ?", (value,)) == expected


def test_a_text_that_is_no_number_is_refused(connection: pykudu_sql.Connection) -> None:
    with pytest.raises(pykudu_sql.DataError, match="cannot read 'x'"):
        connection.execute("SELECT k FROM d38_38 WHERE a + 0 < 1 OR a < ?", ("x",))


def test_least_and_greatest_come_with_all_their_digits(connection: pykudu_sql.Connection) -> None:
    for precision, scale in TYPES:
        stored = values_of(precision, scale)
        row = connection.execute(f"SELECT min(a), max(a) FROM d{precision}_{scale}").fetchone()
        assert row == (stored[0], stored[-1])


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.01 FROM t) ORDER BY g", "xy"),
        ("SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.01 FROM t WHERE k < ?)", "xy"),
        ("WITH w AS (SELECT {} AS s FROM t) "
         "SELECT g FROM t GROUP BY g HAVING {} > (SELECT s * 0.5 FROM w)", "y"),
        ("WITH RECURSIVE w(i) AS (SELECT 1 UNION SELECT i + 1 FROM w WHERE i < 9) "
         "SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.5 FROM t, w WHERE i = 1)", "y"),
        ("SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.5 FROM t) "
         "UNION ALL SELECT 'z'", "yz"),
        ("SELECT g FROM t WHERE k IN (SELECT max(k) FROM t GROUP BY g "
         "HAVING {} > (SELECT {} * 0.5 FROM t))", "y"),
        ("SELECT g FROM (SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.5 FROM t)) v", "y"),
        ("SELECT g FROM t AS o GROUP BY g "
         "HAVING {} > (SELECT {} * 0.5 FROM t WHERE g = o.g)", "xyz"),
        ("SELECT g FROM t GROUP BY g HAVING {} > (SELECT {} * 0.5 FROM t WHERE k > 9)", ""),
        ("SELECT g FROM t GROUP BY g HAVING {0} BETWEEN (SELECT {0} * 0.01 FROM t) "
         "AND (SELECT {0} * 0.5 FROM t)", "x"),
    ],
)  # fmt: skip
def test_sums_are_compared_with_those_of_a_subquery(sql: str, expected: str) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, g STRING, a DECIMAL(15,2), n INT)")
        connection.execute(
            "INSERT INTO t VALUES (1,'x',10.5,1), (2,'x',20.25,2), (3,'y',300,3), (4,'z',0.01,4)"
        )
        query = sql.format("sum(a * n)", "sum(a * n)")
        rows = connection.execute(query, (9,) if "?" in sql else ()).fetchall()
        assert sorted(g for (g,) in rows) == sorted(expected)


def test_a_subquery_of_two_rows_that_is_compared_exactly_is_an_error() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a DECIMAL(15,2))")
        connection.execute("INSERT INTO t VALUES (1, 10.5), (2, 20.25)")
        with pytest.raises(pykudu_sql.DataError, match="more than one row"):
            connection.execute("SELECT 1 FROM t HAVING sum(a) > (SELECT a * 0.1 FROM t)").fetchall()
