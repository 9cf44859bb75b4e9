"""Settings that are the program's: from where they come, and who may not change them."""

import pytest

import pykudu_sql
from pykudu_sql.settings import (
    MASTER_VARIABLE,
    SETTINGS,
    SessionSettings,
    SettingScope,
    settings_of,
)
from pykudu_sql.storage.errors import InvalidValueError, ProgrammingError


def test_the_environment_says_where_spark_runs_unless_the_program_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MASTER_VARIABLE, raising=False)
    assert settings_of({})[1] == SessionSettings()
    monkeypatch.setenv(MASTER_VARIABLE, "local[3]")
    assert settings_of({})[1].spark_master == "local[3]"
    assert settings_of({"spark_master": None})[1].spark_master == "local[3]"
    assert settings_of({"spark_master": "local[1]"})[1].spark_master == "local[1]"
    with pytest.raises(InvalidValueError, match="'spark_master' cannot be 7"):
        settings_of({"spark_master": 7})


@pytest.mark.parametrize(
    "name", [setting.name for setting in SETTINGS.values() if setting.scope is SettingScope.PROGRAM]
)
def test_no_statement_changes_what_is_the_programs(name: str) -> None:
    with pykudu_sql.connect(autocommit=True) as conn:
        before = conn.execute(f"SHOW SETTINGS LIKE '{name}'").fetchall()
        for text in (f"SET {name} = 'x'", f"SET {name} = DEFAULT", f"RESET {name}"):
            with pytest.raises(ProgrammingError) as caught:
                conn.execute(text)
            assert caught.value.sqlstate == "42501"
        assert conn.execute(f"SHOW SETTINGS LIKE '{name}'").fetchall() == before
