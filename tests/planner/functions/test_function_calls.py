"""Every function of the table can be called: with plausible arguments, of each number it lists.

`calls.sql` has the calls, one a line, over a table with the columns k and at.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

import pykudu_sql
from pykudu_sql.planner.functions.compatibility_functions import TEMPLATES
from pykudu_sql.planner.functions.functions import AGGREGATES, COMPATIBILITY_AGGREGATES, gathers
from pykudu_sql.planner.parse.call_arity import TokenCall, token_calls
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, Function, FunctionKind

LINES = (Path(__file__).parent / "calls.sql").read_text(encoding="utf-8").splitlines()
CALLS = [line for line in LINES if not line.startswith("--")]
WORD = re.compile(r"\w+")
TEXT = re.compile(r"'([^']*)'")


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP)")
        connection.execute("INSERT INTO t VALUES (1, '2020-01-31 10:00:00'), (2, '2021-02-28')")
        yield connection


@pytest.mark.parametrize("call", CALLS)
def test_a_function_of_the_table_gives_an_answer_headed_by_words_that_were_written(
    connection: pykudu_sql.Connection, call: str
) -> None:
    groups = " GROUP BY k" if call.startswith("grouping") else ""
    cursor = connection.execute(f"SELECT {call} FROM t{groups}")
    assert cursor.fetchall()
    item = parse(f"SELECT {call}").expressions[0]
    if isinstance(item, exp.Anonymous) and item.find(exp.Cast) is None:
        assert cursor.description is not None
        heading = cursor.description[0][0].lower()
        assert set(WORD.findall(heading)) <= set(WORD.findall(call.lower()))


@pytest.mark.parametrize("call", [call for call in CALLS if TEXT.search(call)])
def test_a_parameter_for_a_text_of_a_call_is_offered_or_refused_by_name(
    connection: pykudu_sql.Connection, call: str
) -> None:
    for text in TEXT.finditer(call):
        with_parameter = f"{call[: text.start()]}?{call[text.end() :]}"
        try:
            connection.execute(f"SELECT {with_parameter} FROM t", [text[1]]).fetchall()
        except pykudu_sql.Error as error:
            assert "$" not in error.message
            assert error.sqlstate != "XX000"


def test_there_is_a_call_of_each_function_with_each_number_of_arguments() -> None:
    called = {(written.name, written.count) for written in map(outermost, CALLS)}
    listed = {
        (function.name, count) for function in FUNCTIONS.values() for count in counts(function)
    }
    assert listed - called == set()


def test_compatibility_aggregates_are_those_whose_templates_have_one() -> None:
    made = {
        name
        for (name, _), template in TEMPLATES.items()
        if name in FUNCTIONS and parse(f"SELECT {template}").find(exp.AggFunc) is not None
    }
    assert made - AGGREGATES == COMPATIBILITY_AGGREGATES


@pytest.mark.parametrize(
    "clause", ["(DISTINCT x)", "(x ORDER BY x)", "(x) FILTER (WHERE true)", "(x) OVER ()"]
)
def test_clauses_of_aggregates_are_refused_of_all_other_functions(
    connection: pykudu_sql.Connection, clause: str
) -> None:
    for function in FUNCTIONS.values():
        if function.kind is FunctionKind.OPERATOR or function.arity is None:
            continue
        if not function.arity.allows(1) or function.name in ("interval", "unnest", "explode"):
            continue
        text = f"SELECT {function.name}{clause} FROM (SELECT 1 AS x)"
        try:
            connection.execute(text).fetchall()
        except pykudu_sql.Error as error:
            known = error.sqlstate != "42809" or f"{function.name}() is none" in error.message
            assert known, (text, error)
            assert error.sqlstate != "XX000", text
            continue
        node = parse(text).find(exp.Func)
        assert node is not None
        assert gathers(node), text


def outermost(call: str) -> TokenCall:
    """The call that a line begins with."""
    return token_calls(list(DuckDB().tokenize(call)))[0]


def counts(function: Function) -> Sequence[int]:
    """The numbers of arguments of a function; of an endless list the first two."""
    arity = function.arity
    if arity is None:
        return ()
    more = () if arity.from_ is None else (arity.from_, arity.from_ + 1)
    return (*arity.counts, *more)
