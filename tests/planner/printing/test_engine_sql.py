"""What is printed for the engine: closed trees, and texts that are read again."""

from collections.abc import Iterator

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.printing.engine_sql import DUCKDB, SPARK, check_printed, to_sql
from pykudu_sql.planner.printing.node_allowlist import closed_texts
from pykudu_sql.storage.errors import NotSupportedError

QUOTED = {"'lit'", "'it''s'", '"a"', '"b""c"', '"q"'}


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "a", \'lit\', \'it\'\'s\', 1.5e-3, $1 FROM "q" AS "q"("a", "b""c")',
        'WITH "q"("a") AS (SELECT 1), "a"("a", "q") AS NOT MATERIALIZED (SELECT 2) SELECT 3',
        'SELECT UPPER("a")[1:LEN("a")], {\'lit\': 1}, "a" IN (1), CAST("a" AS DECIMAL(10, 2))',
    ],
)
def test_what_the_tree_has_and_words_of_the_list_pass(sql: str) -> None:
    check_printed(sql, QUOTED, DUCKDB)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CURRENT_SETTING('lit')", "SELECT 'other'", 'SELECT "other"', 'SELECT "a"(1)',
        'SELECT UPPER("a"), "a"("a")', 'SELECT "q"."a"(1)', "SELECT 1 -- \"a\"", "SELECT /* 1 */ 2",
        "SELECT $$lit$$", "SELECT $a$lit$a$", "SELECT E'lit'", "SELECT U&'lit'", "SELECT x'lit'",
        "SELECT 1; SELECT 2", "SELECT 'lit", 'SELECT "a', "SELECT `a`", "SELECT 1\u00a0+ 2",
        "SELECT \u0430", "COPY \"a\" TO 'lit'", "ATTACH 'lit'", "SELECT \\x", "SELECT ?",
        "SELECT :b",
    ],
)  # fmt: skip
def test_a_token_of_no_list_is_refused(sql: str) -> None:
    with pytest.raises(NotSupportedError, match="not offered"):
        check_printed(sql, QUOTED, DUCKDB)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'a', `b`", r"SELECT '\\' || reflect() || '\\'", r"SELECT 'lit\\'",
        "SELECT 'lit''z'",
        "SELECT `a`(1)", "SELECT java_method('lit')", 'SELECT "lit"', "SELECT `a` -- `a`",
        "SELECT r'lit'", "SELECT ${a}", "SELECT `a`; SELECT 1", r"SELECT 'it\\'s'",
    ],
)  # fmt: skip
def test_a_token_of_no_list_is_refused_for_spark(sql: str) -> None:
    quoted = {"'lit'", r"'it\'s'", "`a`"}
    check_printed(r"SELECT 'lit', `a`, 'it\'s', UPPER('lit')", quoted, SPARK)
    with pytest.raises(NotSupportedError, match="not offered"):
        check_printed(sql, quoted, SPARK)


@pytest.mark.parametrize(
    "node",
    [
        exp.Command(this="COPY"),
        exp.Interval(this=exp.Literal.string("5"), unit=exp.var("BANANAS")),
        exp.DateAdd(this=exp.null(), unit=exp.Dot(this=exp.null(), expression=exp.null())),
        exp.DataType(this=exp.DType.USERDEFINED, kind="x) y"),
        exp.DataType.build("DECIMAL(1)").copy().append("expressions", exp.var("x")) or exp.var("x"),
        exp.Join(this=exp.to_table("t"), kind="x"),
        exp.Anonymous(this="f()", expressions=[]),
        exp.Literal(this="1) x", is_string=False),
        exp.Collate(this=exp.null(), expression=exp.var("x")),
        exp.Operator(this=exp.null(), operator="x.+", expression=exp.null()),
        exp.Var(this="x"),
        exp.Window(this=exp.RowNumber(), over="x"),
        exp.HexString(this="zz"),
        exp.Placeholder(this="1) x"),
        exp.CombinedAggFunc(this="sum", expressions=[]),
        exp.JSONPath(expressions=[exp.JSONPathRoot(), exp.JSONPathFilter(this="x")]),
    ],
    ids=lambda node: type(node).__name__,
)
def test_a_tree_with_a_text_of_no_list_is_refused(node: exp.Expr) -> None:
    with pytest.raises(NotSupportedError, match="not offered"):
        closed_texts(exp.Tuple(expressions=[node]))


@pytest.mark.parametrize(
    ("sql", "printed"),
    [
        ("select struct_insert(s, x => 1.5)", '"x" => 1.5'),
        ("select \"upper\"('a')", "UPPER('a')"),
        ("select N'abc'", "'abc'"),
        ("select interval '5 mins'", "INTERVAL '5' MINUTE"),
        ("select interval '1.5' hours", "INTERVAL '1.5 hours'"),
        ("select list_transform([1], lambda i: abs(i))", 'LAMBDA "i" : ABS("i")'),
        ("select time_bucket(interval 1 day, x, '2020-01-01')", "CAST('2020-01-01' AS TIMESTAMP)"),
        ("select date_trunc(lower(x), y)", 'DATE_TRUNC(LOWER("x"), "y")'),
        ("select b -> '$.\"a''b\"'", "'$.\"a''b\"'"),
        ('select cast(x as struct(a int, "b c" decimal(3, 1)[]))', '"b c" DECIMAL(3, 1)[]'),
    ],
)
def test_words_of_a_statement_are_spelt_as_the_engine_reads_them(sql: str, printed: str) -> None:
    assert printed in to_sql(parse(sql))


def test_no_refusal_names_a_class_of_the_parser() -> None:
    """Of any kind of node, with no argument or with a word that is on no list."""
    for kind in sorted({*subclasses(exp.Expr)} - {exp.Literal}, key=lambda kind: kind.__name__):
        names = kind.__name__, kind.key
        for arguments in ({}, {"this": "ODD WORD"}, {"this": exp.var("ODD WORD")}):
            try:
                closed_texts(kind(**arguments))
            except NotImplementedError:  # an abstract kind
                continue
            except NotSupportedError as error:
                shown = error.message.partition("offered: ")[2]
                assert shown, names
                assert kind.__name__ not in shown or kind.__name__.isupper(), (names, shown)
                assert "exp." not in shown and "object at" not in shown, (names, shown)


def subclasses(kind: type[exp.Expr]) -> Iterator[type[exp.Expr]]:
    for below in kind.__subclasses__():
        if "this" in below.arg_types or not below.arg_types:
            yield below
        yield from subclasses(below)
