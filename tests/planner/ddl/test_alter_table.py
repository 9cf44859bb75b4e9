# ruff: noqa: E501  (tables of statements read best one a line)
"""ALTER TABLE: steps in one statement, tried against the table before anything is done."""

import pytest

from pykudu_sql.planner.ddl_grammar.alter_table_parser import parse_alter_table
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import AlterTable
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.catalog.alter import (
    AddColumn,
    AddRange,
    DropColumn,
    DropRange,
    RenameColumn,
    RenameTable,
    SetAttributes,
    SetDefault,
)
from pykudu_sql.storage.common.partition.partition import HashDimension, RangePartition
from pykudu_sql.storage.common.types.types import Compression, Encoding
from pykudu_sql.storage.errors import Error


def steps(sql: str, context: PlanContext) -> tuple[object, ...]:
    planned = plan(sql, context)
    assert isinstance(planned, AlterTable)
    return planned.steps


def test_many_steps_of_all_kinds_make_one_plan(context: PlanContext) -> None:
    found = steps(
        "alter table t add columns (z int not null default 5 encoding rle, y string), "
        "drop column a, rename column b to bb, change s ss string, "
        "alter column ss set default 'x', alter d set compression lz4, "
        "alter column d drop default, rename to tt",
        context,
    )
    assert [type(step) for step in found] == [
        AddColumn,
        AddColumn,
        DropColumn,
        RenameColumn,
        RenameColumn,
        SetDefault,
        SetAttributes,
        SetDefault,
        RenameTable,
    ]
    first = found[0]
    assert isinstance(first, AddColumn)
    assert (first.column.write_default, first.column.encoding) == (5, Encoding("RLE"))
    assert found[5] == SetDefault("ss", "x")
    assert found[6] == SetAttributes("d", compression=Compression.LZ4)


def test_later_steps_see_what_earlier_ones_did(context: PlanContext) -> None:
    assert steps("alter table t drop column a, add column a string", context) == (
        DropColumn("a"),
        steps("alter table t drop column a, add a string", context)[1],
    )


def test_ranges_are_added_and_dropped_with_their_bounds(context: PlanContext) -> None:
    found = steps(
        "alter table events add range partition 5000 < values <= 6000 hash (host) partitions 2, "
        "drop range partition 0 <= values < 100, add range partition value = 50",
        context,
    )
    assert found == (
        AddRange(RangePartition((5001,), (6001,), (HashDimension((0,), 2),))),
        DropRange(RangePartition((0,), (100,))),
        AddRange(RangePartition((50,), (51,))),
    )


@pytest.mark.parametrize(
    "sql",
    [
        "alter table t add column if not exists a int",
        "alter table t add if not exists columns (a int, b int)",
        "alter table t drop column if exists nope",
        "alter table t drop if exists column nope",
        "alter table events add if not exists range partition 0 <= values < 100",
        "alter table events drop if exists range partition 7000 <= values < 7100",
        "alter table t change a a int",
    ],
)
def test_steps_with_nothing_to_do_leave_the_plan_empty(context: PlanContext, sql: str) -> None:
    assert steps(sql, context) == ()


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message"),
    [
        ("alter table nope add column a int", "42P01", "table 'nope' does not exist"),
        ("alter table t drop column aa", "42703", "column 'aa' does not exist"),
        ("alter table t drop column id", "42P16", "cannot drop primary key column"),
        ("alter table t add column a int", "42701", "exists already"),
        ("alter table t add column q int not null", "42P16", "must have a default"),
        ("alter table t add column q int primary key", "42P16", "cannot be added to the primary key"),
        ("alter table t rename column a to b", "42701", "exists already"),
        ("alter table t rename column x to y", "42703", "column 'x' does not exist"),
        ("alter table t change a aa smallint", "42P16", "cannot be altered from INT to SMALLINT"),
        ("alter table t alter column a set type bigint, alter b type", "42601", "end of the statement"),
        ("alter table t alter id set data type smallint", "42P16", "'id' cannot be altered"),
        ("alter table t alter a type bigint using 1", "0A000", "USING"),
        ("alter table t alter column id drop not null", "42P16", "cannot be NULL"),
        ("alter table t add check (a > x)", "42703", "column 'x' does not exist"),
        ("alter table t drop constraint c", "42704", "constraint 'c'"),
        ("alter table t alter column a set default 'x'", "22018", "cannot read 'x' as INT"),
        ("alter table t alter column a set encoding dict_encoding", "42P16", "not supported"),
        ("alter table t add range partition value = 5", "42P16", "not partitioned by range"),
        ("alter table events add range partition 50 <= values < 60", "42P16", "conflicts"),
        ("alter table events add range partition 0 <= values < 100", "42P07", "already exists"),
        ("alter table events drop range partition 50 <= values < 60", "42704", "no range partition"),
        ("alter table events add range partition 5000 <= values < 6000 hash (host) partitions 2 "
         "hash (at) partitions 2", "42P16", "hash dimensions"),
        ("alter table t", "42601", "end of the statement"),
        ("alter table t add column", "42601", "end of the statement"),
        ("alter table t drop column a b", "42601", "syntax error"),
    ],
)  # fmt: skip
def test_a_wrong_step_names_the_rule_and_the_place(
    context: PlanContext, sql: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    assert caught.value.sqlstate == sqlstate
    assert message in caught.value.message
    assert caught.value.position is not None


def test_a_near_column_is_suggested(context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        plan("alter table events drop column valu", context)
    assert caught.value.hint == "did you mean 'value'?"


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t ADD COLUMNS (z INT NOT NULL DEFAULT 5, y STRING), DROP COLUMN a",
        "ALTER TABLE t RENAME COLUMN a TO b, CHANGE c d INT, RENAME TO u",
        "ALTER TABLE t ALTER COLUMN a SET DEFAULT 5, ALTER COLUMN b DROP DEFAULT",
        "ALTER TABLE t ALTER COLUMN a SET ENCODING RLE, ALTER COLUMN a SET COMMENT 'it''s'",
        "ALTER TABLE t ADD RANGE PARTITION 1 <= VALUES < 5 HASH (a) PARTITIONS 2",
        "ALTER TABLE t DROP IF EXISTS RANGE PARTITION VALUE = ('a', 1)",
    ],
)
def test_syntax_prints_itself_back(sql: str) -> None:
    tokens = TokenStream(sql)
    tokens.expect("ALTER", "TABLE")
    assert str(parse_alter_table(tokens)) == sql
