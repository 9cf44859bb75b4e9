"""docs/statements.md, built from the registry of statements and the SQL pages: `make docs`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pykudu_sql.planner.statements import statements
from pykudu_sql.shell.manual import Section, find_section
from tests.test_links import slug

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "statements.md"

_HEAD = """# All statements

Built from the registry of statements by `make docs`. The shell shows each: `.help create table`.

| statement | where |
|---|---|"""


def offered() -> list[str]:
    """The statements that a shell offers, sorted."""
    return sorted({words for entry in statements() for words in entry.offered})


def built() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *_rows())) + "\n"


def _rows() -> Iterator[str]:
    for statement in offered():
        section = find_section(statement)
        where = "" if section is None else _link(section)
        yield f"| `{statement}` | {where} |"


def _link(section: Section) -> str:
    for page in sorted((DOCS / "sql").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        if f"# {section.heading}\n" in text and section.text in text:
            if section.heading == title:
                return f"[{title}](sql/{page.name})"
            return f"[{title}: {section.heading}](sql/{page.name}#{slug(section.heading)})"
    raise LookupError(section.heading)


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(built(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
