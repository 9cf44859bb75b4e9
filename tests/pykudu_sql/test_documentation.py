"""docs/python.md names every setting there is."""

from pathlib import Path

import pytest

from pykudu_sql.settings import SETTINGS

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "python.md").read_text()


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_documented(name: str) -> None:
    assert f"| `{name}` |" in PAGE
