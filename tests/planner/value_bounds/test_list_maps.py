"""How large a list may get that is made of another one, as far as the text tells."""

from math import inf

import pytest

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.value_bounds.list_maps import Element, element_of, growth_of
from pykudu_sql.planner.value_bounds.value_calls import ListMap, list_map_of
from pykudu_sql.planner.value_bounds.value_measures import static_measures


def list_map(text: str) -> ListMap:
    mapped = list_map_of(parse(f"select {text} from t").expressions[0])
    assert mapped is not None
    return mapped


def element(text: str) -> Element:
    made = element_of(list_map(text))
    assert made is not None
    return made


@pytest.mark.parametrize(
    "text",
    [
        "list_transform(l, i -> i + 1)",
        "list_apply(l, i -> 'x' || i)",
        "list_transform(l, i -> concat(i, i, i, i))",
    ],
)
def test_a_list_of_elements_as_large_as_before_cannot_grow(text: str) -> None:
    assert element_of(list_map(text)) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("list_transform(l, i -> [1, i])", inf),
        ("list_transform(l, i -> [1, 2])", 128),
        ("list_transform(l, i -> repeat('ab', 100000))", 200_000),
        ("list_transform(l, i -> repeat(i, 10))", inf),
        ("list_transform(l, i -> a)", inf),
        ("list_transform(l, i -> concat_ws(i, '', '', '', ''))", inf),
        ("list_transform(l, i -> cast(a as int))", 64),
        ("list_transform(l, i -> concat(i, i, i, i, i))", inf),
        ("list_transform(l, i -> list_transform([1, 2, 3], j -> 1))", 192),
    ],
)
def test_an_element_has_the_bytes_that_its_text_shows(text: str, size: float) -> None:
    assert element(text).max_bytes == size


def test_a_list_grows_with_the_number_of_its_elements_and_their_size() -> None:
    def amount(text: str) -> float:
        mapped = list_map(text)
        rule = growth_of(element(text), mapped.body).rule
        return float(rule(static_measures([mapped.source])))

    assert amount("list_transform([1, 2, 3], i -> repeat('ab', 1000))") == 3 * 2000
    assert amount("list_transform([1], i -> repeat('ab', 1000))") == 2000
    assert amount("list_transform(l, i -> repeat('ab', 1000))") == inf
    assert amount("list_transform([], i -> repeat('ab', 1000))") == 0
