"""docs/settings.md is the table of settings, docs/python-api.md are the docstrings."""

import pykudu_sql
from tests import python_api_page, settings_page, statements_page


def test_the_page_of_settings_is_current() -> None:
    page = settings_page.PAGE.read_text(encoding="utf-8")
    assert settings_page.built() == page, "run `make docs`"


def test_the_page_of_the_python_api_is_current() -> None:
    page = python_api_page.PAGE.read_text(encoding="utf-8")
    assert python_api_page.built() == page, "run `make docs`"


def test_the_page_of_the_python_api_has_every_method() -> None:
    page = python_api_page.PAGE.read_text(encoding="utf-8")
    members = [
        f"### {kind.__name__}.{name}\n"
        for kind in (pykudu_sql.Connection, pykudu_sql.Cursor)
        for name, member in vars(kind).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
        if getattr(member, "__doc__", None) and not isinstance(member, type)
    ]
    assert [member for member in members if member not in page] == []


def test_the_page_of_statements_is_current() -> None:
    page = statements_page.PAGE.read_text(encoding="utf-8")
    assert statements_page.built() == page, "run `make docs`"


def test_every_statement_has_a_place_on_the_pages() -> None:
    assert [row for row in statements_page.built().splitlines() if row.endswith("|  |")] == []
