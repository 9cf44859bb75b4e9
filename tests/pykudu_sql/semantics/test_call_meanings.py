"""What calls mean whose arguments are unusual: by name, without one, dropped, of no type yet."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Error, InternalError


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, s STRING)")
        connection.execute("INSERT INTO t VALUES (1, 'a')")
        yield connection


def refusal(connection: pykudu_sql.Connection, sql: str) -> tuple[str | None, str]:
    with pytest.raises(Error) as caught:
        connection.execute(sql).fetchall()
    return caught.value.sqlstate, str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("struct_pack(1, chr(0))", {"_0": 1, "_1": "\0"}),
        ("struct_pack(k, t.s, chr(k))", {"k": 1, "s": "a", "_2": "\x01"}),
        ("struct_pack(a := chr(0), b := k)", {"a": "\0", "b": 1}),
        ("struct(1 AS a, k)", {"a": 1, "k": 1}),
    ],
)
def test_fields_without_a_name_are_numbered_or_named_by_their_column(
    connection: pykudu_sql.Connection, call: str, value: object
) -> None:
    assert connection.execute(f"SELECT {call} FROM t").fetchone() == (value,)


@pytest.mark.parametrize(
    "call",
    [
        "split_part(i := 3, s, 1)", "json(a => 1)", "least(a => 1, 2)", "coalesce(a := 1, 2)",
        "max(a := k)", "list_reverse(l := [1])", "concat(upper(x := s), 'b')",
    ],
)  # fmt: skip
def test_arguments_by_name_are_refused_where_a_call_has_no_names(
    connection: pykudu_sql.Connection, call: str
) -> None:
    sqlstate, message = refusal(connection, f"SELECT {call} FROM t")
    assert sqlstate == "42883"
    assert message.endswith("() takes no arguments by name")


@pytest.mark.parametrize(
    "call",
    [
        "list(1)", "array_contains(1, 2)", "logical_and(1)", "ucase(1)", "to_char(1, 2)",
        "mod(1, 2)", "xor(1, 2)", "like('a', 'b')", "like('a', 'b', 'c')", "any_value(1)",
    ],
)  # fmt: skip
def test_a_call_in_from_is_refused_by_the_name_that_is_written(
    connection: pykudu_sql.Connection, call: str
) -> None:
    sqlstate, message = refusal(connection, f"SELECT * FROM {call}")
    assert sqlstate == "0A000"
    assert message == f"table function {call.partition('(')[0]}() is not offered"


@pytest.mark.parametrize(
    "unit", ["DATE '2020-01-01'", "NULL", "TRUE", "-1", "('day')", "upper(s)", "(SELECT 'day')"]
)
def test_a_difference_of_times_names_the_argument_that_is_no_unit(
    connection: pykudu_sql.Connection, unit: str
) -> None:
    sqlstate, message = refusal(connection, f"SELECT timestamp_diff(now(), now(), {unit}) FROM t")
    assert sqlstate == "22023"
    assert message == "argument 3 of timestamp_diff() is no unit of time"


@pytest.mark.parametrize("call", ["ndv(k, ?)", "ndv(k, s)", "ndv(k, 'x')", "likelihood(k, s)"])
def test_an_argument_that_is_not_read_is_a_number(
    connection: pykudu_sql.Connection, call: str
) -> None:
    sqlstate, message = refusal(connection, f"SELECT {call} FROM t")
    assert sqlstate == "22023"
    assert message == f"argument 2 of {call.partition('(')[0]}() must be written as a number"
    assert connection.execute("SELECT ndv(k, 10), min(likelihood(k, 0.5)) FROM t").fetchone() == (
        1,
        1,
    )


@pytest.mark.parametrize(
    "condition",
    [
        "'a' = [NULL]", "MAP {'a': NULL} = 'x'", "{'a': NULL} = 'x'", "row(1, NULL) = 'x'",
        "'x' IN ([NULL])", "'x' = (SELECT [NULL])", "'1' BETWEEN [[NULL]] AND [NULL]",
        "list_transform([1], x -> NULL) = 'x'", "nullif('a', [NULL]) = 'a'",
        "union_value(k := NULL) = 'x'",
    ],
)  # fmt: skip
def test_a_text_beside_a_value_of_no_type_yet_is_no_defect(
    connection: pykudu_sql.Connection, condition: str
) -> None:
    try:
        connection.execute(f"SELECT {condition}").fetchall()
    except InternalError:
        raise
    except Error as error:
        assert error.sqlstate not in ("XX000", "0A000"), str(error)


def test_as_of_quotes_no_call_that_was_not_written(connection: pykudu_sql.Connection) -> None:
    for moment in ("array_max(k)", "nvl(k, 1)", "lead(1, *, 1)", "(SELECT 1)"):
        assert refusal(connection, f"SELECT k FROM t AS OF {moment}") == (
            "42P10",
            "AS OF needs a constant, not one that reads columns or a query",
        )


def test_the_engines_words_about_templates_and_macros_are_said_in_ours(
    connection: pykudu_sql.Connection,
) -> None:
    assert refusal(connection, "SELECT map_contains('a', 1)")[1] == (
        "no function matches map_contains() with arguments of these types"
    )
    assert refusal(connection, "SELECT wavg(k, k) OVER (ORDER BY k) FROM t") == (
        "42P20",
        "window functions are made of one aggregate, and this one of several",
    )
