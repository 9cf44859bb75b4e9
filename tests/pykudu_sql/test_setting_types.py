"""The types of what `connect` takes: those of the settings there are, and checked by mypy."""

import shutil
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from mypy import api

import pykudu_sql
from pykudu_sql import setting_types
from pykudu_sql.setting_types import Durability, EngineName, Settings
from pykudu_sql.settings import SETTINGS, SettingScope

_USES = """
from typing import Unpack
from setting_types import Settings

def connect(path: str, **settings: Unpack[Settings]) -> None: ...

connect("a.db", durability="normal", memory_limit="2GB", threads=4, engine=None)
known: Settings = {"row_errors": "collect", "files": True}
connect("a.db", **known)
connect("a.db", durability="ful")
connect("a.db", memory="2GB")
connect("a.db", threads="four")
wrong: Settings = {"engine": "sqlite"}
"""


def test_every_setting_of_connect_has_a_type() -> None:
    own = {"read_only"}  # an argument by itself
    given = {s.name for s in SETTINGS.values() if s.scope is not SettingScope.REMEMBERED} - own
    assert set(Settings.__annotations__) == given


@pytest.mark.parametrize(("name", "words"), [("durability", Durability), ("engine", EngineName)])
def test_words_are_those_that_the_setting_takes(name: str, words: object) -> None:
    assert tuple(f"'{word}'" for word in get_args(words)) == SETTINGS[name].offered


def test_connect_takes_them_as_keywords() -> None:
    (settings,) = get_args(get_type_hints(pykudu_sql.connect)["settings"])
    assert settings is pykudu_sql.Settings is Settings


def test_mypy_finds_wrong_names_and_values(tmp_path: Path) -> None:
    shutil.copy(str(setting_types.__file__), tmp_path / "setting_types.py")
    uses = tmp_path / "uses.py"
    uses.write_text(_USES, encoding="utf-8")
    arguments = ["--strict", "--no-error-summary", f"--cache-dir={tmp_path}/cache", str(uses)]
    shown, problems, _ = api.run(arguments)
    lines = [int(line.split(":")[1]) for line in shown.splitlines() if ": error:" in line]
    assert (lines, problems) == ([10, 11, 12, 13], ""), shown
