"""docs/settings.md is the table of settings."""

from tests.settings_page import PAGE, built


def test_the_page_of_settings_is_current() -> None:
    assert built() == PAGE.read_text(encoding="utf-8"), "run `make docs`"
