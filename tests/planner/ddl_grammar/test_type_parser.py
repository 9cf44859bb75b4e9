"""Names of types on tokens."""

import pytest

from pykudu_sql.planner.ddl_grammar.type_parser import type_name
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import SyntaxError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("int x", "INT"),
        ("double precision NOT NULL", "DOUBLE PRECISION"),
        ("decimal ( 10 , 2 )", "DECIMAL(10,2)"),
        ("character varying(20)", "CHARACTER VARYING(20)"),
        ("timestamp(6) without time zone", "TIMESTAMP(6)"),
        ("timestamp(6) with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("timestamp with comment", "TIMESTAMP"),
        ("struct(x int, y varchar(3)) NOT NULL", "STRUCT"),
        ("map(int, struct(a int[])) x", "MAP"),
    ],
)
def test_a_type_ends_where_its_words_end(text: str, name: str) -> None:
    assert type_name(TokenStream(text)) == name


@pytest.mark.parametrize("text", ["", "'int'", "decimal(x)", "decimal(1"])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError):
        type_name(TokenStream(text))
