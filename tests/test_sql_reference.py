"""The pages of docs/sql/ show what their examples print."""

from pathlib import Path

import pytest

from tests.sql_reference import PAGES, ROOT, BrokenExample, rebuilt

INDEX = ROOT / "docs" / "sql.md"
SCRIPTS = ROOT / "sql_tests"


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_the_examples_of_a_page_print_what_it_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "```sql" in text, "a page has an example"
    assert rebuilt(text) == text, "run `make docs`"


def test_the_index_names_every_page() -> None:
    index = INDEX.read_text(encoding="utf-8")
    assert [p.name for p in PAGES.glob("*.md") if f"](sql/{p.name})" not in index] == []


def test_an_example_without_output_is_run_and_kept() -> None:
    page = "# One\n\n```sql\nCREATE TABLE t (k INT PRIMARY KEY);\n```\n\nText.\n"
    assert rebuilt(page) == page
    with pytest.raises(BrokenExample, match="SELECT nothing"):
        rebuilt("```sql\nSELECT nothing;\n```\n")


def test_an_output_is_written_anew() -> None:
    page = "```sql\nSELECT 1 AS one;\n```\n\n```text\n```\n\n```text\ngrammar\n```\n"
    written = rebuilt(page)
    assert "│   1 │" in written and written.endswith("```\n\n```text\ngrammar\n```\n")
    assert rebuilt(written) == written


def test_an_error_is_an_output() -> None:
    page = "```sql\nSELECT nothing;\nSELECT 1 AS one;\n```\n\n```text\n```\n"
    written = rebuilt(page)
    assert "ERROR 42703" in written and "│   1 │" in written


def test_a_block_can_run_in_a_second_session() -> None:
    page = (
        "```sql\nCREATE TABLE t (k INT PRIMARY KEY);\nBEGIN;\nINSERT INTO t VALUES (1);\n```\n\n"
        "```sql\n-- session b\nSELECT count(*) AS rows_seen FROM t;\n```\n\n```text\n```\n"
    )
    assert "│         0 │" in rebuilt(page + "\n```sql\nCOMMIT;\n```\n")


def test_every_script_starts_with_its_introduction() -> None:
    silent = [p.name for p in SCRIPTS.glob("*.test") if not p.read_text().startswith("# ")]
    assert silent == []
