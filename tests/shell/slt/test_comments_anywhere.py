"""A comment may stand wherever a blank may: golden scripts give their answers with them, too.

Of errors the SQLSTATE is compared and not the message, which shows the statement.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind
from pykudu_sql.shell.slt.command import find_scripts, pykudu_driver
from pykudu_sql.shell.slt.database import ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.records import Failure, QueryRecord, Record, StatementRecord
from pykudu_sql.shell.slt.report import FileResult, describe
from pykudu_sql.shell.slt.runner import ScriptRunner
from pykudu_sql.shell.slt.states import STATES

SCRIPTS = Path(__file__).resolve().parents[3] / "sql_tests"
# They show the text of views, where comments are blanks.
_SHOW_TEXTS = frozenset({"describe", "information_schema"})


def _commented(sql: str) -> str:
    def comment(match: re.Match[str]) -> str:
        blank = match[0]
        if match.lastindex != TokenKind.SPACE or not blank.isspace():
            return blank
        return ' -- it\'s a "comment"\n' if "\n" in blank else " /* it's `one` -- */ "

    return TOKEN_PATTERN.sub(comment, sql)


def _with_comments(record: Record) -> Record:
    if isinstance(record, QueryRecord):
        return replace(record, sql=_commented(record.sql))
    if not isinstance(record, StatementRecord):
        return record
    expected = record.expected
    if isinstance(expected, Failure):
        expected = replace(expected, pattern="", text=None)
    return replace(record, sql=_commented(record.sql), expected=expected)


@pytest.mark.parametrize(
    "script",
    [path for path in find_scripts([SCRIPTS]) if path.stem not in _SHOW_TEXTS],
    ids=lambda path: path.stem,
)
def test_a_script_with_comments_between_all_words_gives_its_answers(
    script: Path, tmp_path: Path
) -> None:
    state = STATES["memory"]
    records = [_with_comments(each) for each in parse(script.read_text(encoding="utf-8"))]
    database = ScriptDatabase(pykudu_driver(), tmp_path, dict(state.settings))
    result = ScriptRunner(database, state, frozenset()).run(records)
    problems = "\n".join(describe(FileResult(script, state.name, result)))
    assert not problems, f"\n{problems}"
