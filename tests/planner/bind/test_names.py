# ruff: noqa: E501  (tables of statements read best one a line)
"""Unknown, ambiguous and forbidden names: the SQLSTATE, the place and the suggestion."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.names import ambiguous, check_ambiguous
from pykudu_sql.planner.bind.relations import DerivedTable, OutputColumn
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import Error

ERRORS = [
    ("select * from evnts", "42P01", "table 'evnts' does not exist", "evnts", "'events'"),
    ("select * from 'x.csv'", "42P01", "does not exist", "'x.csv'", "COPY t FROM"),
    ("select 1 from t where s = \"ids\"", "42703", "column 'ids'", '"ids"', "single quotes"),
    ("select * from '/etc/passwd'", "42P01", "does not exist", "'/etc", None),
    ("select valu from events", "42703", "column 'valu' does not exist", "valu", "'value'"),
    ("select e.hots from events e", "42703", "column 'hots'", "hots", "'host'"),
    ("select events.host from events e", "42P01", "'events' is no table of this query", "events.", "e"),
    ("select nope from t", "42703", "column 'nope' does not exist", "nope", "columns are"),
    ("select t from t", "42703", "column 't' does not exist", "t from", "name columns of it, such as t."),
    ("select count(e) from events e", "42703", "column 'e'", "e) from", "'e' is a table of this query"),
    ("select (select u from t limit 1) from u", "42703", "column 'u'", "u from t", "'u' is a table"),
    ("select x as x from t", "42703", "column 'x' does not exist", "x as", None),
    ("select a from t where nope = 1", "42703", "column 'nope'", "nope", None),
    ("select a from t order by nope", "42703", "column 'nope'", "nope", None),
    ("select a from t group by nope", "42703", "column 'nope'", "nope", None),
    ("select count(*) from t having nope > 1", "42703", "column 'nope'", "nope", None),
    ("select sum(a) over (order by nope) from t", "42703", "column 'nope'", "nope", None),
    ("select id from t join u on t.id = u.t_id", "42702", "'id' is ambiguous: t and u", "id", "t.id"),
    ("select x from (select a as x, id as x from t)", "42702", "'x' is ambiguous", "x from", "alias"),
    ("select q.x from (select a as x, id as X from t) q", "42702", "'x' is ambiguous: several columns of q", "x from", "alias"),
    ("with c as (select a as x, id as x from t) select x from c", "42702", "columns of c", "x from c", "alias"),
    ("with c(x, x) as (select a, id from t) select 1 from c where x = 1", "42702", "columns of c", "x = 1", "alias"),
    ("select x from (select a as x, id as x from t union select 1, 2)", "42702", "is ambiguous", "x from", "alias"),
    ("select x_1 from (select 1 as x, 2 as x, 3 as x_1)", "42702", "'x_1' is ambiguous", "x_1", "alias"),
    ("select a as x, id as x from t order by x", "42702", "several entries of the SELECT list", "x", "alias"),
    ("select a as x, id as x from t union select 1, 2 order by x", "42702", "columns of the query", "x", "alias"),
    ("select a + 1 as x, a + 2 as x from t group by x", "42702", "several entries of the SELECT list", "x", "alias"),
    ("select 'a', 'A' order by \"'a'\"", "42702", "several entries of the SELECT list", "\"'a'", "alias"),
    ("select * exclude (x) from (select 1 as x, 2 as x, 3 as y)", "42702", "is ambiguous", "x) from", "alias"),
    ("select 1 from (select 1 as x, 2 as x) q join (select 1 as x) r using (x)", "42702", "columns of q", "x)", "alias"),
    ("select 1 from (select 1 as x, 2 as x) q natural join (select 1 as x) r", "42702", "columns of q", None, "alias"),
    ("select s.f from (select {'f': 1} as s, {'f': 2} as s)", "42702", "'s' is ambiguous", "s.f", "alias"),
    ("select 1 as x union by name select 2 as x, 3 as x", "42702", "BY NAME takes each name", None, "alias"),
    ("select id from t, t", "42712", "'t' is given twice", "t", "alias"),
    ("select * from t join u using (a)", "42703", "column 'a' does not exist", "a)", None),
    ("select * from t natural join kinds", "42703", "without a common column", None, None),
    ("select (select nope from u) from t", "42703", "column 'nope'", "nope", None),
    ("select id from t where exists (select 1 from u where u.x = t.id)", "42703", "'x'", "x =", None),
    ("with c as (select a from t) select b from c", "42703", "column 'b'", "b from", None),
    ("with c(x) as (select a from t) select a from c", "42703", "column 'a'", "a from c", None),
    ("with __scan_0 as (select 1) select * from __scan_0", "42939", "reserved", "__scan_0", None),
    ("select a from t union select a, b from t", "42601", "UNION of queries", None, None),
    ("select lowr(s) from t", "42883", "function lowr() does not exist", "lowr", "lower()"),
    ("select * exclude (nope) from t", "42703", "column 'nope'", "nope", None),
    ("select 1 limit 1 union all select 2 limit 1", "42601", "LIMIT of one query of UNION", None,
     "write (SELECT"),
    ('select "text" from t where s = "text"', "42703", "column 'text'", '"text"', "single quotes"),
    ("select *", "42601", "needs a FROM clause", "*", None),
    ("update evnts set value = 1", "42P01", "table 'evnts'", "evnts", "'events'"),
    ("update t set nope = 1", "42703", "column 'nope'", "nope", None),
    ("update t set id = 1", "42P16", "key column 'id'", "id", "INSERT it"),
    ("update t set a = 1, a = 2", "42701", "assigned twice", "a = 2", None),
    ("update t set a = 'x'", "22018", "column 'a': cannot read 'x' as INT", "'x'", None),
    ("update u set note = null", "23502", "'note'", None, None),
    ("update t set a = 1 limit 3", "0A000", "LIMIT in UPDATE", None, None),
    ("update t for system_time as of 5 set a = 1", "0A000", "past", "t", None),
    ("delete from evnts", "42P01", "table 'evnts'", "evnts", None),
    ("delete from t where nope = 1", "42703", "column 'nope'", "nope", None),
    ("delete from t returning count(*)", "42803", "an aggregate", "count", None),
    ("delete from t returning (select 1)", "0A000", "a subquery in RETURNING", None, "query"),
    ("update t set a = 1 from u returning id", "42702", "'id' is ambiguous", "id", "t.id"),
    ("insert into t (id) values (1) returning nope", "42703", "'nope'", "nope", "columns"),
    ("insert into evnts values (1)", "42P01", "table 'evnts'", "evnts", "'events'"),
    ("insert into t (id, x) values (1, 2)", "42703", "column 'x'", "x)", None),
    ("insert into t (id, id) values (1, 2)", "42701", "given twice", "id)", None),
    ("insert into t (a) values (1)", "23502", "key column 'id'", "t (", "DEFAULT"),
    ("insert into u (id) values (1)", "23502", "required column 'note'", "u (", None),
    ("insert into t values (1, 2)", "42601", "a row has 2 values where table 't' has 6", "(1", None),
    ("insert into t (id) values (1), (2, 3)", "42601", "2 values where the first has 1", "(2", None),
    ("insert into t (id, a) select id from u", "42601", "a row has 1 value", "select", None),
    ("insert into t (id, a) values (1, 'abc')", "22018", "column 'a': cannot read 'abc'", "'abc'", None),
    ("insert into t (id, a) values (1, 1), (2, 3000000000)", "22003", "'a' in row 2", "3000000000", None),
    ("insert into logs (day, auto_incrementing_id) values (1, 2)", "42P16", "numbered", "auto", None),
    ("upsert into logs values (1, 'x')", "23502", "not unique", None, None),
    ("insert overwrite t values (1)", "0A000", "OVERWRITE", "overwrite", None),
    ("insert or fail into t values (1)", "0A000", "OR FAIL", "fail", None),
    ("create table a like nowhere", "42P01", "'nowhere'", "nowhere", None),
    ("create database a location '/x'", "0A000", "LOCATION of a database", "location", "directory"),
    ("create database a character set utf8", "0A000", "CHARACTER", "character", "UTF-8"),
    ("alter table t set cached in 'p'", "42601", '"cached"', "cached", "COMMENT, TBLPROPERTIES"),
    ("insert into t (id) values (1) on conflict (a) do nothing", "42P10", "(a)", "on", "(id)"),
    ("insert into t (id) values (1) on conflict do update set id = 1", "42P16", "'id'", "id", None),
    ("insert into t (id) values (1) on conflict do update set a = 'x'", "22018", "'a'", "'x'", None),
    ("insert into t (id) values (1) on conflict do", "42601", "the end", None, "NOTHING or UPDATE"),
    ("insert into logs values (1, 'x') on conflict do update set msg = ''", "0A000", "not unique",
     "on", None),
    ("upsert into t (id) values (1) on conflict do nothing", "42601", "plain INSERT", "on", None),
    ("merge into t using u on t.id = u.id when matched then update set id = 1", "42P16", "'id'",
     "id", None),
    ("merge into t using u on t.id = u.id when matched then insert (id) values (1)", "42601",
     "WHEN MATCHED", None, "UPDATE SET, DELETE"),
    ("merge into t using u on t.id = u.id when not matched then delete", "42601",
     "WHEN NOT MATCHED", None, None),
    ("merge into t using u on t.id = u.id when not matched then insert (a) values (1)", "23502",
     "key column 'id'", None, None),
    ("merge into t using u on t.id = u.id when not matched then insert (id) values (t.a)", "42P01",
     "no row matched", "a", "columns of u"),
    ("merge into evnts using u on true when matched then delete", "42P01", "'evnts'", "evnts",
     "'events'"),
    ("drop table evnts", "42P01", "table 'evnts'", "evnts", "'events'"),
    ("describe evnts", "42P01", "table 'evnts'", "evnts", "'events'"),
    ("show tablets evnts", "42P01", "table 'evnts'", "evnts", None),
    ("show nonsense of t", "42601", "nonsense", "nonsense", "TABLES"),
    ("create unique index i on t (a)", "0A000", "unique indexes", "unique", None),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "sqlstate", "message", "under", "hint"), ERRORS)
def test_an_error_carries_sqlstate_place_and_way_out(
    context: PlanContext, sql: str, sqlstate: str, message: str, under: str | None, hint: str | None
) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    error = caught.value
    assert error.sqlstate == sqlstate
    assert message in error.message
    if under is not None:
        assert error.position is not None
        assert error.position.text[error.position.column - 1 :].startswith(under)
    if hint is not None:
        assert hint in (error.hint or "")


RESOLVED = [
    "select a x, x + 1 y from t where x > 1 group by all",
    "select t.id from t join u on t.id = u.t_id order by id",
    "select id from t join u using (id)",
    "select T.A, `ID` from T",
    "select x.id from t as x where x.a = 1",
    "select a + 1 as c from t order by c",
    "select a, count(*) as n from t group by a having n > 1",
    "with c as (select 1 as one), d as (select one from c) select * from d",
    "select (select max(id) from u where u.t_id = t.id) from t",
    "select id from t where a in (select id from u where u.id > t.b)",
    "select unnest([1, 2]) as x",
    "select list_transform([1, 2], x -> x + a) from t",
    "select * from t left join lateral (select * from u where u.t_id = t.id) l on true",
    "select sum(a) over w from t window w as (partition by b order by id)",
    "select case when a is null then 'x' else s end from t",
    "select extract(year from day), date_trunc('month', ts) from events",
]


@pytest.mark.parametrize("sql", RESOLVED)
def test_names_resolve_as_in_the_engine(context: PlanContext, sql: str) -> None:
    assert isinstance(plan(sql, context), Query)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select * from logs where msg = 'x'", ("day", "msg")),
        ("select auto_incrementing_id, * from logs", ("auto_incrementing_id", "day", "msg")),
        ("select logs.* from logs where day > 1", ("day", "msg")),
        ("select count(*), A, a + 1, s as Name, s as \"Name\" from t where b > 1 group by all",
         ("count(*)", "a", "a + 1", "name", "Name")),
        ("select * from t join u using (id)",
         ("id", "a", "b", "s", "d", "flag", "t_id", "name", "note")),
        ("select * exclude (a, b) from t", ("id", "s", "d", "flag")),
        ("select id from t union all select t_id from u", ("id",)),
        ("select regexp_replace(s, 'a', 'b'), datediff('2026-01-02', '2026-01-01') from t",
         ("regexp_replace(s, 'a', 'b')", "datediff('2026-01-02', '2026-01-01')")),
        ("values (1, 2)", ("col0", "col1")),
    ],
)  # fmt: skip
def test_result_columns_are_named(context: PlanContext, sql: str, names: tuple[str, ...]) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    assert planned.names == names


@pytest.mark.parametrize(
    ("sql", "used"),
    [
        ("select a from t where b > 1 order by s", {"a", "b", "s"}),
        ("select count(*) from t", {"id"}),
        ("select count(*) from events", {"at"}),
        ("select a from (select * from t) x", {"a"}),
        ("select x.a from (select * from t where b = 1) x", {"a", "b"}),
        ("with c as (select * from t) select c.a, d.b from c join c d on c.id = d.id", {"id", "a", "b"}),
        ("select count(*) from (select distinct * from t) x", {"id", "a", "b", "s", "d", "flag"}),
        ("select 1 from t where exists (select * from t y where y.a = 1)", {"id", "a"}),
        ("select * from (select * from (select * from t) a) b where b.s = 'x'",
         {"id", "a", "b", "s", "d", "flag"}),
    ],
)  # fmt: skip
def test_scans_read_only_the_columns_used(context: PlanContext, sql: str, used: set[str]) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    found = {s.table.schema.by_id[i].name for s in planned.scans for i in s.column_ids}
    assert found == used


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("select x.a from t x join t y on x.a = y.a", [{"a"}]),
        ("select x.a, (select max(y.b) from t y) from t x", [{"a", "b"}]),
        ("select x.a from t x join t y on x.a = y.b and y.s = 'x'", [{"a"}, {"b", "s"}]),
        ("select y.* from t x join logs l on true join logs y on l.day = x.a",
         [{"a"}, {"day"}, {"day", "msg"}]),
        ("select x.a from t x join t as of timestamp '2020-10-01' y on x.id = y.id",
         [{"id", "a"}, {"id"}]),
    ],
)  # fmt: skip
def test_mentions_that_read_the_same_rows_share_a_scan(
    context: PlanContext, sql: str, columns: list[set[str]]
) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    found = [{s.table.schema.by_id[i].name for i in s.column_ids} for s in planned.scans]
    assert found == columns


def test_a_star_never_shows_the_hidden_counter(context: PlanContext) -> None:
    planned = plan("select * from logs where auto_incrementing_id > 5", context)
    assert isinstance(planned, Query)
    assert planned.sql.startswith('SELECT * EXCLUDE ("logs"."auto_incrementing_id") FROM')
    assert planned.names == ("day", "msg")


def test_the_past_cannot_be_written_by_a_session_that_reads_it(context: PlanContext) -> None:
    past = replace(context, settings=PlanSettings(as_of=5))
    for sql in (
        "insert into t (id) values (1)",
        "update t set a = 1",
        "delete from t",
        "truncate t",
    ):
        with pytest.raises(Error) as caught:
            plan(sql, past)
        assert caught.value.sqlstate == "25006"


@pytest.mark.parametrize("call", ["read_csv('x')", "read_parquet('x')", "glob('x')"])
def test_a_function_that_reads_files_has_a_hint_at_copy(context: PlanContext, call: str) -> None:
    with pytest.raises(Error) as caught:
        plan(f"select * from {call}", context)
    assert (caught.value.hint or "").startswith("COPY t FROM 'file' reads files into a table")


def test_the_catalog_of_sqlite_has_a_hint_at_sqlalchemy(context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        plan("select name from sqlite_master", context)
    assert "SQLAlchemy: pykudu:///my.db" in (caught.value.hint or "")


FORBIDDEN = [
    "read_csv('x')", "read_text('x')", "read_blob('x')", "read_parquet('x')", "read_json('x')",
    "glob('*')", "parquet_scan('x')", "sniff_csv('x')", "current_setting('temp_directory')",
    "getenv('HOME')", "getvariable('x')", "query('select 1')", "query_table('t')",
    "duckdb_settings()", "duckdb_tables()", "pragma_version()", "nextval('s')",
    "setseed(0.5)", "write_log('x')", "json_execute_serialized_sql('x')",
    "json_serialize_sql('x')", "which_secret('x', 'y')", "current_role", "txid_current()", "error('x')",
    "sleep_ms(5)", "pg_sleep(1)", "add_parquet_key('x', 'y')", "enable_logging()", "checkpoint()",
    "has_table_privilege('x', 'y')", '"read_text"(\'x\')', "in_search_path('a', 'b')",
]  # fmt: skip


@pytest.mark.parametrize("call", FORBIDDEN)
def test_functions_outside_the_list_never_reach_the_engine(context: PlanContext, call: str) -> None:
    def refuse(sql: str) -> object:
        raise AssertionError(f"the engine was asked: {sql}")

    closed = replace(context, evaluate=refuse)
    for sql in (
        f"select {call}",
        f"select * from {call}",
        f"select a from t where a = {call}",
        f"select a from t for system_time as of {call}",
        f"insert into t (id) values ({call})",
        f"update t set a = {call} where id = 1",
        f"create table x (a int primary key default {call})",
        f"set as_of = {call}",
    ):
        with pytest.raises(Error):
            plan(sql, closed)


@pytest.mark.parametrize(
    "sql",
    [
        "select * as x from t",
        "select (*) from t",
        "select *v from t where id = 7",
        "select (t.*) from t",
        "select * rename r (a as w) from t",
        "select * replace (1) from t",
        "delete select t where id = 5",
        "select date(,)",
        "select unixepoch(,)",
        "select char()",
        "create table l (k int, non unique primary key (nothing))",
    ],
)
def test_what_parses_and_means_nothing_is_an_error_of_ours(context: PlanContext, sql: str) -> None:
    with pytest.raises(Error):
        plan(sql, context)


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("hots", ["host", "at"], "did you mean 'host'?"),
        ("nope", ["b", "a", "b"], "columns are b, a"),
        ("nope", ["__written", "a"], "columns are a"),
        ("nope", ["__written"], None),
        ("nope", [], None),
    ],
)
def test_a_hint_suggests_a_near_name_or_lists_the_columns_of_the_statement(
    name: str, candidates: list[str], hint: str | None
) -> None:
    assert undefined_column(name, candidates, None).hint == hint


@pytest.mark.parametrize(
    ("relations", "message", "hint"),
    [
        ([("t", None), ("u", None)], "t and u have one", "write t.a"),
        ([("t", "default"), ("t", "db")], "t and db.t have one", "write t.a"),
        (
            [("subquery 1", None), ("u", None)],
            "a subquery without an alias and u have",
            "write u.a",
        ),
        ([("subquery 1", None)], "a subquery without an alias have one", "write alias.a"),
    ],
)
def test_relations_are_called_as_a_qualifier_would_name_them(
    relations: list[tuple[str, str | None]], message: str, hint: str
) -> None:
    column = parse("select a").expressions[0]
    error = ambiguous(column, [DerivedTable(alias, (), database) for alias, database in relations])
    assert message in error.message
    assert error.hint == hint


def test_a_name_that_two_columns_of_a_relation_have_is_ambiguous() -> None:
    relation = DerivedTable("x", [OutputColumn("a"), OutputColumn("A"), OutputColumn("b")])
    column = parse("select a").expressions[0]
    check_ambiguous("b", relation, column)
    with pytest.raises(Error, match="several columns of x have the name"):
        check_ambiguous("a", relation, column)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("with f(n) as (select 1 union all select n from f) select * from f", "WITH RECURSIVE f"),
        ("with f as (with g as (select * from F) select * from g) select 1", "WITH RECURSIVE f"),
        ("with f as (select * from other) select * from f", "database 'default' has"),
        ("with f as (select * from d.f) select * from f", "there is no database 'd'"),
    ],
)
def test_a_query_that_reads_itself_is_told_the_word_it_lacks(
    context: PlanContext, sql: str, hint: str
) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    assert hint in str(caught.value.hint)
