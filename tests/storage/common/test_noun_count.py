"""Numbers with the nouns that they count."""

import pytest

from pykudu_sql.storage.common.noun_count import noun_count


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 values"), (1, "1 value"), (2, "2 values"), (11, "11 values")]
)
def test_a_noun_has_an_s_unless_it_is_one(count: int, text: str) -> None:
    assert noun_count(count, "value") == text
