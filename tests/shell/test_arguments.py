"""What the parser of the command lines says of words that are wrong."""

import pytest

from pykudu_sql.shell.tools.jobs import changes


def test_an_option_that_must_be_given_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        changes(["my.db", "t", "feed"])
    message = capsys.readouterr().err
    assert "the following arguments are required: --since\n" in message
    assert "HINT: --since TIME: commits after this moment: '10 min ago', " in message
