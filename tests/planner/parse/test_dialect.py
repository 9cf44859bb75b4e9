"""Hostile and odd statements: an error in little time, never a crash."""

import pytest

from pykudu_sql.planner.parse import dialect
from pykudu_sql.planner.parse.dialect import display, parse, printed
from pykudu_sql.planner.parse.guards import guard_text
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import (
    NotSupportedError,
    ProgrammingError,
    StatementTooComplexError,
    SyntaxError,
)

TOO_COMPLEX = {
    "parentheses": "select " + "(" * 300 + "1" + ")" * 300,
    "many parentheses": "select " + "(" * 50_000 + "1" + ")" * 50_000,
    "brackets": "select " + "[" * 300 + "1" + "]" * 300,
    "subscripts": "select a" + "[1]" * 3000 + " from t",
    "NOT": "select " + "not " * 300 + "true",
    "unary minus": "select " + "- " * 300 + "1",
    "CASE": "select " + "case when 1 then " * 300 + "1 " + "end " * 300,
    "sums": "select " + " + ".join(["1"] * 10_000),
    "concatenations": "select " + " || ".join(["'a'"] * 10_000),
    "casts": "select a" + "::int" * 10_000 + " from t",
    "comparisons": "select 1" + " = 1" * 10_000,
    "dots": "select a" + ".b" * 10_000 + " from t",
    "unions": " union all ".join(["select 1"] * 5_000),
    "subqueries": "select * from " + "(select * from " * 300 + "t" + ")" * 300,
    "calls": "select " + "abs(" * 300 + "1" + ")" * 300,
    "joins": "select 1 from t " + " ".join(f"join t t{i} on true" for i in range(400)),
    "tables": "select 1 from " + ", ".join(f"t t{i}" for i in range(400)),
    "words": "select coalesce(" + "1, " * 60_000 + "1)",
    "characters": "select '" + "x" * (5 * 1024 * 1024) + "'",
}


@pytest.mark.parametrize("name", TOO_COMPLEX)
def test_statements_beyond_reason_are_refused(context: PlanContext, name: str) -> None:
    with pytest.raises(StatementTooComplexError) as caught:
        plan(TOO_COMPLEX[name], context)
    assert caught.value.sqlstate == "54001"


def test_long_but_flat_conditions_are_planned(context: PlanContext) -> None:
    many = " or ".join(f"a = {i}" for i in range(2000))
    assert plan(f"select id from t where {many}", context).cacheable
    listed = ", ".join(str(i) for i in range(5000))
    assert plan(f"select id from t where a in ({listed})", context).cacheable


@pytest.mark.parametrize(
    ("sql", "line", "column", "word"),
    [
        ("slect 1", 1, 1, "slect"),
        ("select a from t where a = = 3", 1, 27, "="),
        ("select a\nfrom t\nwhere b ==== 3", 3, 11, "=="),
        ("select (1", 1, 9, "1"),
        ("select a from t group a", 1, 23, "a"),
        ("insert into t value (1)", 1, 15, "value"),
        ("create table x (a int primary key,,)", 1, 35, ","),
        # A parenthesis that is never closed.
        ("select max(a from t", 1, 11, "("),
        ("select a from t where a = cast('1' as int", 1, 31, "("),
        ("select arg_max(s, a from t where s = ')'", 1, 15, "("),
        ("select (select string_agg(s from t)", 1, 8, "("),
        ("delete from t where a = ceil(1", 1, 29, "("),
        ("update t set s = cast(a as string where a = 1", 1, 22, "("),
        ("insert into t (id)\nselect min(a from t", 2, 11, "("),
    ],
)
def test_a_syntax_error_points_at_the_place(
    context: PlanContext, sql: str, line: int, column: int, word: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        plan(sql, context)
    position = caught.value.position
    assert position is not None
    assert (position.line, position.column) == (line, column)
    assert position.text == sql.splitlines()[line - 1]
    assert word in caught.value.message
    assert caught.value.sqlstate == "42601"
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("select a from t where a = %s", "parameters are written"),
    ],
)
def test_what_other_drivers_and_databases_write_is_answered_with_what_to_write_here(
    context: PlanContext, sql: str, hint: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        plan(sql, context)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    "sql",
    ["", " ; ", "reload t", "start", "t", "1", "select",
     "explain", "select 'abc", 'select "abc', "select 1 /* abc", "select 1; drop table t"],
)  # fmt: skip
def test_what_is_no_statement_of_ours_is_a_syntax_error(context: PlanContext, sql: str) -> None:
    with pytest.raises(SyntaxError):
        plan(sql, context)


@pytest.mark.parametrize(
    "sql",
    ["attach 'x'", "install httpfs", "export database 'x'", "pragma x", "call f()", "load x",
     "grant all on t to u", "create temp table x (id int primary key)",
     "create materialized view v as select 1"],
)  # fmt: skip
def test_what_other_databases_have_is_refused_with_what_there_is(
    context: PlanContext, sql: str
) -> None:
    with pytest.raises(NotSupportedError) as caught:
        plan(sql, context)
    assert caught.value.hint


@pytest.mark.parametrize(
    "sql",
    [
        "select * from t for update",
        "select * from t tablesample 10 percent",
        "select * from t pivot (sum(a) for b in (1, 2))",
        "select id from t where columns('a') = 1",
        "select * from t positional join u",
        "select * from t for system_time contained in ('2020-01-01', '2021-01-01')",
    ],
)
def test_constructs_that_are_not_offered_say_so(context: PlanContext, sql: str) -> None:
    with pytest.raises((NotSupportedError, SyntaxError)):
        plan(sql, context)


@pytest.mark.parametrize(
    ("sql", "printed"),
    [
        ("select a from t as of timestamp '2020-01-01' x", "FOR TIMESTAMP AS OF '2020-01-01' AS"),
        ("select a from t for system_time as of 5 x", "FOR TIMESTAMP AS OF 5 AS"),
        ("select a from t timestamp as of '2020-01-01'", "FOR TIMESTAMP AS OF '2020-01-01'"),
        ("select a from t as of 5", "FOR TIMESTAMP AS OF 5"),
        ("select a as of from t", '"a" AS "of"'),
        ("select a from t order by a desc nulls last", "DESC NULLS LAST"),
        ("select cast(a as int8), cast(b as unixtime_micros)", 'CAST("a" AS TINYINT)'),
        ("select 5 div 2", "5 // 2"),
        ("select `a b`", '"a b"'),
        ("select a -- comment\nfrom t", 'SELECT "a" FROM "t"'),
        ("select '\\n', 'it''s'", "'\\n', 'it''s'"),
    ],
)
def test_the_dialect_reads_what_people_paste(sql: str, printed: str) -> None:
    assert printed in dialect.printed(parse(sql))


def test_positional_parameters_are_numbered_in_the_order_of_the_text(context: PlanContext) -> None:
    planned = plan("select case when ? then ? end from t where a > ? limit ?", context)
    assert sorted(planned.parameters, key=str) == [0, 1, 2, 3]


def test_question_marks_in_strings_and_comments_are_no_parameters(context: PlanContext) -> None:
    planned = plan("select '?', ':a' /* ? */ from t where a = ? -- :b", context)
    assert planned.parameters == (0,)


def test_mixed_parameter_styles_are_refused(context: PlanContext) -> None:
    with pytest.raises(Exception, match="not both") as caught:
        plan("select * from t where a = ? and b = :b", context)
    assert getattr(caught.value, "sqlstate", "") == "07001"


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("select * form t", "did you mean 'FROM' by 'form'?"),
        ("select * from t were a = 1", "did you mean 'WHERE' by 'were'?"),
        ("show tabels", "did you mean 'TABLES'?"),
        ("drop tabel t", "did you mean 'TABLE'?"),
        ("vacum", "did you mean 'VACUUM'?"),
        (
            "select * from t as of mid",
            "AS OF takes a time, AS OF SNAPSHOT a snapshot's name",
        ),
        ("select a b c from t", None),
        ("delete * from t", "write DELETE FROM t WHERE ..: it takes whole rows"),
    ],
)
def test_a_misspelt_clause_is_suggested_and_nothing_of_the_parser_shows(
    context: PlanContext, sql: str, hint: str | None
) -> None:
    with pytest.raises(SyntaxError) as caught:
        plan(sql, context)
    assert caught.value.hint == hint


@pytest.mark.parametrize(("call", "name"), [("current_timezone()", "current_timezone")])
def test_an_unknown_function_is_named_as_it_was_written(
    context: PlanContext, call: str, name: str
) -> None:
    with pytest.raises(ProgrammingError, match=rf"function {name}\(\) does not exist"):
        plan(f"select {call}", context)


REPEATED = {
    "prefixes": ("select " + "not " * 50_000 + "true", "nested deeper"),
    "cases": ("select " + "case when a then " * 20_000 + "1" + " end" * 20_000, "nested deeper"),
    "subscripts": ("select s" + "[1]" * 30_000 + " from t", "nested deeper"),
    "sums": ("select 1" + " + 1" * 40_000, "chained operators"),
    "casts": ("select 1" + "::int" * 40_000, "chained operators"),
    "comparisons": ("select 1" + " = 1" * 40_000, "chained operators"),
    "unions": ("select 1" + " union all select 1" * 20_000, "set operations"),
    "joins": ("select 1 from t" + " join t on true" * 20_000, "joins"),
    "with": ("with " + ", ".join(f"c{i} as (select 1)" for i in range(500)) + " select 1", "WITH"),
}


@pytest.mark.parametrize(("sql", "reason"), REPEATED.values(), ids=REPEATED)
def test_what_repeats_without_end_is_refused_by_its_text(sql: str, reason: str) -> None:
    with pytest.raises(StatementTooComplexError, match=reason):
        guard_text(sql, 0)


def test_a_with_clause_without_end_is_not_read_to_its_end(context: PlanContext) -> None:
    queries = ", ".join(f"c{i} as (select 1)" for i in range(100_000))
    with pytest.raises(StatementTooComplexError, match="WITH queries"):
        plan(f"with {queries} select 1", context)


def test_long_statements_of_small_parts_pass_the_guard() -> None:
    terms = " + ".join(f"t.c{i} * 2" for i in range(200))
    columns = ", ".join(f"coalesce(-c{i}, 0) - 1 as d{i}" for i in range(3000))
    conditions = " or ".join(f"(a = {i} and b <> -{i})" for i in range(3000))
    guard_text(f"select {terms}, {columns} from t where {conditions}", 0)


def test_the_order_of_a_subquery_stays_within_it_where_its_texts_are_joined() -> None:
    tree = parse("select string_agg((select b from u order by c limit 1), '-') from t")
    shown = "SELECT listagg((SELECT b FROM u ORDER BY c LIMIT 1), '-') FROM t"
    assert display(tree) == shown
    sql = """SELECT LISTAGG((SELECT "b" FROM "u" ORDER BY "c" LIMIT 1), '-') FROM "t" """
    assert printed(tree) == sql.strip()
    assert display(tree) == shown  # printing leaves the tree as it is


def test_printing_leaves_a_tree_with_an_order_of_its_own_as_it_is() -> None:
    tree = parse("select string_agg(b, '-' order by c) from t")
    assert printed(tree) == printed(tree)
    assert display(tree) == "SELECT listagg(b, '-' ORDER BY c) FROM t"
