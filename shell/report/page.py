"""The page: one file of HTML that needs nothing else, and no script. A pure function of facts.

Every text of the database is escaped where it enters the page; nothing of it is an attribute but
names in links, which are numbers.
"""

from collections.abc import Iterator, Sequence
from html import escape

from pykudu_sql.shell.report.advice import advice
from pykudu_sql.shell.report.facts import ColumnFacts, DatabaseFacts, TableFacts, TabletFacts
from pykudu_sql.shell.report.layout_svg import layout_svg
from pykudu_sql.shell.report.sizes import format_size
from pykudu_sql.shell.report.style import STYLE
from pykudu_sql.storage.common.noun_count import noun_count

# Pictures of a table that are there at once; those of its other tablets open on demand.
_OPEN_TABLETS = 4
_LEGEND = (
    ("disk", "rows on disk"),
    ("deltas", "changes beside them, by their share"),
    ("memory", "rows in memory"),
    ("profile", "rowsets over a key"),
)


def render_page(facts: DatabaseFacts) -> str:
    """The text of the page."""
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'\">",
            f"<title>{escape(facts.path)}</title><style>{STYLE}</style></head><body>\n",
            *_head(facts),
            *_tables(facts.tables),
            *_advice(facts),
            *(text for number, table in enumerate(facts.tables) for text in _table(table, number)),
            *_views(facts),
            *_history(facts),
            *_maintenance(facts),
            "</body></html>\n",
        ]
    )


def _head(facts: DatabaseFacts) -> Iterator[str]:
    yield f"<header><h1>{escape(facts.path)}</h1>"
    yield (
        f'<p class="soft">{facts.moment.isoformat(" ")} UTC, pykudu-sql {escape(facts.version)}</p>'
    )
    tables = facts.tables
    sums = (
        ("tables", f"{len(tables):,}"),
        ("tablets", f"{sum(len(table.tablets) for table in tables):,}"),
        ("live rows", f"{sum(table.live_rows for table in tables):,}"),
        ("on disk", format_size(sum(table.disk_bytes for table in tables))),
        ("in memory", format_size(sum(table.memory_bytes for table in tables))),
    )
    yield '<dl class="sums">'
    yield from (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in sums)
    yield "</dl></header>\n"


def _tables(tables: Sequence[TableFacts]) -> Iterator[str]:
    yield "<h2>Tables</h2>"
    if not tables:
        yield '<p class="soft">There are none.</p>\n'
        return
    largest = max(table.disk_bytes + table.memory_bytes for table in tables)
    yield from _head_row(("table", ""), ("tablets", "number"), ("live rows", "number"),
                         ("on disk", "number"), ("in memory", "number"), ("", ""))  # fmt: skip
    for number, table in enumerate(tables):
        bar = _bar(largest, ("disk", table.disk_bytes), ("memory", table.memory_bytes))
        yield (
            f'<tr><td class="name"><a href="#t{number}">{escape(table.name)}</a>'
            f'<div class="soft">{escape(table.comment)}</div></td>'
            f'<td class="number">{len(table.tablets):,}</td>'
            f'<td class="number">{table.live_rows:,}</td>'
            f'<td class="number">{format_size(table.disk_bytes)}</td>'
            f'<td class="number">{format_size(table.memory_bytes)}</td>'
            f'<td class="bar">{bar}</td></tr>'
        )
    yield "</tbody></table></div>\n"


def _advice(facts: DatabaseFacts) -> Iterator[str]:
    yield "<h2>Advice</h2>"
    findings = advice(facts)
    if not findings:
        yield '<p class="soft">Nothing would gain much.</p>\n'
        return
    yield '<ul class="advice">'
    yield from (
        f"<li><code>{escape(each.statement)}</code><br>{escape(each.reason)}</li>"
        for each in findings
    )
    yield "</ul>\n"


def _table(table: TableFacts, number: int) -> Iterator[str]:
    yield f'<section><h2 id="t{number}">{escape(table.name)}</h2>'
    if table.comment:
        yield f"<p>{escape(table.comment)}</p>"
    yield f"<details><summary>definition</summary><pre>{escape(table.definition)}</pre></details>"
    yield from _columns(table.columns)
    yield from _partitions(table.tablets)
    yield "<h3>Rowsets over the keys</h3>"
    yield '<p class="legend">'
    for kind, text in _LEGEND:
        yield (
            f'<span><svg viewBox="0 0 10 10"><rect class="{kind}" width="10" height="10"/></svg>'
            f"{text}</span>"
        )
    yield "</p>"
    for tablet in table.tablets[:_OPEN_TABLETS]:
        yield from _tablet(tablet)
    rest = table.tablets[_OPEN_TABLETS:]
    if rest:
        yield f"<details><summary>{noun_count(len(rest), 'more tablet')}</summary>"
        for tablet in rest:
            yield from _tablet(tablet)
        yield "</details>"
    yield "</section>\n"


def _columns(columns: Sequence[ColumnFacts]) -> Iterator[str]:
    yield "<h3>Columns</h3>"
    yield from _head_row(("column", ""), ("type", ""), ("key", "number"), ("stored as", ""),
                         ("plain", "number"), ("on disk", "number"), ("", ""))  # fmt: skip
    largest = max((max(c.plain_bytes, c.disk_bytes) for c in columns), default=0)
    for column in columns:
        stored = ", ".join(column.encodings) or "not on disk yet"
        if column.encodings and column.compression not in ("default", "no", "none"):
            stored += f" + {column.compression}"
        bar = _bar(
            largest,
            ("disk", column.disk_bytes),
            ("plain", max(column.plain_bytes - column.disk_bytes, 0)),
        )
        plain = format_size(column.plain_bytes) if column.encodings else ""
        disk = format_size(column.disk_bytes) if column.encodings else ""
        if column.plain_bytes > column.disk_bytes > 0:
            disk += f' <span class="soft">÷{column.plain_bytes / column.disk_bytes:,.1f}</span>'
        yield (
            f'<tr><td class="name">{escape(column.name)}</td><td>{escape(column.type)}</td>'
            f'<td class="number">{column.key or ""}</td><td>{escape(stored)}</td>'
            f'<td class="number">{plain}</td><td class="number">{disk}</td>'
            f'<td class="bar">{bar}</td></tr>'
        )
    yield "</tbody></table></div>"


def _partitions(tablets: Sequence[TabletFacts]) -> Iterator[str]:
    if len(tablets) < 2:
        return
    yield f"<h3>Partitions</h3><details{' open' if len(tablets) <= 16 else ''}>"
    yield f"<summary>{noun_count(len(tablets), 'tablet')}</summary>"
    yield from _head_row(("tablet", "number"), ("partition", ""), ("live rows", "number"),
                         ("on disk", "number"), ("of it history", "number"),
                         ("in memory", "number"), ("", ""))  # fmt: skip
    largest = max(tablet.disk_bytes + tablet.memory_bytes for tablet in tablets)
    for tablet in tablets:
        bar = _bar(largest, ("disk", tablet.disk_bytes), ("memory", tablet.memory_bytes))
        yield (
            f'<tr><td class="number">{tablet.number}</td><td>{escape(tablet.partition)}</td>'
            f'<td class="number">{tablet.live_rows:,}</td>'
            f'<td class="number">{format_size(tablet.disk_bytes)}</td>'
            f'<td class="number">{format_size(tablet.undo_bytes)}</td>'
            f'<td class="number">{format_size(tablet.memory_bytes)}</td>'
            f'<td class="bar">{bar}</td></tr>'
        )
    yield "</tbody></table></div></details>"


def _tablet(tablet: TabletFacts) -> Iterator[str]:
    on_disk = sum(not rowset.in_memory for rowset in tablet.rowsets)
    changes = sum(rowset.changes for rowset in tablet.rowsets)
    facts_rows = [
        noun_count(tablet.live_rows, "live row"),
        f"{noun_count(on_disk, 'rowset')} on disk",
        f"average height {tablet.height:.1f}",
        f"{noun_count(changes, 'change')} beside them",
    ]
    yield f'<div class="tablet"><p><strong>tablet {tablet.number}</strong>'
    if tablet.partition:
        yield f"<span>{escape(tablet.partition)}</span>"
    yield from (f'<span class="soft">{text}</span>' for text in facts_rows)
    yield "</p>"
    if tablet.rowsets:
        yield layout_svg(tablet)
    else:
        yield '<p class="soft">It is empty.</p>'
    yield "</div>"


def _views(facts: DatabaseFacts) -> Iterator[str]:
    if facts.views:
        yield "<h2>Views</h2>"
        yield from (f"<pre>{escape(definition)}</pre>" for _, definition in facts.views)


def _history(facts: DatabaseFacts) -> Iterator[str]:
    yield "<h2>History</h2>"
    undo = sum(tablet.undo_bytes for table in facts.tables for tablet in table.tablets)
    yield (
        f"<p>Kept for {_age(facts.history_max_age)} unless a table says otherwise, and for as long "
        f"as a snapshot needs it; {format_size(undo)} on disk.</p>"
    )
    if facts.snapshots:
        yield "<h3>Snapshots</h3>"
        yield from _plain_table(("snapshot", "moment", "comment"), facts.snapshots)
    if facts.dropped:
        yield "<h3>Dropped tables that UNDROP TABLE brings back</h3>"
        yield from _plain_table(("table", "dropped", "kept until"), facts.dropped)


def _age(seconds: int) -> str:
    if seconds < 0:
        return "ever"
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length and not seconds % length:
            return noun_count(seconds // length, unit)
    return noun_count(seconds, "second")


def _maintenance(facts: DatabaseFacts) -> Iterator[str]:
    yield "<h2>Maintenance</h2><h3>Due</h3>"
    if facts.waiting:
        yield from _plain_table(("operation", "table", "score"), facts.waiting)
    else:
        yield '<p class="soft">Nothing waits.</p>'
    yield '<h3>Done</h3><p class="soft">The last changes of the manifest: what flushes, '
    yield "compactions and statements made of files and tables.</p>"
    yield f"<pre>{escape(chr(10).join(facts.edits))}</pre>\n"


def _head_row(*columns: tuple[str, str]) -> Iterator[str]:
    yield '<div class="wide"><table><thead><tr>'
    for name, kind in columns:
        yield f'<th class="{kind}">{name}</th>' if kind else f"<th>{name}</th>"
    yield "</tr></thead><tbody>"


def _plain_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from _head_row(*((name, "") for name in names))
    for row in rows:
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


def _bar(largest: int, *parts: tuple[str, int]) -> str:
    """A bar of several parts, each with its class, as a share of the largest bar."""
    at, bars = 0.0, []
    for kind, size in parts:
        share = 100 * size / largest if largest else 0.0
        if share:
            bars.append(
                f'<rect class="{kind}" x="{at:.2f}" width="{max(share, 0.3):.2f}" height="10"/>'
            )
        at += share
    inner = "".join(bars)
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{inner}</svg>'
