"""A plan as a tree that fits the terminal: what EXPLAIN (FORMAT JSON) says, drawn.

An operator a line, what it takes below it; rows expected, rows and times on the right. Long texts
are folded. A pure function of the document.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.display import escape, pad, width
from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.wrapping import wrap_text
from pykudu_sql.storage.common.noun_count import noun_count

_Node = Mapping[str, Any]

_DETAIL_LINES = 3
_NARROWEST = 24
# A part of the whole time that is worth a look.
_MUCH = 0.3
# What says all without its label.
_PLAIN_DETAILS = frozenset({"Conditions", "Expression", "Groups", "Order By", "Text"})


@dataclass(frozen=True, slots=True)
class _Row:
    """An operator, or a line about one: bars before the text, the text, numbers on the right."""

    bars: str
    text: str
    is_head: bool
    cells: tuple[str, ...] = ()
    share: float = 0.0


def draw_plan(document: _Node, columns: int | None) -> list[Line]:
    """The lines of a plan that has `operators`. `columns`: of the terminal; None for any number."""
    scans = {scan["name"]: scan for scan in document.get("scans", ())}
    root: _Node = document["operators"]
    measured = "milliseconds" in document
    names = ("expected", "rows", "time") if measured else ("expected",)
    total = sum(_times(root, scans)) or 1.0
    rows = list(_rows(root, scans, "", "", total if measured else None))
    widths = [
        max(len(name), *(width(row.cells[i]) for row in rows if row.cells)) + 2
        for i, name in enumerate(names)
    ]
    longest = max(width(row.bars) + width(row.text) for row in rows)
    room = longest if columns is None else min(longest, columns - 1 - sum(widths))
    room = max(room, _NARROWEST)
    lines: list[Line] = [(Span(pad("", room)), Span(_right(names, widths), Role.FRAME))]
    for row in rows:
        lines += _wrap_row(row, room, widths)
    if measured:
        count, took = document.get("rows", 0), document["milliseconds"]
        lines.append((Span(f"{noun_count(count, 'row')} in {took:,.1f} ms"),))
    return lines


def _times(node: _Node, scans: Mapping[str, _Node]) -> Iterator[float]:
    yield node.get("milliseconds", 0.0) + _scan_of(node, scans).get("milliseconds", 0.0)
    for each in node.get("inputs", ()):
        yield from _times(each, scans)


def _scan_of(node: _Node, scans: Mapping[str, _Node]) -> _Node:
    scan: _Node = scans.get(node.get("scan", ""), {})
    return scan


def _rows(
    node: _Node, scans: Mapping[str, _Node], first: str, rest: str, total: float | None
) -> Iterator[_Row]:
    """An operator and those below it.

    `first`, `rest`: the bars before its first line and before others.
    """
    scan = _scan_of(node, scans)
    inputs: Sequence[_Node] = node.get("inputs", ())
    took = node.get("milliseconds", 0.0) + scan.get("milliseconds", 0.0)
    cells = [_count(node.get("estimated_rows"))]
    if total is not None:
        cells += [_count(scan.get("rows", node.get("rows"))), f"{took:,.1f} ms"]
    name, details = _scan_lines(node, scan)
    yield _Row(first, name, True, tuple(cells), took / total if total else 0.0)
    bar = "│  " if inputs else "   "
    for text in details:
        yield _Row(rest + bar, text, False)
    for i, each in enumerate(inputs):
        is_last = i == len(inputs) - 1
        yield from _rows(
            each,
            scans,
            rest + ("└─ " if is_last else "├─ "),
            rest + ("   " if is_last else "│  "),
            total,
        )


def _scan_lines(node: _Node, scan: _Node) -> tuple[str, list[str]]:
    """What an operator is called, and what is told below."""
    details = dict(node.get("details", {}))
    if scan:
        return f"SCAN {scan['table']}", _scan_details(scan)
    name = str(node["name"]).replace("_", " ")
    kind = details.pop("Join Type", "")
    return f"{name} {kind}".strip(), [
        text if label in _PLAIN_DETAILS else f"{label.lower()}: {text}"
        for label, text in details.items()
    ]


def _scan_details(scan: _Node) -> list[str]:
    details = []
    if "pushed" in scan:
        details.append(f"where {scan['pushed']}")
    if "as_of" in scan:
        details.append(f"as of {scan['as_of']}")
    if "limit" in scan:
        details.append(f"limit {scan['limit']}")
    if "narrowed_by" in scan:
        details.append(f"narrowed by rows of {', '.join(scan['narrowed_by'])}")
    read = scan.get("read")
    parts = []
    if "tablets" in scan:
        parts.append(f"tablets {_count(scan.get('tablets_read'))} of {_count(scan['tablets'])}")
    if read is not None:
        rowsets_read = read["rowsets"] - read["rowsets_pruned"]
        parts.append(f"rowsets {rowsets_read:,} of {read['rowsets']:,}")
        parts.append(f"blocks {read['blocks_read']:,} of {read['blocks']:,}")
        parts.append(f"rows read {read['rows_scanned']:,}")
        if read["deltas_applied"]:
            parts.append(f"deltas {read['deltas_applied']:,}")
    elif "rowsets" in scan:
        parts.append(f"rowsets {_count(scan['rowsets_in_key_range'])} of {_count(scan['rowsets'])}")
    if parts:
        details.append(", ".join(parts))
    if scan.get("columns"):
        details.append(f"columns {', '.join(scan['columns'])}")
    return details


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _wrap_row(row: _Row, room: int, widths: Sequence[int]) -> Iterator[Line]:
    """A row in as many lines as its text needs in so many columns."""
    texts = wrap_text(escape(row.text), max(room - width(row.bars), 8), _DETAIL_LINES)
    bars = row.bars
    for number, text in enumerate(texts):
        spans = [Span(bars, Role.FRAME), Span(text, Role.NAME if row.is_head else Role.PLAIN)]
        if not number and row.cells:
            blanks = " " * max(room - width(bars) - width(text), 0)
            role = Role.HINT if row.share >= _MUCH else Role.PLAIN
            spans.append(Span(blanks + _right(row.cells, widths), role))
        yield tuple(span for span in spans if span.text)
        bars = bars.replace("├─", "│ ").replace("└─", "  ")


def _right(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(pad(cell, w, right=True) for cell, w in zip(cells, widths, strict=True))
