"""docs/sql.md shows the scripts of sql_tests as they are."""

from pathlib import Path

from tests.sql_reference import MARKER, PAGE, SCRIPTS, built, section


def test_the_examples_of_the_page_are_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert built(page, SCRIPTS.glob("*.test")) == page, "run `make docs`"


def test_what_stands_above_the_marker_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "one.test"
    script.write_text("# One.\n\nstatement ok\nSELECT 1\n")
    page = built("By hand.\n", [script])
    assert page.startswith(f"By hand.\n\n{MARKER}\n")
    assert built(page, [script]) == page


def test_a_script_reads_as_prose_and_sql(tmp_path: Path) -> None:
    script = tmp_path / "key_rows.test"
    script.write_text(
        "# Keys are\n# unique.\n\nstatement count 1\nINSERT INTO t VALUES (1)\n\n"
        "statement error (23505) key \\(1\\)\nINSERT INTO t VALUES (1)\n\n"
        "subtest reading\n\nquery IT\nSELECT * FROM t\n----\n1 | one\n"
    )
    assert section(script) == (
        "### Key rows by example\n\nKeys are\nunique.\n\n```sql\n"
        "INSERT INTO t VALUES (1);  -- 1 row\n"
        "INSERT INTO t VALUES (1);\n-- error 23505: key (1)\n```\n\n"
        "#### Reading\n\n```sql\nSELECT * FROM t;\n-- 1 | one\n```"
    )


def test_every_script_starts_with_its_introduction() -> None:
    silent = [p.name for p in SCRIPTS.glob("*.test") if not p.read_text().startswith("# ")]
    assert silent == []
