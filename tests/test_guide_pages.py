"""The first page, the tutorial, docs/storage.md and the recipes show what their examples print."""

from pathlib import Path

import pytest
from sqlalchemy.dialects import registry

from tests.guide_pages import RECIPES, pages, rebuilt
from tests.sql_reference import BrokenExample

INDEX = RECIPES / "index.md"


@pytest.fixture(autouse=True)
def _dialect() -> None:
    """The dialect's name is known, as an installation makes it."""
    for name in ("pykudu", "pykudu.pykudu"):
        registry.register(name, "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")


@pytest.mark.parametrize(
    "page", [page for page in pages() if page != INDEX], ids=lambda path: path.stem
)
@pytest.mark.filterwarnings("default")
def test_the_examples_of_a_page_print_what_it_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "```text\n" in text, "a page shows an output"
    assert rebuilt(text) == text, "run `make docs`"


def test_the_index_of_recipes_names_every_page() -> None:
    index = INDEX.read_text(encoding="utf-8")
    assert [page.name for page in RECIPES.glob("*.md") if f"({page.name})" not in index] == [
        INDEX.name
    ]


def test_examples_of_three_languages_share_a_folder() -> None:
    page = (
        "```sql\nCREATE TABLE t (k INT PRIMARY KEY);\n```\n\n"
        "```python\nimport os\n```\n\n```python\nprint(os.listdir())\n```\n\n```text\n```\n\n"
        "```sh\nls\n```\n\n```text\n```\n"
    )
    assert rebuilt(page).count("my.db") == 2


def test_an_example_without_output_must_succeed() -> None:
    for language, code in (("sql", "SELECT nothing;"), ("sh", "false"), ("python", "1 / 0")):
        with pytest.raises(BrokenExample):
            rebuilt(f"```{language}\n{code}\n```\n")


def test_an_output_that_differs_only_in_time_is_kept() -> None:
    page = "```sql\nSELECT now() AS at;\n```\n\n```text\n```\n"
    written = rebuilt(page)
    assert rebuilt(written) == written
    assert rebuilt(written.replace("1 row", "2 rows")) != written.replace("1 row", "2 rows")
