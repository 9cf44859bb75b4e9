"""Every script of sql_tests gives the same answers in every physical state."""

from pathlib import Path

import pytest

from pykudu_sql.shell.slt.command import find_scripts, pykudu_driver
from pykudu_sql.shell.slt.database import ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.report import FileResult, describe
from pykudu_sql.shell.slt.runner import ScriptRunner
from pykudu_sql.shell.slt.states import STATES, State

SCRIPTS = Path(__file__).resolve().parents[3] / "sql_tests"


@pytest.mark.parametrize("state", list(STATES.values()), ids=list(STATES))
@pytest.mark.parametrize("script", list(find_scripts([SCRIPTS])), ids=lambda path: path.stem)
def test_a_script_gives_its_answers(script: Path, state: State, tmp_path: Path) -> None:
    database = ScriptDatabase(pykudu_driver(), tmp_path, dict(state.settings))
    result = ScriptRunner(database, state, frozenset()).run(
        parse(script.read_text(encoding="utf-8"))
    )
    told = "\n".join(describe(FileResult(script, state.name, result)))
    assert not told, f"\n{told}"
    assert result.executed
