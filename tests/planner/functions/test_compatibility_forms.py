"""Patterns, units and pairs of values: what they become for the engine, and which are none."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.compatibility_forms import (
    decoded,
    extreme_of,
    in_format,
    letters_pattern,
    strftime_pattern,
    texts_of_codes,
    truncated,
    units_later,
    zipped,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import InvalidValueError


def arguments(*written: str) -> Sequence[exp.Expr]:
    return [parse(f"SELECT {each}").expressions[0] for each in written]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def value(engine: duckdb.DuckDBPyConnection, node: exp.Expr) -> Any:
    row = engine.execute(f"SELECT {node.sql('duckdb')}").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("pattern", "directives"),
    [
        ("yyyy-MM-dd HH:mm:ss.SSS", "%Y-%m-%d %H:%M:%S.%g"),
        ("d MMM ''yy", "%-d %b '%y"),
        ("'o''clock' H", "o'clock %-H"),
        ("yyyy%", "%Y%%"),
        ("YYYY-MM-DD HH24:MI", "%Y-%m-%d %H:%M"),
        ("", ""),
    ],
)
def test_a_pattern_of_either_kind_becomes_directives(pattern: str, directives: str) -> None:
    assert strftime_pattern(exp.Literal.string(pattern)).name == directives


def test_text_in_double_quotes_stands_in_a_pattern_of_letters_as_it_is() -> None:
    assert letters_pattern(exp.Literal.string('YYYY"Y at 5%"mon')).name == "%YY at 5%%%b"


@pytest.mark.parametrize(("pattern", "letters"), [("yyyyy", "yyyyy"), ("dd q", "q")])
def test_letters_that_mean_nothing_are_named(pattern: str, letters: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^'{letters}' in a pattern"):
        strftime_pattern(exp.Literal.string(pattern))
    with pytest.raises(InvalidValueError, match=r"^'x' in a pattern"):
        letters_pattern(exp.Literal.string("YYYY x"))


def test_a_pattern_or_unit_must_be_a_constant_text() -> None:
    for node in (exp.column("p"), exp.Literal.number(5)):
        with pytest.raises(InvalidValueError, match="pattern of time must be written as a text"):
            strftime_pattern(node)
    with pytest.raises(InvalidValueError, match="unit must be written as a text"):
        truncated([exp.column("a"), exp.column("b")])


@pytest.mark.parametrize(
    ("unit", "count", "later"),
    [
        ("'DAY'", "1", "2024-02-01 10:00:00"),
        ("'months'", "1", "2024-02-29 10:00:00"),
        ("'Hour'", "-11", "2024-01-30 23:00:00"),
    ],
)
def test_units_are_added_to_a_time_in_either_number(
    engine: duckdb.DuckDBPyConnection, unit: str, count: str, later: str
) -> None:
    node = units_later(arguments(unit, count, "'2024-01-31 10:00:00'"))
    assert str(value(engine, node)) == later


def test_an_unknown_unit_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidValueError, match="'fortnight' is no unit") as caught:
        units_later(arguments("'fortnights'", "1", "a"))
    assert "week, month" in (caught.value.hint or "")
    with pytest.raises(InvalidValueError, match="does not cut times to 'xx'"):
        truncated(arguments("a", "'xx'"))


@pytest.mark.parametrize(
    ("unit", "start"),
    [("'d'", "2024-01-29"), ("'DDD'", "2024-01-31"), ("'Q'", "2024-01-01"), ("'yy'", "2024-01-01")],
)
def test_a_time_is_cut_to_a_unit_of_which_d_is_the_week(
    engine: duckdb.DuckDBPyConnection, unit: str, start: str
) -> None:
    node = truncated(arguments("'2024-01-31 10:11:12'", unit))
    assert str(value(engine, node)) == f"{start} 00:00:00"


def test_lists_are_zipped_up_to_the_shortest_only_where_the_statement_says_so(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    lists = ("[1, 2, 3]", "['a']")
    assert len(value(engine, zipped("list_zip", arguments(*lists, "TRUE")))) == 1
    assert len(value(engine, zipped("list_zip", arguments(*lists, "FALSE")))) == 3
    assert len(value(engine, zipped("list_zip", arguments(*lists)))) == 3
    with pytest.raises(InvalidValueError, match="neither a list nor written TRUE or FALSE"):
        zipped("list_zip", arguments(*lists, "1 = 1"))


def test_null_among_values_is_the_extreme_and_a_key_of_decode(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    assert value(engine, extreme_of("greatest", arguments("1", "NULL", "3"))) is None
    assert value(engine, extreme_of("least", arguments("2", "1"))) == 1
    pairs = ("1", "'one'", "NULL", "'none'")
    assert value(engine, decoded(arguments("NULL", *pairs, "'else'"))) == "none"
    assert value(engine, decoded(arguments("2", *pairs, "'else'"))) == "else"
    assert value(engine, decoded(arguments("2", *pairs))) is None


def test_characters_of_several_codes_are_one_text(engine: duckdb.DuckDBPyConnection) -> None:
    assert value(engine, texts_of_codes(arguments("72", "105"))) == "Hi"


@pytest.mark.parametrize("name", ["'hex'", "'BASE64'", "'utf-8'"])
def test_what_is_encoded_is_decoded_again(engine: duckdb.DuckDBPyConnection, name: str) -> None:
    written = "'größe'" if name == "'utf-8'" else r"'\x00\xFF'::BLOB"
    there = in_format("encode", arguments(written, name))
    back = in_format("decode", [there, *arguments(name)])
    assert value(engine, back) == value(engine, arguments(written)[0])


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(InvalidValueError, match="knows no format 'rot13'"):
        in_format("encode", arguments("a", "'rot13'"))
