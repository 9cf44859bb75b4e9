"""The site's navigation names every page of docs/, once, and nothing else.

That every link leads somewhere `make site` checks (and tests/test_links.py, without the generator).
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def pages_of(entry: object) -> Iterator[str]:
    """The pages below an entry of the navigation."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for below in entry.values():
            yield from pages_of(below)
    elif isinstance(entry, list):
        for below in entry:
            yield from pages_of(below)


def test_the_navigation_names_every_page_once() -> None:
    pages = Counter(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
    assert Counter(pages_of(SITE["nav"])) == pages


def test_the_navigation_has_its_four_parts() -> None:
    parts = [name for entry in SITE["nav"] for name in entry]
    assert parts == ["Start", "Tutorial", "How-to", "Reference", "Explanation"]


def test_the_site_loads_nothing_from_elsewhere() -> None:
    assert SITE["theme"]["font"] is False
    assert "extra_javascript" not in SITE
    assert all((DOCS / sheet).is_file() for sheet in SITE["extra_css"])


def test_pictures_load_nothing_and_are_used() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    texts += (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in (DOCS / "pictures").glob("*.svg"):
        drawn = picture.read_text(encoding="utf-8")
        assert f"pictures/{picture.name}" in texts
        assert drawn.count("http") == 1, "only the namespace of SVG"
        assert "<title>" in drawn and "<script" not in drawn
