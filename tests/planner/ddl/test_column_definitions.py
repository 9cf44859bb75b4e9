"""A column as defined: its encoding, compression and default, and what contradicts itself."""

import pytest

from pykudu_sql.planner.ddl.column_definitions import column_of, near_column
from pykudu_sql.planner.ddl_grammar.create_table_parser import parse_create_table
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error


def column(definition: str, context: PlanContext) -> ColumnSchema:
    tokens = TokenStream(f"create table new (k int primary key, {definition})")
    tokens.expect("CREATE", "TABLE")
    return column_of(parse_create_table(tokens).columns[1], context)


def test_a_column_has_what_its_definition_says(context: PlanContext) -> None:
    defined = column("a int not null encoding rle compression none default 1 + 1", context)
    assert (str(defined.encoding), str(defined.compression)) == ("RLE", "NO_COMPRESSION")
    assert (defined.write_default, defined.nullable) == (2, False)


@pytest.mark.parametrize(
    "definition",
    ["a int compression wool", "a string encoding bit_shuffle", "a int not null default null"],
)
def test_a_definition_that_contradicts_itself_is_refused(
    context: PlanContext, definition: str
) -> None:
    with pytest.raises(Error):
        column(definition, context)


def test_a_near_name_is_suggested_for_the_one_in_a_message() -> None:
    columns = [ColumnSchema(1, "value", DataType(Kind.INT32))]
    assert "value" in (near_column("column 'valu' does not exist", columns) or "")
    assert near_column("no name here", columns) is None
