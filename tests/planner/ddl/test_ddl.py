"""DDL from syntax to plan: IF [NOT] EXISTS, the session's defaults, and places of errors."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.alter_table import plan_alter_table
from pykudu_sql.planner.ddl.create_table import default_partitions, plan_create_table
from pykudu_sql.planner.ddl_grammar.alter_table_parser import parse_alter_table
from pykudu_sql.planner.ddl_grammar.create_table_parser import parse_create_table
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import AlterTable, CreateTable
from pykudu_sql.storage.catalog.alter import AddColumn, RenameColumn, SetProperties
from pykudu_sql.storage.errors import Error, UndefinedColumnError, UndefinedTableError


def created(text: str, context: PlanContext) -> CreateTable:
    tokens = TokenStream(text)
    tokens.expect("CREATE", "TABLE")
    return plan_create_table(parse_create_table(tokens), context)


def altered(text: str, context: PlanContext) -> AlterTable:
    tokens = TokenStream(text)
    tokens.expect("ALTER", "TABLE")
    return plan_alter_table(parse_alter_table(tokens), context)


def test_a_name_without_a_database_is_of_the_sessions(context: PlanContext) -> None:
    there = context.within("db", None)
    assert created("create table new (a int primary key)", there).name == "db.new"
    with pytest.raises(Error, match="'nope' does not exist") as caught:
        created("create table nope.new (a int primary key)", context)
    assert caught.value.span is not None


def test_without_partitions_the_session_says_how_many_buckets(context: PlanContext) -> None:
    schema = context.catalog.table("events").schema
    one = replace(context, settings=PlanSettings(default_hash_partitions=1))
    assert not default_partitions(schema, one).hash_dimensions
    four = replace(context, settings=PlanSettings(default_hash_partitions=4))
    (dimension,) = default_partitions(schema, four).hash_dimensions
    assert (dimension.column_ids, dimension.buckets) == ((0, 1), 4)


def test_a_table_like_another_takes_its_properties_but_no_comment(context: PlanContext) -> None:
    copy = created("create table c like t comment 'mine'", context)
    assert copy.schema == context.catalog.table("t").schema
    assert (copy.comment, copy.query) == ("mine", None)


def test_steps_with_nothing_to_do_do_not_reach_the_plan(context: PlanContext) -> None:
    added = altered("alter table t add columns if not exists (a int, z int)", context)
    (step,) = added.steps
    assert isinstance(step, AddColumn)
    assert step.column.name == "z"
    assert altered("alter table t drop column if exists z", context).steps == ()
    assert altered("alter table t change a a int", context).steps == ()


def test_each_step_sees_those_before_it(context: PlanContext) -> None:
    plan = altered("alter table t change a z int, add columns (a int)", context)
    assert [type(step) for step in plan.steps] == [RenameColumn, AddColumn]


def test_properties_are_set(context: PlanContext) -> None:
    plan = altered("alter table t set tblproperties ('x' = 'y')", context)
    assert plan.steps == (SetProperties((("x", "y"),)),)


@pytest.mark.parametrize(
    ("sql", "error", "at"),
    [
        ("alter table nope drop column a", UndefinedTableError, "nope"),
        ("alter table t drop column aa", UndefinedColumnError, "drop"),
        ("alter table t add columns (z int primary key)", Error, "z int"),
        ("alter table t change a a smallint", Error, "change"),
        ("alter table sys.tables drop column a", Error, "sys"),
    ],
)
def test_a_wrong_step_is_shown_at_its_place(
    context: PlanContext, sql: str, error: type[Error], at: str
) -> None:
    with pytest.raises(error) as caught:
        altered(sql, context)
    assert caught.value.span is not None
    assert sql[caught.value.span.start :].startswith(at)


def test_a_column_that_is_not_there_gets_a_near_name_as_hint(context: PlanContext) -> None:
    with pytest.raises(UndefinedColumnError) as caught:
        altered("alter table events drop column valu", context)
    assert "value" in (caught.value.hint or "")
