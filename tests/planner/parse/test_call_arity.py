"""Every function takes the numbers of arguments that the table says; none is dropped in silence."""

from collections.abc import Iterator

import duckdb
import pytest

import pykudu_sql
from pykudu_sql.planner.functions.compatibility_functions import COMPATIBILITY_FUNCTIONS, TEMPLATES
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.token_rewrites.renamed_calls import INNER_NAMES
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, NODE_NAMES, Arity, Function
from pykudu_sql.storage.errors import Error, ProgrammingError, SourceSpan

MOST = 7
CHECKED = [function for function in FUNCTIONS.values() if function.arity is not None]
# A unit of time, a text of which the printer makes a word.
PRINTED_BARE = {"date_add", "date_bin", "time_bucket", "timestamp_sub", "ts_or_ds_add"}


def arity_of(function: Function) -> Arity:
    assert function.arity is not None
    return function.arity


@pytest.mark.parametrize("quote", ["", "'"], ids=["numbers", "texts"])
@pytest.mark.parametrize("function", CHECKED, ids=lambda function: function.name)
def test_a_call_keeps_all_its_arguments_or_is_refused(function: Function, quote: str) -> None:
    for count in range(MOST + 1):
        marks = [f"{quote}{7_001 + i}{quote}" for i in range(count)]
        text = f"SELECT {function.name}({', '.join(marks)})"
        if not arity_of(function).allows(count):
            with pytest.raises(ProgrammingError, match=rf"{function.name}\(\) takes ") as caught:
                parse(text)
            assert caught.value.sqlstate == "42883"
            assert str(caught.value).splitlines()[0].endswith(f", not {count}")
            continue
        try:
            printed = to_sql(apply_rules(parse(text)))
        except Error as error:
            assert error.sqlstate != "42883", text
            continue
        if function.name in PRINTED_BARE:
            marks = [mark.strip("'") for mark in marks]
        if (function.name, count) not in TEMPLATES:
            assert [mark for mark in marks if mark not in printed] == [], printed


SURPLUS = [
    "length('abc', 'x')", "left('abc', 1, 2)", "lpad('a', 3, 'x', 'y')", "substr('hello', 2, 3, 4)",
    "ltrim('hello', 'h', 'aaa')", "date_trunc('day', now(), 'x')", "abs(1, 2)", "now(1)",
    "regexp_matches('abc', 'A', 'i', 'zz')", "upper('a', 'b')", "'abc'.upper('x')", "mod(7, 3, 2)",
    "any_value(1, 2)", "map([1], [2], [3])", "exists(1, 2)", "current_timestamp(1, 2)", "rand(5)",
    "trim(BOTH 'x' FROM 'xax', 'y')", "substring('abc' FROM 1 FOR 2, 3)", "\"length\"('a', 'b')",
    "length('a', CASE WHEN true THEN 1 ELSE 2 END)", "length([1, 2], 3)", "upper()", "left('a')",
    "length('a' /* , */, 'b')", "concat(length('a', 'b'))", "max()", "count_star(1)",
]  # fmt: skip
TAKEN = [
    ("string_agg('a', ',' ORDER BY 1, 2)", "a"),
    ("list_reduce([1, 2, 3], lambda x, y: x + y)", 6),
    ("reduce([1, 2, 3], lambda x, y: x + y)", 6),
    ("length(concat('a', 'b', 'c'))", 3),
    ("length((SELECT max(x) FROM (SELECT 'a' AS x, 2 AS y)))", 1),
    ("exists(SELECT 1, 2)", True),
    ("trim(BOTH 'x' FROM 'xax')", "a"),
    ("substring('abc' FROM 2 FOR 1)", "b"),
    ("position('b' IN 'abc')", 2),
    ("overlay('abc' PLACING 'x' FROM 2 FOR 1)", "axc"),
    ("extract(YEAR FROM DATE '2026-01-01')", 2026),
    ("'abc'.left(2)", "ab"),
    ("len([1, 2, 3])", 3),
    ("jaro_winkler_similarity('abc', 'ABC', 0.5)", 0.0),
    ("jaro_winkler_similarity('abc', 'ABC')", 0.0),
    ("regexp_matches('abc', 'A', 'i')", True),
    ("coalesce(1 IS DISTINCT FROM 2, false)", True),
    ("current_timestamp(6) = current_timestamp", True),
]


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a STRING)")
        yield connection


@pytest.mark.parametrize("call", SURPLUS)
def test_too_many_or_too_few_arguments_are_refused_in_every_statement(
    connection: pykudu_sql.Connection, call: str
) -> None:
    for statement in (
        f"SELECT {call}",
        f"SELECT k FROM t WHERE {call} IS NULL",
        f"UPDATE t SET a = 'x' WHERE CAST({call} AS STRING) = 'y'",
        f"INSERT INTO t SELECT 1, CAST({call} AS STRING)",
        f"CREATE VIEW v AS SELECT {call} AS x",
    ):
        with pytest.raises(ProgrammingError, match=r"takes .* arguments?, not \d") as caught:
            connection.execute(statement)
        assert caught.value.sqlstate == "42883"


@pytest.mark.parametrize(("call", "value"), TAKEN)
def test_commas_that_part_no_arguments_are_not_counted(
    connection: pykudu_sql.Connection, call: str, value: object
) -> None:
    assert connection.execute(f"SELECT {call}").fetchone() == (value,)


def test_the_place_of_the_call_is_shown() -> None:
    with pytest.raises(ProgrammingError) as caught:
        parse("SELECT 1,\n  upper(lower('a', 'b'))")
    assert "lower() takes 1 argument, not 2" in str(caught.value)
    assert caught.value.span == SourceSpan(18, 5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SELECT * FROM db.mod(1, 2)", "db.mod"),
        ("SELECT db.sum(id) FROM t", "db.sum"),
        ("SELECT a.b.mod(1, 2)", "a.b.mod"),
        ('SELECT "db".upper(1)', "db.upper"),
    ],
)
def test_a_function_of_a_schema_is_not_blamed_for_its_arguments(text: str, name: str) -> None:
    with pytest.raises(ProgrammingError) as caught:
        parse(text)
    assert f"function {name}() does not exist" in str(caught.value)
    assert "functions belong to no schema" in (caught.value.hint or "")


def test_a_function_of_a_schema_with_its_arguments_is_to_be_written_alone() -> None:
    with pytest.raises(ProgrammingError) as caught:
        parse("SELECT pykudu.default.t.upper('x')")
    assert caught.value.hint == "functions belong to no schema: write upper(..) alone"


def test_words_that_are_no_calls_may_be_followed_by_parentheses() -> None:
    for text in (
        "WITH left (a, b, c) AS (SELECT 1, 2, 3) SELECT * FROM left",
        "SELECT * FROM (SELECT 1, 2, 3) AS length (a, b, c)",
        "SELECT CAST(1 AS DECIMAL(10, 2)), 1 IN (1, 2, 3)",
    ):
        parse(text)


@pytest.mark.parametrize("name", sorted((INNER_NAMES | NODE_NAMES) - FUNCTIONS.keys()))
def test_names_of_the_inside_cannot_be_written(
    connection: pykudu_sql.Connection, name: str
) -> None:
    for count in range(5):
        arguments = ", ".join(["'a'"] * count)
        with pytest.raises(ProgrammingError):
            connection.execute(f"SELECT {name}({arguments})").fetchall()


def engine_counts() -> dict[str, tuple[set[int], int | None]]:
    """For each function of the engine how many arguments it takes, and from how many on any."""
    found: dict[str, tuple[set[int], int | None]] = {}
    with duckdb.connect() as engine:
        rows = engine.execute(
            "SELECT function_name, len(parameter_types), varargs IS NOT NULL "
            "FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'table')"
        ).fetchall()
    for name, count, varying in rows:
        counts, least = found.get(name, (set(), None))
        least = min(count, count if least is None else least) if varying else least
        found[name] = (counts | {count}, least)
    return found


def test_the_table_knows_the_numbers_of_arguments_that_the_engine_takes() -> None:
    """A name of the engine's means its function, unless the dialect has a meaning of its own."""
    wider = set()
    for name, (counts, least) in engine_counts().items():
        function = FUNCTIONS.get(name)
        if function is None or function.arity is None or name in COMPATIBILITY_FUNCTIONS:
            continue
        for count in range(MOST + 1):
            listed = count in counts or (least is not None and count >= least)
            if arity_of(function).allows(count) and not listed:
                wider.add(name)
    by_the_dialect = {
        "count", "datediff", "decode", "encode", "instr", "lpad", "max", "min", "mode", "rpad",
        "strftime", "to_timestamp",
    }  # fmt: skip
    listed_short = {"reservoir_quantile", "to_base", "unnest"}
    assert wider == by_the_dialect | listed_short
