"""CREATE INDEX and DROP INDEX: which table they change, and which name is wrong."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.index_commands import create_index, drop_index
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import AlterTable, NoOperation
from pykudu_sql.storage.catalog.alter import CreateIndex, DropIndex, apply_steps
from pykudu_sql.storage.errors import (
    Error,
    NotSupportedError,
    UndefinedColumnError,
    UndefinedObjectError,
)


def made(sql: str, context: PlanContext) -> AlterTable:
    return create_index(TokenStream(sql), context)


def dropped(sql: str, context: PlanContext) -> AlterTable | NoOperation:
    return drop_index(TokenStream(sql), context)


def indexed(context: PlanContext, *names: str) -> PlanContext:
    """The world with index `i` on the first column of some tables that is not of the key."""
    tables = dict(context.catalog.tables)
    for name in names:
        table = tables[name]
        column = next(c for c in table.schema.columns if c.id not in table.schema.key_ids)
        tables[name] = apply_steps(table, (CreateIndex("i", (column.name,)),))
    return replace(context, catalog=replace(context.catalog, tables=tables))


def test_an_index_is_of_columns_in_any_direction(context: PlanContext) -> None:
    planned = made("create index I on T (a desc, s asc, b);", context)
    assert planned.table == context.catalog.table("t")
    assert planned.steps == (CreateIndex("i", ("a", "s", "b")),)
    assert planned.statement == "CREATE INDEX i ON t (a, s, b)"
    assert planned.message == "Index has been created."


def test_an_index_that_is_there_leaves_nothing_to_do_if_the_statement_says_so(
    context: PlanContext,
) -> None:
    there = indexed(context, "t")
    left = made("create index if not exists i on t (b)", there)
    assert (left.steps, left.message) == ((), "Index already exists.")
    with pytest.raises(Error) as caught:
        made("create index i on t (b)", there)
    assert caught.value.span is not None
    assert caught.value.span.start == len("create index ")


def test_an_index_cannot_be_unique_and_needs_columns_of_its_table(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match="unique indexes are not supported"):
        made("create unique index i on t (a)", context)
    with pytest.raises(UndefinedColumnError, match="'nope'"):
        made("create index i on t (a, nope)", context)


def test_an_index_in_one_table_is_dropped_without_naming_that(context: PlanContext) -> None:
    planned = dropped("index i", indexed(context, "u"))
    assert planned is not None
    assert (planned.table.name, planned.steps) == ("u", (DropIndex("i"),))


def test_an_index_in_several_tables_needs_the_name_of_one(context: PlanContext) -> None:
    there = indexed(context, "t", "u")
    with pytest.raises(UndefinedObjectError, match="index 'i' is in 2 tables"):
        dropped("index i", there)
    planned = dropped("index i on u", there)
    assert planned is not None
    assert planned.table.name == "u"


def test_an_index_that_is_nowhere_is_an_error_unless_the_statement_says_otherwise(
    context: PlanContext,
) -> None:
    assert dropped("index if exists i", context) == NoOperation("There is no index i.")
    with pytest.raises(UndefinedObjectError, match="index 'ii' does not exist"):
        dropped("index ii", indexed(context, "t"))
    missing = dropped("index if exists i on u", indexed(context, "t"))
    assert missing == NoOperation("There is no index i.")
