"""Every relative link of the documentation leads to a file, and to a heading of it."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")
    names = [name for name in listed if name and (ROOT / name).is_file()]
    # An unpacked archive has no git, and a working tree has folders of libraries.
    return [ROOT / name for name in names] or [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return frozenset(slug(heading) for heading in _HEADING.findall(text))


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def broken_links(path: Path) -> Iterator[str]:
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_a_link_to_nothing_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](#a-heading) [b](#other) [c](missing.md) [d](page.md)\n")
    assert list(broken_links(page)) == ["#other", "missing.md"]
