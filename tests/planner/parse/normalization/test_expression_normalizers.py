"""Operators, calls and literals mean to the engine what they mean as written, or are refused."""

import pytest

from pykudu_sql.planner.parse.normalization.expression_normalizers import EXPRESSION_NORMALIZERS
from tests.planner.parse.normalization.statements import assert_refused, normalized


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("~ ~ - 1", "~(~(-1))"),
        ("- ~ 1", "-(~1)"),
        ("- - 1", "- -1"),
        ("n'a'", "'a'"),
        ("\"upper\"('a')", "UPPER('a')"),
        ("round(x => 1)", 'ROUND("x" => 1)'),
        ("x like 'a' escape ''", "x LIKE 'a' ESCAPE ''"),
        ("map {'a': 1}['a']", "MAP {'a': 1}['a']"),
        ("[x for x in y]", "[x FOR x IN y]"),
    ],
)
def test_an_expression_is_written_so_that_the_engine_reads_it_alike(
    written: str, normal: str
) -> None:
    assert normalized(written, EXPRESSION_NORMALIZERS) == normal


@pytest.mark.parametrize(
    ("written", "sqlstate", "message", "under"),
    [
        ("date_part('bananas', x)", "22023", "'bananas' is no unit of time", "bananas"),
        ("x like 'a' escape '!?'", "22019", "'!?' cannot escape", "!?"),
        ("x operator(s.+) y", "0A000", "OPERATOR(...) is not supported", "operator"),
        ("map {'k', 1}", "42601", "a key, a colon and a value", "'k'"),
        ("map {'k': 1, 2}['k']", "42601", "a key, a colon and a value", "2"),
        ("[1, x for x in range(3)]", "42601", "no other elements beside it", "1, x"),
        ("[x for x in range(3), 1]", "42601", "no other elements beside it", "x for"),
    ],
)
def test_an_expression_that_is_not_offered_is_refused_with_its_place(
    written: str, sqlstate: str, message: str, under: str
) -> None:
    assert_refused(written, EXPRESSION_NORMALIZERS, sqlstate, message, under)
