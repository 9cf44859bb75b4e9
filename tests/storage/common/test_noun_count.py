"""Numbers with the nouns that they count."""

import re
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.common.noun_count import noun_count


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 values"), (1, "1 value"), (2, "2 values"), (1200, "1,200 values")]
)
def test_a_noun_has_an_s_unless_it_is_one(count: int, text: str) -> None:
    assert noun_count(count, "value") == text


def test_nouns_are_counted_in_one_place() -> None:
    by_hand = re.compile(r"""\} \w+\{(?:''|"") if [^{}]* == 1 else""")
    floors = [path.resolve() for path in Path(pykudu_sql.__file__).parent.iterdir()]
    files = [path for floor in floors for path in (floor, *floor.rglob("*.py"))]
    assert [
        path.name
        for path in files
        if path.suffix == ".py" and by_hand.search(path.read_text(encoding="utf-8"))
    ] == []
