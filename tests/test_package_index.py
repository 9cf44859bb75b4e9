"""What the package index shows leads to the repository."""

import re
import tomllib

from tests.package_index import ROOT, with_absolute_links, with_addresses

HOME = "https://example.org/kudu/pykudu_sql"


def test_every_relative_link_of_the_readme_becomes_absolute() -> None:
    page = with_absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), HOME, "v9")
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(targets) > 10 and [one for one in targets if not one.startswith("https://")] == []
    assert f"]({HOME}/blob/v9/docs/sql.md)" in page
    assert f"]({HOME}/raw/v9/docs/pictures/shell.svg)" in page
    assert f"]({HOME}/tree/v9/docs/architecture)" in page


def test_links_with_an_anchor_and_to_other_hosts_keep_both() -> None:
    page = "[a](docs/sql.md#files) [b](https://peps.python.org/pep-0249/) [c](#here)"
    assert with_absolute_links(page, HOME, "v9") == (
        f"[a]({HOME}/blob/v9/docs/sql.md#files) [b](https://peps.python.org/pep-0249/) [c](#here)"
    )


def test_the_project_names_its_addresses() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    before, after = tomllib.loads(text), tomllib.loads(with_addresses(text, HOME, "v9"))
    urls = after["project"].pop("urls")
    assert after == before and urls["Repository"] == HOME
    assert all(url.startswith(HOME) for url in urls.values())
