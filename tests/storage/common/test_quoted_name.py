"""Names that a statement can have as they are, and names that it needs in backticks."""

import pytest

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.common.quoted_name import quoted_full_name, quoted_name


@pytest.mark.parametrize("name", ["t", "a_1", "_x"])
def test_a_plain_name_stays_as_it_is(name: str) -> None:
    assert quoted_name(name) == name


@pytest.mark.parametrize(
    "name", ["1a", "a b", "a.b", "ä", "A", "select", "within", "a`b", "a-b", 'a"b', "a'b"]
)
def test_another_name_is_quoted_and_read_again(name: str) -> None:
    quoted = quoted_name(name)
    assert quoted[0] == quoted[-1] == "`"
    assert TokenStream(quoted, 0).name() == name.lower()


def test_a_database_and_its_table_are_quoted_each_for_itself() -> None:
    assert quoted_full_name("db.t") == "db.t"
    assert quoted_full_name("my db.order") == "`my db`.`order`"
    assert quoted_full_name(".t") == "`.t`" and quoted_full_name("t.") == "`t.`"
