"""Choices of the user, checked before they count."""

from pathlib import Path

import pytest

from pykudu_sql.shell.settings import (
    Settings,
    UsageError,
    config_path,
    history_path,
    load_settings,
    replace_setting,
)


def test_a_file_overrides_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('format = "csv"\ntimer = true\nmax_rows = 0\n')
    assert load_settings(Settings(), path) == Settings(format="csv", timer=True, max_rows=0)


def test_a_file_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    assert load_settings(Settings(), tmp_path / "none.toml") == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("formt = 'csv'", "unknown setting 'formt'; did you mean 'format'?"),
        ("format = 'cvs'", "unknown format 'cvs'; did you mean 'csv'? (there are table, csv"),
        ("timer = 1", "setting 'timer' needs true or false, not 1"),
        ("max_rows = true", "setting 'max_rows' needs a whole number, not True"),
        ("max_rows = -1", "needs a number of 0 or more"),
        ("format = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_named_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_settings(Settings(), path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


def test_one_setting_is_changed_and_the_old_ones_stay() -> None:
    before = Settings()
    assert replace_setting(before, "null", "-").null == "-" and before.null is None


def test_files_follow_the_xdg_rules() -> None:
    environ = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"}
    assert config_path(environ) == Path("/c/pykudu-sql/config.toml")
    assert history_path(environ) == Path.home() / ".local/state/pykudu-sql/history"
