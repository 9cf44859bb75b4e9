"""The page in a real browser, which needs Playwright and Debian's Chromium."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.shell.report.facts import read_facts
from pykudu_sql.shell.report.page import render_page

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs a browser: pip install playwright, apt install chromium"
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium")


@pytest.fixture
def address(tmp_path: Path) -> str:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True, maintenance=False) as conn:
        conn.execute(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, note STRING) "
            "PARTITION BY HASH (id) PARTITIONS 6"
        )
        for _ in range(2):
            conn.execute("UPSERT INTO orders SELECT i, 'x' FROM range(5000) r(i)")
            conn.execute("FLUSH")
        text = render_page(read_facts(conn, "0.0"))
    target = tmp_path / "report.html"
    target.write_text(text)
    return target.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("columns", [400, 1200])
def test_a_browser_shows_the_page_without_complaint(
    address: str, scheme: str, columns: int
) -> None:
    complaints: list[str] = []
    asked: list[str] = []
    with playwright.sync_playwright() as browsers:
        browser: Any = browsers.chromium.launch(executable_path=CHROMIUM)
        shown = browser.new_page(
            viewport={"width": columns, "height": 900},
            color_scheme=scheme,
            java_script_enabled=True,
        )
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(address)
        pictures = shown.locator("svg.layout")
        assert pictures.count() == 6
        assert pictures.first.bounding_box()["height"] > 20
        assert not pictures.last.is_visible()
        shown.get_by_text("2 more tablets").click()
        assert pictures.last.is_visible()
        assert shown.evaluate("document.documentElement.scrollWidth") <= columns
        dark = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark != "rgb(255, 255, 255)") == (scheme == "dark")
        shown.emulate_media(media="print")
        assert shown.get_by_role("heading", name="Advice").is_visible()
        browser.close()
    assert not complaints
    assert asked == [address]
