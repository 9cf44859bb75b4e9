"""Every statement has a page that the shell shows."""

import pytest

from pykudu_sql.shell.cli import main
from pykudu_sql.shell.manual import PAGES, find_section, paragraphs
from pykudu_sql.statements import list_statements

FOUND = {
    "select": "Queries", "insert": "INSERT", "Create  Table": "CREATE TABLE",
    "update": "UPSERT, UPDATE, DELETE", "merge": "MERGE", "explain": "EXPLAIN",
    "alter table": "ALTER TABLE", "undrop table": "Time travel",
    "create view": "Views and databases",
    "delete from": "UPSERT, UPDATE, DELETE",
}  # fmt: skip


@pytest.mark.parametrize("statement", FOUND)
def test_a_statement_leads_to_its_section(statement: str) -> None:
    section = find_section(statement)
    assert section is not None and section.heading == FOUND[statement]


@pytest.mark.parametrize("statement", list_statements())
def test_every_statement_that_is_offered_has_a_page(statement: str) -> None:
    assert find_section(statement) is not None


def test_help_shows_commands_and_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-c", ".help select"]) == 0
    assert "FROM" in capsys.readouterr().out
    assert main(["-c", ".help describe"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(".describe [TABLE]") and "SHOW and DESCRIBE" in shown
    assert main(["-c", ".help frobnicate"]) == 1
    assert "no command and no statement 'frobnicate'" in capsys.readouterr().err
    assert main(["-c", ".help selct"]) == 1
    assert "did you mean 'select'?" in capsys.readouterr().err


def test_a_page_is_broken_where_the_terminal_ends_and_not_where_its_file_does() -> None:
    text = "One\ntwo.\n\n- item\n  goes on\n- next\n| a |\n| b |\n"
    text += "```sql\nSELECT 1\n\n  + 2;\n```\nLast."
    assert list(paragraphs(text)) == [
        ("One two.", True), ("", True), ("- item goes on", True), ("- next", True),
        ("| a |", False), ("| b |", False), ("```sql", False), ("SELECT 1", False), ("", False),
        ("  + 2;", False), ("```", False), ("Last.", True),
    ]  # fmt: skip


def test_no_word_of_a_page_is_lost_when_its_lines_are_joined() -> None:
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert " ".join(part for part, _ in paragraphs(text)).split() == text.split()


@pytest.mark.parametrize("statement", list_statements())
def test_the_summary_of_a_statement_is_short_and_has_examples(
    statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    section = find_section(statement)
    assert section is not None
    assert section.summary(statement).count("```sql") <= 2
    assert main(["-c", f".help {statement.lower()}"]) == 0
    text = capsys.readouterr().out
    assert "│" not in text and "```" not in text
    assert "More: .help all" not in text or f"docs/sql/{section.page}.md" in text


def test_all_that_is_to_be_said_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-c", ".help create table"]) == 0
    summary = capsys.readouterr().out
    assert "CREATE TABLE [IF NOT EXISTS] t (" in summary and "CREATE TABLE metrics (" in summary
    assert summary.endswith("More: .help all create table, or docs/sql/tables.md\n")
    assert main(["-c", ".help ALL create table"]) == 0
    assert "A row whose key lies in no range is refused" in capsys.readouterr().out
