"""The page about a database: what it tells, that it needs nothing, that names are only names."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.report.advice import advice
from pykudu_sql.shell.report.facts import (
    DatabaseFacts,
    RowsetFacts,
    TableFacts,
    TabletFacts,
    read_facts,
)
from pykudu_sql.shell.report.layout_svg import layout_svg
from pykudu_sql.shell.report.page import render_page
from pykudu_sql.shell.report.sizes import format_size

HOSTILE = "</td><script>alert(1)</script>\"'&<b>"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with rows on disk, in memory and changed, and with names that are markup."""
    path = str(tmp_path_factory.mktemp("report") / "my.db")
    with pykudu_sql.connect(path, autocommit=True, maintenance=False) as conn:
        conn.execute(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, note STRING) "
            "PARTITION BY HASH (id) PARTITIONS 3 COMMENT 'a < b'"
        )
        for _ in range(2):
            conn.execute("UPSERT INTO orders SELECT i, repeat('x', 10) FROM range(3000) r(i)")
            conn.execute("FLUSH")
            conn.execute("DELETE FROM orders WHERE id < 100")
        conn.execute("INSERT INTO orders VALUES (100000, 'in memory')")
        name = '"' + HOSTILE.replace('"', '""') + '"'
        conn.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, {name} STRING)")
        conn.execute("CREATE VIEW small AS SELECT * FROM orders WHERE id < 10")
        conn.execute(f"CREATE SNAPSHOT first COMMENT '{HOSTILE.replace(chr(39), chr(39) * 2)}'")
        conn.execute("CREATE TABLE gone (k INT PRIMARY KEY)")
        conn.execute("DROP TABLE gone")
    return path


@pytest.fixture(scope="module")
def facts(path: str) -> DatabaseFacts:
    with pykudu_sql.connect(path, read_only=True, autocommit=True) as conn:
        return read_facts(conn, "0.0")


class Markup(HTMLParser):
    """Notes the tags of a page and whether each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta" and tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(facts: DatabaseFacts) -> None:
    text = render_page(facts)
    markup = Markup()
    markup.feed(text)
    assert not markup.open
    assert not markup.tags & {"script", "link", "img", "iframe", "object", "b"}
    assert markup.addresses and all(re.fullmatch(r"#t\d+", each) for each in markup.addresses)
    assert not any(name.startswith("on") for name in markup.names)
    assert not re.search(r"url\(|@import|https?://", text)


def test_names_and_comments_are_text(facts: DatabaseFacts) -> None:
    text = render_page(facts)
    assert HOSTILE not in text and "<script" not in text
    assert "&lt;/td&gt;&lt;script&gt;" in text
    assert "a &lt; b" in text


@pytest.mark.parametrize(
    "told",
    [
        "orders", "HASH (id) PARTITION 2", "CREATE VIEW small", "first", "gone", "7 days",
        "MemRowSet", "DiskRowSet", "OPTIMIZE TABLE orders", "lowest key",
    ],
)  # fmt: skip
def test_the_page_tells(facts: DatabaseFacts, told: str) -> None:
    assert told in render_page(facts)


def test_a_database_without_tables_has_a_page(facts: DatabaseFacts) -> None:
    text = render_page(replace(facts, tables=(), views=(), snapshots=(), dropped=(), waiting=()))
    assert "There are none." in text and "Nothing would gain much." in text


ROWSET = RowsetFacts(7, False, 1000, 1000, 4096, 0, 0, 0, 0.0, 0.5)
TABLET = TabletFacts(0, "", 1000, 4096, 0, 0, 1.0, (ROWSET,))
TABLE = TableFacts("t", "", 1000, 4096, 0, "", (), (TABLET,))


def test_rowsets_that_overlap_lie_on_several_lines() -> None:
    overlapping = replace(ROWSET, number=8, low=0.25, high=0.75)
    beside = replace(ROWSET, number=9, low=0.5, high=1.0)
    drawn = layout_svg(replace(TABLET, rowsets=(ROWSET, overlapping, beside)))
    places = re.findall(r'class="disk" x="([\d.]+)" y="(\d+)"', drawn)
    assert places == [("0.0", "0"), ("500.0", "0"), ("250.0", "24")]
    assert "at most 2 rowsets over a key" in drawn


def test_changes_are_drawn_by_their_share_of_the_rows() -> None:
    drawn = layout_svg(replace(TABLET, rowsets=(replace(ROWSET, redo_records=500),)))
    assert re.search(r'class="deltas" x="0.0" y="10.0" width="499.0" height="10.0"', drawn)
    assert 'class="deltas"' not in layout_svg(TABLET)


@pytest.mark.parametrize("count", [1, 30, 500])
def test_any_number_of_rowsets_fits_the_picture(count: int) -> None:
    rowsets = tuple(replace(ROWSET, number=i, low=0.0, high=1.0) for i in range(count))
    drawn = layout_svg(replace(TABLET, rowsets=rowsets))
    height = int(re.findall(r'viewBox="0 0 1000 (\d+)"', drawn)[0])
    assert max(int(y) for y in re.findall(r'class="disk" x="0.0" y="(\d+)"', drawn)) < height


def gains(table: TableFacts, facts: DatabaseFacts) -> list[str]:
    return [each.statement.split()[0] for each in advice(replace(facts, tables=(table,)))]


@pytest.mark.parametrize(
    ("tablet", "memory_bytes", "statements"),
    [
        (TABLET, 0, []),
        (replace(TABLET, height=1.9), 0, []),
        (replace(TABLET, height=2.0), 0, ["OPTIMIZE"]),
        (replace(TABLET, rowsets=(replace(ROWSET, redo_records=99),)), 0, []),
        (replace(TABLET, rowsets=(replace(ROWSET, redo_records=100),)), 0, ["OPTIMIZE"]),
        (replace(TABLET, rowsets=(ROWSET,) * 7), 0, []),
        (replace(TABLET, rowsets=(ROWSET,) * 8), 0, ["OPTIMIZE"]),
        (TABLET, 64 << 20, ["FLUSH"]),
        (replace(TABLET, undo_bytes=1 << 20), 0, ["ALTER"]),
        (replace(TABLET, undo_bytes=2000), 0, []),
        (replace(TABLET, rowsets=(replace(ROWSET, live_rows=500),)), 0, []),
        (
            replace(TABLET, rowsets=(replace(ROWSET, live_rows=500, disk_bytes=2 << 20),)),
            0,
            ["OPTIMIZE"],
        ),
    ],
)
def test_advice_is_given_where_it_gains_much(
    facts: DatabaseFacts, tablet: TabletFacts, memory_bytes: int, statements: list[str]
) -> None:
    table = replace(TABLE, tablets=(tablet,), memory_bytes=memory_bytes)
    assert gains(table, facts) == statements


def test_advice_names_tables_as_sql_needs_it(facts: DatabaseFacts) -> None:
    table = replace(TABLE, name='Odd "name"', tablets=(replace(TABLET, height=5.0),))
    (found,) = advice(replace(facts, tables=(table,)))
    assert found.statement == 'OPTIMIZE TABLE "Odd ""name"""'


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (5 << 40, "5.0 TiB")],
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert format_size(size) == text


def test_the_command_writes_the_page_beside_a_writer(path: str, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    command = [sys.executable, "-m", "pykudu_sql", "inspect", path, "--html", str(target)]
    with pykudu_sql.connect(path, autocommit=True) as writer:
        writer.execute("INSERT INTO orders VALUES (200000, 'just now')")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert done.stdout == f"Wrote {target}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["no.db", "--html", "x.html"], 2, "there is no database at 'no.db'"),
        (["{path}", "wal", "--html", "x.html"], 2, "--html is about the whole database"),
        (["{path}", "--html", "/no/such/folder/x.html"], 2, "cannot write"),
        (["{path}", "--html", "{path}/CURRENT"], 1, "a place within the database"),
    ],
)
def test_what_cannot_be_written_is_said(
    path: str,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    assert main(["inspect", *(each.format(path=path) for each in arguments)]) == code
    assert told in capfd.readouterr().err
