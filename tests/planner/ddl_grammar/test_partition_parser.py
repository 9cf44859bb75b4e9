"""PARTITION BY and ranges, from tokens to syntax."""

import pytest

from pykudu_sql.planner.ddl_grammar.partition_parser import parse_partition_by, parse_range
from pykudu_sql.planner.ddl_grammar.syntax import PartitionClause, RangeClause
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import SyntaxError


def partition_by(sql: str) -> PartitionClause:
    return parse_partition_by(TokenStream(f"partition by {sql}"))


def range_of(sql: str) -> RangeClause:
    return parse_range(TokenStream(f"partition {sql}"))


def test_hash_dimensions_and_a_range_follow_one_another_with_or_without_commas() -> None:
    for separator in (", ", " "):
        clause = partition_by(
            separator.join(("hash (a, b) partitions 4", "hash partitions 2", "range (c)"))
        )
        assert [(each.columns, each.buckets) for each in clause.hashes] == [
            (("a", "b"), 4),
            ((), 2),
        ]
        assert (clause.range_columns, clause.ranges) == (("c",), None)


def test_a_range_without_columns_is_over_the_key_and_may_list_no_partition() -> None:
    assert partition_by("range").range_columns == ()
    empty = partition_by("range () ()")
    assert (empty.range_columns, empty.ranges) == ((), ())


@pytest.mark.parametrize(
    ("written", "mirrored"),
    [
        ("values < 20", "20 > values"),
        ("10 <= values", "values >= 10"),
        ("10 < values <= 20", "20 >= values > 10"),
    ],
)
def test_a_comparison_reads_the_same_from_either_side(written: str, mirrored: str) -> None:
    for plain, other in zip(
        (range_of(written).lower, range_of(written).upper),
        (range_of(mirrored).lower, range_of(mirrored).upper),
        strict=True,
    ):
        assert (plain is None) == (other is None)
        if plain is not None and other is not None:
            assert plain.inclusive == other.inclusive
            assert [value.text for value in plain.values] == [value.text for value in other.values]


def test_one_value_bounds_a_range_on_both_sides() -> None:
    clause = range_of("value = (1, 'x')")
    assert clause.lower == clause.upper
    assert clause.lower is not None
    assert clause.lower.inclusive
    assert [value.text for value in clause.lower.values] == ["1", "'x'"]


def test_unbounded_has_no_bounds_and_a_range_takes_hashes_of_its_own() -> None:
    clause = range_of("unbounded hash (a) partitions 3 hash (b) partitions 5")
    assert (clause.lower, clause.upper) == (None, None)
    assert [each.buckets for each in clause.hashes] == [3, 5]


def test_parentheses_in_front_of_an_operator_are_no_list() -> None:
    (value,) = range_of("(1 + 2) * 3 <= values").lower.values  # type: ignore[union-attr]
    assert value.text == "(1 + 2) * 3"


def test_split_rows_keep_their_place_in_the_text() -> None:
    sql = "range (a, b) split rows ((1, 'a'), (2, 'b'))"
    clause = partition_by(sql)
    assert [[value.text for value in row.values] for row in clause.splits] == [
        ["1", "'a'"],
        ["2", "'b'"],
    ]
    whole = f"partition by {sql}"
    assert [whole[row.start :][:3] for row in clause.splits] == ["(1,", "(2,"]


@pytest.mark.parametrize(
    ("sql", "offender", "expected"),
    [
        ("list (a)", "list", "HASH or RANGE"),
        ("range (a) range (b)", "range", "HASH or RANGE"),
        ("hash (a) partitions 2.5", "2.5", "whole number"),
        ("range (a) (partition values)", ")", "comparison"),
        ("range (a) (partition 1 <= values >= 2)", "1", "one lower and one upper bound"),
        ("range (a) (partition 1 values)", "values", "<, <=, > or >="),
        ("range (a) (partition < values)", "<", "a constant"),
    ],
)
def test_what_does_not_follow_the_grammar_is_shown_with_what_is_expected(
    sql: str, offender: str, expected: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        partition_by(sql)
    assert caught.value.message == f'syntax error at or near "{offender}"'
    assert expected in (caught.value.hint or "")
