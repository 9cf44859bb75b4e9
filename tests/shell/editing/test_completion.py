"""What is suggested where: a table of texts, the cursor at the mark `|`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.completer import ShellCompleter, is_fuzzy_match
from pykudu_sql.shell.editing.command_arguments import COMMAND_ARGUMENTS, Suggest
from pykudu_sql.shell.editing.completion import Completion, complete, relations_by_recency
from pykudu_sql.shell.session import ShellSession
from pykudu_sql.shell.settings import Settings
from pykudu_sql.storage.cfile.encoding.type_encodings import BY_NAME
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression

S = Suggest
EXPRESSION = (S.COLUMNS, S.FUNCTIONS, S.KEYWORDS)
BEFORE_FROM = (S.COLUMNS, S.COLUMNS_OF_ALL, S.FUNCTIONS, S.KEYWORDS)


def at_mark(text: str) -> Completion:
    cursor = text.index("|")
    return complete(text.replace("|", "", 1), cursor)


@pytest.mark.parametrize(
    ("text", "kinds", "prefix"),
    [
        ("|", (S.STATEMENTS,), ""),
        ("sel|", (S.STATEMENTS,), "sel"),
        ("select 1; ins|", (S.STATEMENTS,), "ins"),
        ("-- comment\nsel|", (S.STATEMENTS,), "sel"),
        ("show |", (S.LISTINGS,), ""),
        ("show cre|", (S.LISTINGS,), "cre"),
        ("set |", (S.SETTINGS,), ""),
        ("set row_|", (S.SETTINGS,), "row_"),
        ("set database |", (S.SETTINGS,), ""),
        ("reset |", (S.SETTINGS,), ""),
        ("select |", BEFORE_FROM, ""),
        ("select a, b|", BEFORE_FROM, "b"),
        ("select a |", (S.KEYWORDS,), ""),
        ("select count(|", BEFORE_FROM, ""),
        ("select a + |", BEFORE_FROM, ""),
        ("select case when |", BEFORE_FROM, ""),
        ("select * |", BEFORE_FROM, ""),
        ("select * from |", (S.TABLES,), ""),
        ("select * from fl|", (S.TABLES,), "fl"),
        ('select * from "Fl|', (S.TABLES,), '"Fl'),
        ("select * from a, |", (S.TABLES,), ""),
        ("select * from a join |", (S.TABLES,), ""),
        ("select * from a |", (S.KEYWORDS,), ""),
        ("select * from a where |", EXPRESSION, ""),
        ("select * from a where x = |", EXPRESSION, ""),
        ("select * from a where x in (|", EXPRESSION, ""),
        ("select * from a join b on |", (Suggest.JOINS, *EXPRESSION), ""),
        ("select * from a order by x, |", EXPRESSION, ""),
        ("select * from a where x in (select y from |", (S.TABLES,), ""),
        ("select f(a, |) from t", EXPRESSION, ""),
        ("select extract(year from |", EXPRESSION[2:], ""),
        ("insert into |", (S.TABLES,), ""),
        ("insert into t (|", (S.COLUMNS,), ""),
        ("insert into t (a, b|", (S.COLUMNS,), "b"),
        ("insert into t (a) values (|", EXPRESSION, ""),
        ("upsert into |", (S.TABLES,), ""),
        ("update |", (S.TABLES,), ""),
        ("update t set |", EXPRESSION, ""),
        ("delete from |", (S.TABLES,), ""),
        ("alter table |", (S.TABLES,), ""),
        ("alter table t drop column |", (S.COLUMNS,), ""),
        ("alter table t add column x |", (S.TYPES,), ""),
        ("drop table if exists |", (S.TABLES,), ""),
        ("describe |", (S.TABLES,), ""),
        ("optimize |", (S.TABLES,), ""),
        ("vacuum table |", (S.TABLES,), ""),
        ("select * from sys.|", (S.SYSTEM_TABLES,), ""),
        ("select * from information_schema.ta|", (S.SYSTEM_TABLES,), "ta"),
        ("describe sys.ta|", (S.SYSTEM_TABLES,), "ta"),
        ("select sys.|", (S.COLUMNS,), ""),
        ("show create table |", (S.TABLES,), ""),
        ("create table t (id |", (S.TYPES,), ""),
        ("create table t (id bigint, v s|", (S.TYPES,), "s"),
        ("create table t (id bigint, primary key (|", (S.COLUMNS,), ""),
        ("select cast(a as |", (S.TYPES,), ""),
        ("select a::|", (S.TYPES,), ""),
        ("explain |", (S.NEXT, S.STATEMENTS), ""),
        ("explain analyze sel|", (S.NEXT, S.STATEMENTS), "sel"),
        ("create |", (S.NEXT,), ""),
        ("create or replace ta|", (S.NEXT,), "ta"),
        ("insert |", (S.NEXT,), ""),
        ("restore table t |", (S.NEXT,), ""),
        ("restore table t to |", (S.NEXT, S.FUNCTIONS), ""),
        ("select * from t as of |", (S.NEXT, S.FUNCTIONS), ""),
        ("set engine = |", (S.VALUES,), ""),
        ("set engine = 'sp|", (S.VALUES,), "'sp"),
        ("set maintenance to t|", (S.VALUES,), "t"),
        ("update t set engine = |", EXPRESSION, ""),
        ("select * from t as of snapshot |", (S.SNAPSHOTS,), ""),
        ("restore table t to snapshot b|", (S.SNAPSHOTS,), "b"),
        (".asof |", (S.SNAPSHOTS,), ""),
        (".log |", (S.TABLES,), ""),
        (".import |", (S.FILES,), ""),
        (".import a.csv t|", (S.TABLES,), "t"),
        (".export t |", (S.FILES,), ""),
        (".diff t since b|", (S.SNAPSHOTS,), "b"),
        (".run |", (S.SAVED,), ""),
        (".help create t|", (S.COMMANDS, S.STATEMENTS), "create t"),
        ("drop view if exists |", (S.TABLES,), ""),
        ("create view |", (S.KEYWORDS,), ""),
        ("use |", (S.DATABASES,), ""),
        ("drop database if exists |", (S.DATABASES,), ""),
        # Before there is a FROM, columns of all tables may be meant.
        ("select id, carr|", BEFORE_FROM, "carr"),
        ("explain select f(|", BEFORE_FROM, ""),
        ("create table u as select |", BEFORE_FROM, ""),
        ("create view u as select |", BEFORE_FROM, ""),
        ("insert into t (a) select |", BEFORE_FROM, ""),
        ("copy (select |", BEFORE_FROM, ""),
        ("select * from (select |", BEFORE_FROM, ""),
        ("update t set a = (select |", BEFORE_FROM, ""),
        ("with x as (select |", BEFORE_FROM, ""),
        ("select | from t", EXPRESSION, ""),
        ("update t set a = |", EXPRESSION, ""),
        # Statements about a table, and about its columns.
        ("summarize |", (S.TABLES,), ""),
        ("desc |", (S.TABLES,), ""),
        ("show columns in |", (S.TABLES,), ""),
        ("show range partitions |", (S.TABLES,), ""),
        ("show rowsets fl|", (S.TABLES,), "fl"),
        ("show column stats |", (S.TABLES,), ""),
        ("comment on |", (S.NEXT,), ""),
        ("comment on table |", (S.TABLES,), ""),
        ("comment on table t |", (S.NEXT,), ""),
        ("comment on column t.a |", (S.NEXT,), ""),
        ("comment on database |", (S.DATABASES,), ""),
        ("show create database |", (S.DATABASES,), ""),
        ("comment on column |", (S.TABLES,), ""),
        ("comment on column t.|", (S.COLUMNS,), ""),
        ("create index i on |", (S.TABLES,), ""),
        ("create index if not exists i on t (|", (S.COLUMNS,), ""),
        ("drop index |", (S.INDEXES,), ""),
        ("drop index if |", (S.NEXT,), ""),
        ("drop index if exists by|", (S.INDEXES,), "by"),
        ("drop index i |", (S.NEXT,), ""),
        ("drop index if exists i on |", (S.TABLES,), ""),
        ("drop table t, |", (S.TABLES,), ""),
        ("drop view v, |", (S.TABLES,), ""),
        ("undrop table |", (S.DROPPED_TABLES,), ""),
        ("undrop table t |", (S.NEXT,), ""),
        ("alter table t drop constraint if exists |", (S.CONSTRAINTS,), ""),
        ("create table u like |", (S.TABLES,), ""),
        ("create table u (like |", (S.TABLES,), ""),
        ("copy |", (S.TABLES,), ""),
        ("copy t (|", (S.COLUMNS,), ""),
        ("copy t from |", (S.KEYWORDS,), ""),
        ("merge into t using |", (S.TABLES,), ""),
        ("delete from t using |", (S.TABLES,), ""),
        ("alter table t drop column if exists |", (S.COLUMNS,), ""),
        ("alter table t modify |", (S.COLUMNS,), ""),
        # Literals and comments are the user's own.
        ("select 'ab|", (), ""),
        ("select 'a|b'", (), ""),
        ("select 12|", (), ""),
        ("select a -- com|", (), ""),
        ("select /* com|", (), ""),
        ("select /* c */ |", BEFORE_FROM, ""),
        # Commands.
        (".|", (S.COMMANDS,), "."),
        (".ta|", (S.COMMANDS,), ".ta"),
        ("\\d|", (S.COMMANDS,), "\\d"),
        (".mode |", (S.FORMATS,), ""),
        (".mode cs|", (S.FORMATS,), "cs"),
        (".timer o|", (S.SWITCHES,), "o"),
        (".read ./a|", (S.FILES,), "./a"),
        (".schema t|", (S.TABLES,), "t"),
        (".quit |", (), ""),
    ],
)
def test_kinds_at_the_cursor(text: str, kinds: tuple[Suggest, ...], prefix: str) -> None:
    found = at_mark(text)
    assert (found.kinds, found.prefix) == (kinds, prefix)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("select | from a", ("a",)),
        ("select x from a where |", ("a",)),
        ("select | from a, b as c join d on 1 = 1", ("a", "b", "d")),
        ("select c.| from a, b as c", ("b",)),
        ("select c.x| from a join b c on a.id = c.id", ("b",)),
        ("select * from a where a.|", ("a",)),
        ('select "Big".| from "Big"', ("Big",)),
        ("select unknown.| from a", ("unknown",)),
        ("update t set |", ("t",)),
        ("insert into t (|", ("t",)),
        ("with x as (select a from t) select | from x", ("x",)),
        ("with x as (select | from t) select * from x", ("t",)),
        ("select * from a where i in (select | from b) and x", ("a", "b")),
        ("select | from (select z from b) d join c", ("c",)),
        ("select | from (a join b on 1 = 1)", ("b",)),
        ("alter table t drop column |", ("t",)),
        ("select | from a; select 1 from b", ("a",)),
        ("select 1 from a; select | from b", ("b",)),
        ("merge into a using b on a.|", ("a",)),
        ("merge into a x using b y on x.i = y.i when matched then update set |", ("a", "b")),
        ("create index i on t (|", ("t",)),
        ("copy t (|", ("t",)),
        ("create table u as select |", ()),
    ],
)
def test_columns_are_those_of_the_tables_of_the_statement(
    text: str, tables: tuple[str, ...]
) -> None:
    found = at_mark(text)
    assert Suggest.COLUMNS in found.kinds
    assert found.tables == tables


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("with x as (select 1) select * from |", ("x",)),
        ("with x as (select 1), y as (select 2) select * from |", ("x", "y")),
        ("select | from flights f join planes as p", ("f", "p")),
        ("select | from flights", ()),
    ],
)
def test_names_given_in_the_statement_are_suggested(text: str, names: tuple[str, ...]) -> None:
    assert at_mark(text).names == names


@given(st.text(st.sampled_from("select from.,()'\"`;*-/\\ \nabAS1"), max_size=60), st.data())
def test_no_text_upsets_it(text: str, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(text)))
    assert text[:cursor].endswith(complete(text, cursor).prefix)


def test_columns_of_a_table_with_a_schema_are_found_by_its_alias_and_its_name() -> None:
    assert at_mark("select r.| from sys.rowsets r").tables == ("sys.rowsets",)
    assert at_mark("select rowsets.| from sys.rowsets").tables == ("sys.rowsets",)
    assert at_mark("select | from sys.rowsets as r, t").tables == ("sys.rowsets", "t")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("with x as (select a, b + 1 as c, t.d, f(e) g, 1 + h from t) select | from x",
         ("a", "c", "d", "g")),
        ("select x.| from (select a as z, count(*) n from t group by a) x", ("z", "n")),
        ("select | from (select distinct a from t) as x", ("a",)),
        ("with x as (select 1 as one), y as (select 2 as two) select y.| from x, y", ("two",)),
        ("select | from t", ()),
        ("with x as (select a as one from t) select |", ("one",)),
    ],
)  # fmt: skip
def test_columns_of_named_subqueries_are_suggested(text: str, columns: tuple[str, ...]) -> None:
    assert at_mark(text).columns == columns


@pytest.mark.parametrize(
    ("name", "typed", "matches"),
    [
        ("customer_id", "cid", True),
        ("customer_id", "id", True),
        ("date_trunc", "dtr", True),
        ("date_trunc", "trunc", True),
        ("customer_id", "xid", False),
        ("customer_id", "c", False),
        ("abc", "cb", False),
    ],
)
def test_letters_in_order_find_a_name(name: str, typed: str, matches: bool) -> None:
    assert is_fuzzy_match(name, typed) == matches


def test_every_function_setting_value_and_snapshot_is_offered() -> None:
    session = ShellSession(":memory:", Settings(), registry.run)
    session.connection.execute("CREATE SNAPSHOT before_all")
    completer = ShellCompleter(session)

    def offered(text: str) -> list[str]:
        event = CompleteEvent(completion_requested=True)
        return [c.text for c in completer.get_completions(Document(text, len(text)), event)]

    assert len(offered("SELECT ")) > 700
    assert "months_between" in offered("SELECT months")
    assert offered("SELECT mthsbtw")[0] == "months_between"
    assert offered("SET engine = 's") == ["'spark'"]
    assert offered("SET read_only = ") == ["true", "false"]
    assert offered("SELECT date_trunc") == []
    assert offered("ALTER TABLE t ")[:2] == ["ADD", "ADD CONSTRAINT"]
    assert offered("ALTER TABLE t ALTER COLUMN c ") == ["SET", "DROP"]
    assert "DICT_ENCODING" in offered("CREATE TABLE t (a STRING ENCODING ")
    assert offered("CREATE ")[:2] == ["DATABASE", "INDEX"]
    assert offered("create or replace ") == ["TABLE", "VIEW"]
    assert offered("RESTORE TABLE t ") == ["TO"]
    assert offered("SELECT * FROM t AS OF sna") == ["snapshot"]
    assert offered("EXPLAIN ")[:2] == ["ANALYZE", "ALTER TABLE"]
    assert offered("SET eng")[0] == "engine"
    assert offered("USE ") == ['"default"']
    session.connection.execute("CREATE TABLE t (customer_id INT PRIMARY KEY)")
    assert offered("SELECT 1 FROM t WHERE cid")[0] == "customer_id"
    assert offered("SELECT * FROM t AS OF SNAPSHOT bef") == ["before_all"]
    tables = session.connection.list_system_tables()
    assert {f"sys.{name}" for name in offered("SELECT * FROM sys.")} <= set(tables)
    assert offered("SELECT * FROM information_schema.schema") == ["schemata"]
    assert (
        offered("WITH x AS (SELECT 1 AS total_cost) SELECT * FROM x WHERE tot")[0] == "total_cost"
    )
    session.close()


def test_columns_of_all_tables_and_views_are_offered_before_there_is_a_from() -> None:
    typed = ["SELECT * FROM planes;", "select vcarrier from v", "DELETE FROM sys.tablets"]
    session = ShellSession(":memory:", Settings(), registry.run)
    for statement in (
        "CREATE TABLE flights (id BIGINT PRIMARY KEY, carrier STRING)",
        "CREATE TABLE planes (plane BIGINT PRIMARY KEY, carrier_name STRING)",
        "CREATE VIEW v AS SELECT carrier AS vcarrier FROM flights",
    ):
        session.connection.execute(statement)
    completer = ShellCompleter(session, lambda: typed)

    def offered(text: str) -> list[str]:
        event = CompleteEvent(completion_requested=True)
        return [c.text for c in completer.get_completions(Document(text, len(text)), event)]

    # Those of the table named last come first, functions behind all columns.
    assert offered("SELECT ")[:5] == ["vcarrier", "plane", "carrier_name", "id", "carrier"]
    assert offered("SELECT carr") == ["carrier_name", "carrier"]
    assert offered("SELECT vc") == ["vcarrier"]
    assert offered("SELECT id FROM flights WHERE carr") == ["carrier"]
    assert offered("SELECT * FROM v WHERE v")[0] == "vcarrier"
    assert {"flights", "planes", "v"} <= set(offered(".schema "))
    assert {"flights", "planes", "v"} <= set(offered("SELECT * FROM "))
    session.close()


def test_indexes_dropped_tables_and_constraints_are_offered_where_one_is_named() -> None:
    session = ShellSession(":memory:", Settings(), registry.run)
    for statement in (
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, CONSTRAINT positive CHECK (v > 0))",
        "CREATE TABLE u (id INT PRIMARY KEY, w INT, CONSTRAINT small CHECK (w < 9))",
        "CREATE INDEX by_v ON t (v)",
        "CREATE INDEX by_w ON u (w)",
        "CREATE TABLE gone (id INT PRIMARY KEY)",
        "DROP TABLE gone",
    ):
        session.connection.execute(statement)
    completer = ShellCompleter(session)

    def offered(text: str) -> list[str]:
        event = CompleteEvent(completion_requested=True)
        return [c.text for c in completer.get_completions(Document(text, len(text)), event)]

    assert offered("DROP INDEX ") == ["by_v", "by_w"]
    assert offered("DROP INDEX by_v ") == ["ON"]
    assert offered("UNDROP TABLE ") == ["gone"]
    assert offered("ALTER TABLE u DROP CONSTRAINT ") == ["small"]
    assert offered("COMMENT ON ") == ["TABLE", "COLUMN", "VIEW", "DATABASE"]
    assert offered("COMMENT ON COLUMN t.v ") == ["IS"]
    session.close()


def test_the_tables_of_the_last_line_come_first() -> None:
    lines = ["select 1 from a, b", "update c set x = 1", "not sql '", "select 1 from a"]
    assert relations_by_recency(lines) == ["a", "c", "b"]


def test_encodings_and_compressions_are_those_that_there_are() -> None:
    assert at_mark("CREATE TABLE t (a INT ENCODING |").next == tuple(
        sorted(map(str, (*BY_NAME.values(), AUTO_ENCODING)))
    )
    assert at_mark("ALTER TABLE t ALTER COLUMN a SET COMPRESSION |").next == tuple(Compression)


def test_every_command_that_takes_a_file_a_table_or_a_switch_completes_it() -> None:
    kinds = {"FILE": Suggest.FILES, "TABLE": Suggest.TABLES, "[on|off]": Suggest.SWITCHES}
    for command in registry.COMMANDS:
        for place, word in enumerate(command.arguments.split()):
            if (kind := kinds.get(word.strip("[]") if "on|" not in word else word)) is not None:
                offered = COMMAND_ARGUMENTS[command.names[0]]
                assert kind in offered[min(place, len(offered) - 1)], command.usage
