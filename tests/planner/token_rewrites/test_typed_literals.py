"""A cast behind a typed literal is one of the literal, not of its text."""

import pytest

from pykudu_sql.planner.parse.dialect import Kudu, parse, printed
from pykudu_sql.planner.token_rewrites.typed_literals import with_whole_literals


@pytest.mark.parametrize(
    ("literal", "kind"),
    [
        ("DATE '2026-01-31'", "DATE"),
        ("timestamp '2026-01-31 10:00'", "TIMESTAMP"),
        ("DECIMAL(5, 2) '1.5'", "DECIMAL(5, 2)"),
        ("TIMESTAMP WITH TIME ZONE '2026-01-31'", "TIMESTAMPTZ"),
    ],
)
def test_the_literal_is_read_first(literal: str, kind: str) -> None:
    text = literal[literal.index("'") :]
    assert printed(parse(f"SELECT {literal}::TEXT")) == (
        f"SELECT CAST((CAST({text} AS {kind})) AS TEXT)"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DATE '2026-01-31', x::date",
        "SELECT 'a'::text, f(x, 'a'::text), x LIKE 'a'::text",
        "SELECT INTERVAL '1 day'::text",
    ],
)
def test_other_casts_stay_as_they_are(sql: str) -> None:
    tokens = list(Kudu().tokenize(sql))
    assert with_whole_literals(tokens) is tokens
