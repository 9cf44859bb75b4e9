# ruff: noqa: E501  (tables of statements read best one a line)
"""CREATE TABLE: what it means, that it prints back, and every way to get it wrong."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl_grammar.create_table_parser import parse_create_table
from pykudu_sql.planner.explain.show_create import create_table_sql
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import CreateTable
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.catalog.table_info import TableInfo, TabletInfo
from pykudu_sql.storage.errors import Error


def created(sql: str, context: PlanContext) -> CreateTable:
    planned = plan(sql, context)
    assert isinstance(planned, CreateTable)
    return planned


def as_table(planned: CreateTable) -> TableInfo:
    tablets = tuple(
        TabletInfo(str(i), p) for i, p in enumerate(planned.partition_schema.partitions())
    )
    return TableInfo(
        "id",
        planned.name,
        planned.schema,
        planned.partition_schema,
        tablets,
        planned.comment,
        planned.properties,
    )


IMPALA = """CREATE TABLE readings (
  site INT,
  at TIMESTAMP,
  val DOUBLE NULL ENCODING BIT_SHUFFLE COMPRESSION LZ4,
  note STRING DEFAULT 'ok' BLOCK_SIZE 4096 COMMENT 'it''s fine',
  PRIMARY KEY (site, at)
)
PARTITION BY HASH (site) PARTITIONS 4,
  RANGE (at) (PARTITION '2026-01-01' <= VALUES < '2026-02-01',
              PARTITION '2026-02-01' <= VALUES < '2026-03-01' HASH (site) PARTITIONS 8)
COMMENT 'sensors' STORED AS KUDU TBLPROPERTIES ('kudu.num_tablet_replicas' = '1')"""

GOLDEN = """CREATE TABLE readings (
  site INT,
  at TIMESTAMP,
  val DOUBLE ENCODING BIT_SHUFFLE COMPRESSION LZ4,
  note STRING DEFAULT 'ok' BLOCK_SIZE 4096 COMMENT 'it''s fine',
  PRIMARY KEY (site, at)
)
PARTITION BY HASH (site) PARTITIONS 4, RANGE (at) (
  PARTITION '2026-01-01 00:00:00' <= VALUES < '2026-02-01 00:00:00',
  PARTITION '2026-02-01 00:00:00' <= VALUES < '2026-03-01 00:00:00' HASH (site) PARTITIONS 8
)
COMMENT 'sensors'
STORED AS KUDU
TBLPROPERTIES ('kudu.num_tablet_replicas' = '1')"""


def test_the_statement_of_impalas_documentation_prints_back(context: PlanContext) -> None:
    planned = created(IMPALA, context)
    assert create_table_sql(as_table(planned)) == GOLDEN
    assert len(planned.partition_schema.partitions()) == 12


ROUND_TRIPS = [
    IMPALA,
    "create table x (id bigint primary key, v string)",
    "create table x (v string, id bigint, primary key (id)) partition by hash partitions 3",
    "create table x (a int non unique primary key, b int) partition by hash (a) partitions 3",
    "create table x (day int, msg string, non unique primary key (day)) stored as kudu",
    "create table x (a string, b string, c int, primary key (a, b)) partition by range (a, b) ("
    "partition ('a', 'b') <= values < ('c', 'd'), partition value = ('x', 'y'))",
    "create table x (a int primary key) partition by range (partition values < 5,"
    " partition value = 7, partition 10 < values <= 20, partition 30 <= values)",
    "create table x (a int primary key) partition by range (a) (partition 20 > values, "
    "partition values >= 30)",
    "create table x (a int primary key) partition by range (a)",
    "create table x (a int primary key) partition by range (a) ()",
    "create table x (a binary primary key, b date default '2026-01-02', c decimal(30,4) default 1.5,"
    " d boolean default false, e float default 1e-3, f double default '-inf',"
    " g timestamp default '2026-01-01 10:00:00.5', h binary default x'00ff', i varchar(3) default 'abc',"
    " j tinyint not null default -5) partition by range (a) (partition x'00' <= values < 'z')",
    "create table `select` (`from` int primary key, `a b` string, `x``y` int)",
    "create table x (a int primary key, b int not null immutable, c string immutable default 'x')"
    " tblproperties ('kudu.table.maintenance_priority' = '2', 'it''s' = 'mine')",
    "create table x (a int, b string, primary key (a, b)) partition by hash (b) partitions 2,"
    " range (a, b) split rows ((1, 'a'), (2, 'b'))",
    "create table db.x (a int primary key encoding rle compression zstd block_size 1024)",
]


@pytest.mark.parametrize("sql", ROUND_TRIPS)
def test_a_table_prints_as_the_statement_that_makes_it_again(
    context: PlanContext, sql: str
) -> None:
    first = created(sql, context)
    again = created(create_table_sql(as_table(first)), context)
    assert again.schema == first.schema
    assert again.partition_schema == first.partition_schema
    assert (again.name, again.comment) == (first.name, first.comment)
    assert again.properties == first.properties


@pytest.mark.parametrize("sql", ROUND_TRIPS)
def test_syntax_prints_itself_back(sql: str) -> None:
    tokens = TokenStream(sql)
    tokens.expect("CREATE", "TABLE")
    node = parse_create_table(tokens)
    printed = str(node)
    if "`" in sql:
        assert node.name in printed
        return
    tokens = TokenStream(printed)
    tokens.expect("CREATE", "TABLE")
    assert str(parse_create_table(tokens)) == printed


def test_partition_columns_without_a_key_are_promoted(context: PlanContext) -> None:
    planned = created("create table p (a int, b int) partition by hash (a) partitions 3", context)
    assert planned.notes == ("Partition columns (a) are promoted as non unique primary key.",)
    assert planned.schema.auto_incrementing


def test_settings_give_a_key_and_partitions(context: PlanContext) -> None:
    settings = PlanSettings(default_hash_partitions=8, implicit_primary_key=True)
    planned = created("create table p (a int)", replace(context, settings=settings))
    assert [c.name for c in planned.schema.key_columns] == ["auto_incrementing_id"]
    assert len(planned.partition_schema.partitions()) == 8
    keyed = created("create table p (a int primary key)", replace(context, settings=settings))
    assert not keyed.schema.auto_incrementing


def test_a_table_takes_columns_and_types_from_a_query(context: PlanContext) -> None:
    planned = created(
        "create table big primary key (host, at) partition by hash (host) partitions 4 as "
        "select host, at, sum(amount) s, count(*) n, avg(value) a, max(day) m, null x, sum(at) i "
        "from events group by host, at",
        context,
    )
    assert [(c.name, str(c.type)) for c in planned.schema.columns] == [
        ("host", "STRING"),
        ("at", "INT"),
        ("s", "DECIMAL(38,2)"),
        ("n", "BIGINT"),
        ("a", "DOUBLE"),
        ("m", "DATE"),
        ("x", "STRING"),
        ("i", "BIGINT"),
    ]
    assert planned.query is not None
    assert planned.query.scans[0].table.name == "events"


def test_like_copies_columns_key_and_partitions(context: PlanContext) -> None:
    planned = created("create table if not exists copy like events", context)
    assert planned.schema == context.catalog.table("events").schema
    assert len(planned.partition_schema.partitions()) == 48
    assert planned.if_not_exists


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message", "under"),
    [
        ("create table f (a int)", "42P16", "needs a primary key", "f"),
        ("create table f (a float primary key)", "42P16", "cannot be in the primary key", "a"),
        ("create table f (a boolean primary key)", "42P16", "cannot be in the primary key", "a"),
        ("create table f (a int primary key, a int)", "42701", "given twice", "a"),
        ("create table f (a int, primary key (b))", "42703", "'b' does not exist", "p"),
        ("create table f (a inte primary key)", "42P16", "unknown type 'INTE'", "inte"),
        ("create table f (a varchar(0) primary key)", "42P16", "VARCHAR needs a length", "varchar"),
        ("create table f (a decimal(50,2) primary key)", "42P16", "out of range", "decimal"),
        ("create table f (a int primary key encoding dict_encoding)", "42P16", "not supported", "a"),
        ("create table f (a int primary key encoding foo)", "42P16", "unknown encoding", "a"),
        ("create table f (a int primary key compression foo)", "42P16", "unknown compression", "a"),
        ("create table f (a int primary key block_size 5)", "42P16", "BLOCK_SIZE 5", "a"),
        ("create table f (a int primary key, b int unique)", "0A000", "UNIQUE", "u"),
        ("create table f (a int primary key, unique (a))", "0A000", "UNIQUE", "u"),
        ("create table f (a int primary key, b int references t (id))", "0A000", "FOREIGN", "r"),
        ("create table f (a int primary key, b int check (b % 2 = 1))", "0A000", "CHECK", "b"),
        ("create table f (a int primary key, check (c > 1))", "42703", "'c'", "c"),
        ("create table f (a int primary key, primary key (a))", "42P16", "one PRIMARY KEY", "a"),
        ("create table f (a int null primary key)", "42P16", "cannot be NULL", "a"),
        ("create table f (a int primary key, b int default 'x')", "22018", "'b': cannot read", "'"),
        ("create table f (a int primary key, b tinyint default 300)", "22003", "out of range", "3"),
        ("create table f (a int primary key, b int default a)", "42P16", "no constant", "a"),
        ("create table f (a int primary key, b int not null default null)", "42P16", "NULL", "b"),
        ("create table f (a int primary key) partition by hash (b) partitions 3", "42703", "'b'", "H"),
        ("create table f (a int primary key, b int) partition by hash (b) partitions 3", "42P16",
         "not part of the primary key", "b"),
        ("create table f (a int primary key) partition by hash (a) partitions 1", "42P16",
         "at least 2", "p"),
        ("create table f (a int primary key) partition by hash (a) partitions 2, hash (a) partitions 3",
         "42P16", "a", "a"),
        ("create table f (a int primary key) partition by range (a) (partition 1 <= values < 5, "
         "partition 4 <= values < 8)", "42P16", "conflicts with existing one", "p"),
        ("create table f (a int primary key) partition by range (a) (partition 5 <= values < 5)",
         "42P16", "lower bound must be less", "p"),
        ("create table f (a int primary key) partition by range (a) (partition null <= values)",
         "42P16", "is NULL", "n"),
        ("create table f (a int primary key) partition by range (a) (partition value = 'x')",
         "22018", "'a': cannot read", "'"),
        ("create table f (a int primary key) partition by range (a) (partition value = (1, 2))",
         "42P16", "2 values for 1 column", "1"),
        ("create table f (a int primary key) partition by range (a) (partition 1 <= values > 0)",
         "42601", "syntax error", "1"),
        ("create table f (a int primary key) partition by range (a) (partition values)",
         "42601", "syntax error", ")"),
        ("create table f (a int primary key not null not null)", "42601", "syntax error", "n"),
        ("create table f", "42601", "end of the statement", ""),
        ("create table f ()", "42601", "syntax error", ")"),
        ("create table f (a int primary key) stored as parquet", "42601", "syntax error", "p"),
        ("create table g like nope", "42P01", "table 'nope' does not exist", "nope"),
        ("create table g primary key (x) as select 1 a", "42703", "'x' does not exist", "p"),
        ("create table g primary key (a) as select [1] a", "42P16", "type INT[]", None),
        ("create table g primary key (a) as select ? a", "0A000", "parameters", None),
        ("create table `" + "x" * 300 + "` (a int primary key)", "42P16", "is not valid", None),
    ],
)  # fmt: skip
def test_a_wrong_definition_names_the_rule_and_the_place(
    context: PlanContext, sql: str, sqlstate: str, message: str, under: str | None
) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    assert caught.value.sqlstate == sqlstate
    assert message in caught.value.message
    if under is not None:
        position = caught.value.position
        assert position is not None
        assert position.text[position.column - 1 :].lower().startswith(under.lower())


@pytest.mark.parametrize(
    ("names", "key"), [("", "id"), (" (k, v)", "k")], ids=["names of the query", "names of its own"]
)
def test_the_key_of_a_query_that_lacks_one_is_written_in_front_of_as(
    context: PlanContext, names: str, key: str
) -> None:
    with pytest.raises(Error) as caught:
        plan(f"create table f{names} as select id, a from t", context)
    hint = f"write CREATE TABLE f{names} PRIMARY KEY ({key}) AS SELECT .."
    assert caught.value.hint == hint


@pytest.mark.parametrize("clause", ["b int references t (id)", "foreign key (a) references t (id)"])
def test_a_foreign_key_has_a_hint_of_its_own(context: PlanContext, clause: str) -> None:
    with pytest.raises(Error) as caught:
        plan(f"create table f (a int primary key, {clause})", context)
    assert "joins need none" in (caught.value.hint or "")


def test_columns_behind_those_that_a_table_may_have_are_not_read(context: PlanContext) -> None:
    columns = ", ".join(f"c{i} int" for i in range(301))
    with pytest.raises(Error, match="more than the 300 columns of a table"):
        plan(f"create table wide ({columns}, ) no type (", context)


def test_too_many_columns_are_refused(context: PlanContext) -> None:
    columns = ", ".join(f"c{i} int" for i in range(301))
    with pytest.raises(Error, match="more than the 300 columns of a table"):
        plan(f"create table wide ({columns}, primary key (c0))", context)


@pytest.mark.parametrize(
    ("definition", "place"),
    [
        ("a int, temperature double, primary key (temperature))", "temperature double"),
        ("a int primary key, load int) partition by hash (load) partitions 2", "load int"),
        ("a int, a int, primary key (a))", "a int"),
    ],
)
def test_a_column_that_breaks_a_rule_is_shown_with_its_whole_name(
    context: PlanContext, definition: str, place: str
) -> None:
    sql = f"create table f ({definition}"
    with pytest.raises(Error) as caught:
        plan(sql, context)
    _, line, carets, *_ = str(caught.value).splitlines()
    name = place.split()[0]
    assert carets.index("^") == line.index(place)
    assert carets.count("^") == len(name)
