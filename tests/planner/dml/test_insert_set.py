"""INSERT .. SET as VALUES: the same row, at the same places."""

import pytest

from pykudu_sql.planner.dml.insert_set import values_of_set
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.storage.errors import SyntaxError

HEAD = "insert into t "


@pytest.mark.parametrize(
    ("written", "names", "values"),
    [
        ("set a=1", ["a"], "VALUES(1)"),
        ("set a = f(1, 2), B = 'x, y'", ["a", "b"], "VALUES( f(1, 2),     'x, y')"),
        ('set "a" = (select 1) returning a', ["a"], "VALUES( (select 1))returning a"),
    ],
)
def test_values_keep_their_places(written: str, names: list[str], values: str) -> None:
    tokens, source = values_of_set(SourceText(HEAD + written, len(HEAD)))
    assert [token.name for token in tokens] == names
    assert source.text[source.start :] == values
    last = written[written.rindex("=") + 1 :].split()[0].rstrip(",")
    assert source.text.rindex(last) == (HEAD + written).rindex(last)


@pytest.mark.parametrize("written", ["set", "set a", "set a =", "set a = 1,", "set a = 1, = 2"])
def test_each_column_has_a_value(written: str) -> None:
    with pytest.raises(SyntaxError):
        values_of_set(SourceText(HEAD + written, len(HEAD)))
