"""Texts that are parsed for short values are refused or checked where they may be too long."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.value_bounds.text_casts import (
    CASTABLE,
    MAX_TEXT_BYTES,
    TRY_CASTABLE,
    bound_casts,
    bound_comparison,
    refuse_long_text,
)
from pykudu_sql.storage.errors import InvalidValueError

LONG = f"repeat('1', {MAX_TEXT_BYTES + 1})"


def expression(text: str) -> exp.Expr:
    tree: exp.Expr = parse(f"select {text} from t").expressions[0]
    return tree


def checks(tree: exp.Expr) -> list[tuple[str, str]]:
    """Of each check its name, and what the text should be."""
    calls = list(tree.find_all(exp.Anonymous))
    found = [call for call in calls if call.name in (CASTABLE, TRY_CASTABLE)]
    return [(call.name, call.expressions[1].name) for call in found]


@pytest.mark.parametrize(
    ("text", "check", "kind"),
    [
        ("cast(x as int)", CASTABLE, "INT"),
        ("try_cast(upper(x) as date)", TRY_CASTABLE, "DATE"),
        ("strptime(x, '%Y')", CASTABLE, "TIMESTAMP"),
        ("try_strptime(x, '%Y')", TRY_CASTABLE, "TIMESTAMP"),
        ("d at time zone x", CASTABLE, "a time zone"),
        ("x is true", CASTABLE, "BOOLEAN"),
        ("space(x)", CASTABLE, "a number"),
        ("list_resize([1], upper(x))", CASTABLE, "a number"),
        ("bool_or(x)", CASTABLE, "BOOLEAN"),
        ("if(x, 1, 2)", CASTABLE, "BOOLEAN"),
        ("case when x then 1 end", CASTABLE, "BOOLEAN"),
        ("date_part(upper(x), d)", CASTABLE, "a unit"),
        ("datetime_trunc(d, upper(x))", CASTABLE, "a unit"),
    ],
)
def test_a_text_of_unknown_length_is_checked_before_it_is_parsed(
    text: str, check: str, kind: str
) -> None:
    node = expression(text)
    for each in list(node.walk()):
        bound_casts(each)
    assert checks(node) == [(check, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "cast('1' as int)",
        "cast(x as text)",
        "cast(x as int[])",
        "upper(x)",
        "x + 1",
        "x is null",
        "cast(replace('12', '1', '2') as int)",
        "json_extract(x, '$.a')",
        "case when starts_with(x, 'a') then 1 end",
    ],
)
def test_short_texts_and_casts_to_texts_stay_as_they_are(text: str) -> None:
    node = expression(text)
    for each in list(node.walk()):
        bound_casts(each)
    assert not checks(node)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x = 1", 1),
        ("x in (1, 2)", 1),
        ("x is not distinct from 1", 1),
        ("nullif(x, 1)", 1),
        ("case x when 1 then 2 end", 1),
        ("x = y", 2),
        ("upper(x) = y", 1),
        ("x in (y, z, upper(x), y)", 1),
        ("x in (upper(x), lower(y))", 0),
        ("upper(x) = lower(y)", 0),
        ("repeat(x, 9) = [y]", 1),
        ("repeat(x, 9) is distinct from [1]", 1),
        ("equal_null(repeat(x, 9), [1])", 1),
        ("nullif(repeat(x, 9), {'a': y})", 1),
        ("x = 'a'", 0),
        ("x < 1", 0),
        ("? = x", 0),
        ("1 = 2", 0),
    ],
)
def test_a_side_is_checked_that_the_engine_may_cast_to_the_type_of_the_other(
    text: str, count: int
) -> None:
    node = expression(text)
    bound_comparison(node, lambda _: None)
    assert checks(node) == [(CASTABLE, "what it is compared with")] * count


def test_a_call_is_checked_beside_one_that_is_known_to_be_no_text() -> None:
    node = expression("upper(x) = f(y)")
    bound_comparison(node, lambda side: "INTEGER[]" if "F(" in printed(side).upper() else None)
    assert checks(node) == [(CASTABLE, "what it is compared with")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"cast({LONG} as int)", "INT"),
        (f"strptime({LONG}, '%Y')", "TIMESTAMP"),
        (f"{LONG} = 1", "what it is compared with"),
    ],
)
def test_a_text_that_is_written_too_long_is_refused(text: str, kind: str) -> None:
    with pytest.raises(InvalidValueError, match=f"at least 65537 bytes to {kind}") as caught:
        refuse_long_text(expression(text))
    assert caught.value.sqlstate == "22018"


@pytest.mark.parametrize(
    "text",
    [
        f"cast(repeat('1', {MAX_TEXT_BYTES}) as int)",
        f"try_cast({LONG} as int)",
        f"cast({LONG} as text)",
        f"{LONG} = 'a'",
        "cast(x as int)",
    ],
)
def test_a_text_that_may_be_read_or_that_is_null_otherwise_is_not_refused(text: str) -> None:
    node = expression(text)
    before = printed(node.copy())
    refuse_long_text(node)
    assert printed(node) == before
