"""A text beside a number, date or truth means the same as a literal and as a parameter, and
whatever rows there are."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pytest

import pykudu_sql

EQUAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "a": ("2", " 2 ", "2.0", "2e0", "0x2"),
        "a + 0": ("2", "2.0"),
        "b": ("1.5", " 15e-1"),
        "c": ("1.25", "125e-2", "1.2500"),
        "w": ("0.5", ".5"),
        "x": ("8", "8.0"),
        "d": ("2020-01-01", "2020-01-01 12:00:00", "2020-1-1"),
        "m": ("2020-01-01", "2020-01-01 02:00:00+02:00", "2020-1-1"),
        "t": ("true", "1"),
    }
)
UNEQUAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "a": ("1.5", "1.99", "99999999999"),
        "a + 0": ("1.5", "99999999999"),
        "b": ("inf", "nan", "1.50000001"),
        "c": ("1.251", "99999999999"),
        "w": ("1", "-7"),
        "x": ("7.5", "8.4"),
        "d": ("2020-01-02",),
        "m": ("2020-01-01 00:00:00.000001",),
        "t": ("false",),
    }
)
REFUSED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "a": {"zz": "22018", "": "22018", "inf": "22003", "1e99": "22003"},
        "a + 0": {"zz": "22018", "nan": "22003"},
        "b": {"zz": "22018"},
        "c": {"zz": "22018", "nan": "22003"},
        "w": {"zz": "22018"},
        "x": {"zz": "22018", "-inf": "22003"},
        "d": {"zz": "22018", "2020-02-30": "22008"},
        "m": {"zz": "22018", "2020-01-01 25:00:00": "22008"},
        "t": {"zz": "22018"},
    }
)
FORMS = (
    "{0} = {1}", "NOT ({0} <> {1})", "{0} IN ({1})", "{0} BETWEEN {1} AND {1}",
    "CASE {0} WHEN {1} THEN true ELSE false END", "({0}, 1) = ({1}, 1)",
)  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    columns = (
        "(a INT PRIMARY KEY, b DOUBLE, c DECIMAL(9,2), w DECIMAL(38,38), x DECIMAL(38,0), d DATE, "
        "m TIMESTAMP, t BOOLEAN)"
    )
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(f"CREATE TABLE one {columns}")
        connection.execute(f"CREATE TABLE none {columns}")
        connection.execute(
            "INSERT INTO one VALUES (2, 1.5, 1.25, 0.5, 8, '2020-01-01', '2020-01-01', true)"
        )
        yield connection


def answer(connection: pykudu_sql.Connection, sql: str, *parameters: object) -> object:
    try:
        return connection.execute(sql, parameters).fetchall()[0][0]
    except pykudu_sql.DataError as error:
        return error.sqlstate


def answers(
    connection: pykudu_sql.Connection, value: str, text: str, form: str
) -> Iterator[object]:
    """Of a table with a row and of one without, each for a literal and for parameters."""
    parameters = (text,) * form.count("{1}")
    for table in ("one", "none"):
        sql = f"SELECT count(*) FROM {table} WHERE "
        yield answer(connection, sql + form.format(value, f"'{text}'"))
        yield answer(connection, sql + form.format(value, "?"), *parameters)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", EQUAL)
def test_a_text_has_one_meaning(connection: pykudu_sql.Connection, value: str, form: str) -> None:
    expected = {
        **{text: (1, 1, 0, 0) for text in EQUAL[value]},
        **{text: (0, 0, 0, 0) for text in UNEQUAL[value]},
        **{text: (state,) * 4 for text, state in REFUSED[value].items()},
    }
    given = {text: tuple(answers(connection, value, text, form)) for text in expected}
    assert given == expected


@pytest.mark.parametrize(
    ("condition", "of_no_row"),
    [
        ("'zz' IN ({})", False),
        ("'zz' NOT IN ({})", True),
        ("'zz' = ANY ({})", False),
        ("'zz' <> ALL ({})", True),
    ],
)
def test_a_text_beside_a_query_without_rows_equals_nothing(
    connection: pykudu_sql.Connection, condition: str, of_no_row: bool
) -> None:
    assert answer(connection, "SELECT " + condition.format("SELECT a FROM none")) is of_no_row
    assert answer(connection, "SELECT " + condition.format("SELECT a FROM one")) == "22018"


def test_a_long_list_of_texts_has_the_same_meaning(connection: pykudu_sql.Connection) -> None:
    texts = [f"{number}.5" for number in range(1_100)]
    for value, text in (("a", "2.0"), ("c", "1.25"), ("x + 0", "8.00"), ("w", "0.5")):
        sql = "SELECT count(*) FROM one WHERE {} IN ({})"
        listed = ", ".join(f"'{each}'" for each in texts)
        if value != "w":
            assert answer(connection, sql.format(value, listed)) == 0
        assert answer(connection, sql.format(value, f"{listed}, '{text}'")) == 1
        assert answer(connection, sql.format(value, f"{listed}, 'zz'")) == "22018"
        empty = sql.replace("one", "none")
        assert answer(connection, empty.format(value, f"{listed}, 'zz'")) == "22018"


MIXED = (
    "s = 5", "5 <> s", "s < 5.5", "s BETWEEN 4 AND 6", "s IN (5, 6)", "s NOT IN (5)", "k = s",
    "s IS DISTINCT FROM k", "(s, k) = (5, 1)", "CASE s WHEN 5 THEN true END", "nullif(5, s) = 5",
    "upper(s) = k + 1", "s || '' = 5", "s = true", "s = k > 1", "s IN (SELECT k FROM {0})",
    "k = ANY (SELECT s FROM {0})", "(SELECT max(s) FROM {0}) = 5", "coalesce(s, 'a') = 5e0",
    "k = d", "d <> 5", "m > 5", "year(d) = d", "concat(s, 'a') = 5", "k = [1]", "s <> ['a']",
    "m IN ([m])", "decode(k, 1, s) = 5",
)  # fmt: skip


@pytest.fixture(scope="module")
def mixed() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        for table in ("one", "none"):
            columns = "(k INT PRIMARY KEY, s STRING, d DATE, m TIMESTAMP)"
            connection.execute(f"CREATE TABLE {table} {columns}")
        connection.execute("INSERT INTO one VALUES (1, '5', '2020-01-01', '2020-01-01')")
        yield connection


@pytest.mark.parametrize("table", ["one", "none"])
@pytest.mark.parametrize("condition", MIXED)
def test_texts_and_numbers_are_not_compared_whatever_rows_there_are(
    mixed: pykudu_sql.Connection, table: str, condition: str
) -> None:
    for sql in ("SELECT k FROM {0} WHERE " + condition, "SELECT " + condition + " FROM {0}"):
        with pytest.raises(pykudu_sql.ProgrammingError, match="cannot compare values") as caught:
            mixed.execute(sql.format(table))
        assert caught.value.sqlstate == "42804"
        assert caught.value.hint is not None and "CAST(" in caught.value.hint


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT '5' AS v) t",
        "(VALUES ('5')) t(v)",
        "(WITH w AS (SELECT '5' AS v) SELECT v FROM w) t",
    ],
)
def test_a_text_that_a_subquery_shows_is_no_number(
    mixed: pykudu_sql.Connection, source: str
) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="STRING with type INT") as caught:
        mixed.execute(f"SELECT 1 FROM {source} WHERE t.v = 5")
    assert caught.value.hint == "write CAST(t.v AS INT)"
    found = mixed.execute(f"SELECT 1 FROM {source} WHERE CAST(t.v AS INT) = 5").fetchall()
    assert found == [(1,)]


def test_joins_compare_no_texts_with_numbers(mixed: pykudu_sql.Connection) -> None:
    for sql in (
        "SELECT 1 FROM one a JOIN none b ON a.k = b.s",
        "SELECT 1 FROM one a JOIN (SELECT s AS k FROM none) b USING (k)",
        "SELECT 1 FROM (SELECT k FROM one) a NATURAL JOIN (SELECT s AS k FROM none) b",
        "MERGE INTO one USING none n ON one.k = n.s WHEN MATCHED THEN DELETE",
        "DELETE FROM one WHERE s = 5",
    ):
        with pytest.raises(pykudu_sql.ProgrammingError, match="cannot compare"):
            mixed.execute(sql)


@pytest.mark.parametrize(
    "condition",
    ["k = '1'", "s = '5'", "k = true", "CAST(s AS INT) = 5", "s = CAST(5 AS STRING)", "k = NULL",
     "s IN ('5', NULL)", "d = m", "m = '2020-01-01'", "d = s || ''", "s = to_json(5)",
     "k = ANY([1, 2])", "[k] = [1]", "k = ANY(SELECT 1)"],
)  # fmt: skip
def test_what_is_always_read_as_the_other_type_is_compared(
    mixed: pykudu_sql.Connection, condition: str
) -> None:
    assert mixed.execute(f"SELECT {condition} FROM none").fetchall() == []


@pytest.mark.parametrize("table", ["one", "none"])
def test_a_list_given_for_one_value_is_refused_whatever_rows_there_are(
    mixed: pykudu_sql.Connection, table: str
) -> None:
    for condition in ("k = ?", "k + 1 = ?", "s = ?", "k < ? AND s = 'a'"):
        with pytest.raises(pykudu_sql.Error) as caught:
            mixed.execute(f"SELECT k FROM {table} WHERE {condition}", ([1],))
        assert caught.value.sqlstate in ("42804", "07006"), condition
