"""The head of PREPARE; what it means stands in sql_tests/prepared.test."""

import pytest

from pykudu_sql.planner.commands import prepared_commands
from pykudu_sql.planner.commands.prepared_commands import prepare_head
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError, SyntaxError


def test_the_head_ends_before_the_statement() -> None:
    tokens = TokenStream("PREPARE P (int, Decimal(10, 2)) AS SELECT 1")
    assert prepare_head(tokens) == ("p", ("INT", "DECIMAL(10,2)"))
    assert tokens.at("SELECT")


def test_a_type_that_comes_again_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(prepared_commands, "parse", texts.append)
    head = prepare_head(TokenStream("PREPARE p (INT, TEXT, int, INT) AS SELECT 1"))
    assert head[1] == ("INT", "TEXT", "INT", "INT")
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("PREPARE p SELECT 1", SyntaxError),
        ("PREPARE p () AS SELECT 1", SyntaxError),
        ("PREPARE AS SELECT 1", SyntaxError),
        ("PREPARE p (nothing) AS SELECT 1", ProgrammingError),
        ("PREPARE p AS DEALLOCATE q", NotSupportedError),
    ],
)
def test_a_wrong_head_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        prepare_head(TokenStream(text))
