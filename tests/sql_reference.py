"""The examples of docs/sql.md, built from the scripts of sql_tests: `make docs`.

Above the marker docs/sql.md is written by hand; everything below it comes from here. A script is
a section: its first comment introduces it, `subtest` is a heading, other comments are prose, and
records between them are one block of SQL with what they give as comments. What stands there was
run, in every physical state, by tests/shell/test_sql_scripts.py.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pykudu_sql.shell.slt.parser import FIELD_SEPARATOR, parse, split_lines
from pykudu_sql.shell.slt.records import (
    Digest,
    Explain,
    Failure,
    Query,
    Record,
    Restart,
    Snapshot,
    Statement,
    Subtest,
    Success,
    Values,
)

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sql.md"
SCRIPTS = ROOT / "sql_tests"
MARKER = "<!-- Below this line everything is built from sql_tests/ by `make docs`. -->"
_MAX_ROWS = 12  # of a result; more are counted

Item = tuple[str, str]  # what it is (prose, heading or sql) and its text


def built(page: str, scripts: Iterable[Path]) -> str:
    """A page with its examples written anew.

    Args:
        page: the page; what stands above the marker is kept.
        scripts: a section each.
    """
    kept = page.partition(MARKER)[0].rstrip()
    sections = sorted(scripts)
    contents = "\n".join(f"- [{_title(path)}](#{_anchor(path)})" for path in sections)
    body = "\n\n".join(section(path) for path in sections)
    head = f"{kept}\n\n{MARKER}\n\n## Examples\n\nEvery line of these was run by the tests."
    return f"{head}\n\n{contents}\n\n{body}\n"


def section(path: Path) -> str:
    """One script as Markdown."""
    text = path.read_text(encoding="utf-8")
    blocks = [f"### {_title(path)}"]
    for kind, items in groupby(_items(text), key=itemgetter(0)):
        if kind == "sql":
            blocks.append("\n".join(("```sql", *(text for _, text in items), "```")))
        else:
            blocks.extend(text for _, text in items)
    return "\n\n".join(blocks)


def _title(path: Path) -> str:
    return f"{path.stem.replace('_', ' ').capitalize()} by example"


def _anchor(path: Path) -> str:
    return _title(path).lower().replace(" ", "-")


def _items(text: str) -> Iterator[Item]:
    """Comments and records in the order of the script; what some states leave out is left out."""
    records = parse(text)
    places: list[tuple[int, Item]] = list(_prose(split_lines(text), records))
    for record in records:
        told = None if record.source.conditions else _told(record)
        if told is not None:
            places.append((record.source.line, told))
    yield from (item for _, item in sorted(places, key=itemgetter(0)))


def _prose(lines: Sequence[str], records: Iterable[Record]) -> Iterator[tuple[int, Item]]:
    """Each block of comment lines outside records as a paragraph, with its first line's number."""
    inside = {line for r in records for line in range(r.source.line, r.source.end + 1)}
    start, words = 0, list[str]()
    for number, line in enumerate((*lines, ""), 1):
        comment = number not in inside and line.startswith("#")
        if comment and not words:
            start = number
        if comment:
            words.append(line.lstrip("#").strip())
        elif words:
            yield start, ("prose", "\n".join(words))
            words = []


def _told(record: Record) -> Item | None:
    """A record as people read it; None for what only the runner needs."""
    match record:
        case Subtest(_, name):
            return "heading", f"#### {name[0].upper()}{name[1:]}"
        case Statement(_, sql, expected):
            return "sql", _who(record) + _ended(sql) + _effect(expected)
        case Query(_, sql, _, _, _, expected):
            return "sql", _who(record) + _ended(sql) + _result(expected)
        case Explain(_, sql, text):
            return "sql", f"{_ended(f'EXPLAIN {sql}')}\n-- .. {text} .."
        case Snapshot(_, name):
            return "sql", f"-- ${{{name}}} is this moment"
        case Restart():
            return "sql", "-- the database is closed and opened again"
        case _:
            return None


def _who(record: Statement | Query) -> str:
    name = record.source.connection
    return f"-- connection {name}:\n" if name else ""


def _ended(sql: str) -> str:
    return sql if sql.rstrip().endswith(";") else f"{sql};"


def _effect(expected: Success | Failure) -> str:
    match expected:
        case Success(None):
            return ""
        case Success(rows):
            return f"  -- {rows} row{'' if rows == 1 else 's'}"
        case Failure(sqlstate, pattern, text):
            lines = text or (_as_words(pattern),)
            code = f"error {sqlstate}".rstrip()
            return f"\n-- {code}: " + "\n--   ".join(lines) if any(lines) else f"\n-- {code}"


def _as_words(pattern: str) -> str:
    """A regular expression as a reader takes it: gaps as dots, nothing escaped."""
    with_gaps = re.sub(r"(\[\\s\\S\]|\.)[*+]", " .. ", pattern.removeprefix("(?i)"))
    return re.sub(r"\\(.)", r"\1", with_gaps)


def _result(expected: Values | Digest | None) -> str:
    match expected:
        case Values(rows):
            shown = [FIELD_SEPARATOR.join(row) for row in rows[:_MAX_ROWS]]
            if len(rows) > _MAX_ROWS:
                shown.append(f".. {len(rows)} rows")
            return "".join(f"\n-- {line}" for line in shown) or "\n-- no rows"
        case Digest(values):
            return f"\n-- {values} values"
        case None:
            return ""


def main() -> int:
    """Write the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(built(page, SCRIPTS.glob("*.test")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
