"""Options of tables elsewhere: passed over, or refused with what to write."""

import pytest

from pykudu_sql.planner.ddl_grammar.table_options import accept_without_meaning, refuse_option
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import NotSupportedError


@pytest.mark.parametrize(
    "text",
    ["strict", "without rowid", "engine = InnoDB", "ROW_FORMAT=dynamic", "default charset=utf8",
     "character set utf8mb4"],
)  # fmt: skip
def test_what_is_so_anyhow_is_passed_over(text: str) -> None:
    tokens = TokenStream(text)
    assert accept_without_meaning(tokens)
    assert tokens.at_end()


@pytest.mark.parametrize("text", ["default 5", "comment 'x'", "as select 1"])
def test_what_means_something_is_left(text: str) -> None:
    tokens = TokenStream(text)
    assert not accept_without_meaning(tokens)
    refuse_option(tokens)
    assert tokens.current.start == 0


def test_what_there_is_not_names_what_to_write() -> None:
    with pytest.raises(NotSupportedError, match="latin1"):
        accept_without_meaning(TokenStream("charset latin1"))
    with pytest.raises(NotSupportedError) as caught:
        refuse_option(TokenStream("distribute by hash (id) into 4 buckets"))
    assert "PARTITION BY HASH" in str(caught.value.hint)
