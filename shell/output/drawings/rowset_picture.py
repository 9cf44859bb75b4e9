"""The rowsets of a tablet over its keys, as Kudu's picture of a tablet's layout, in characters.

From left to right the keys, a line as many rowsets as do not overlap: the fewer lines, the fewer
rowsets a key lies in. A pure function.
"""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.spans import Line, Role, Span

LEGEND = "█ rows on disk   ▓ with changes beside them   ░ in memory   · no rowset"


@dataclass(frozen=True, slots=True)
class RowsetShape:
    """One rowset: its number, where its keys begin and end (0 to 1), and what it is."""

    number: int
    low: float
    high: float
    has_changes: bool = False
    in_memory: bool = False


def draw_rowsets(rowsets: Sequence[RowsetShape], columns: int) -> list[Line]:
    """The lines of the picture, each of so many columns."""
    rows: list[list[tuple[int, int, RowsetShape]]] = []
    for rowset in sorted(rowsets, key=lambda r: (r.low, r.high, r.number)):
        start = min(int(rowset.low * columns), columns - 1)
        end = min(max(start + 1, round(rowset.high * columns)), columns)
        row = next((row for row in rows if row[-1][1] <= start), None)
        if row is None:
            rows.append(row := [])
        row.append((start, end, rowset))
    return [_line(row, columns) for row in rows]


def _line(row: Sequence[tuple[int, int, RowsetShape]], columns: int) -> Line:
    spans, at = [], 0
    for start, end, rowset in row:
        spans.append(Span("·" * (start - at), Role.FRAME))
        label = str(rowset.number)
        fill = "░" if rowset.in_memory else "▓" if rowset.has_changes else "█"
        # A number that does not fit is left out; its share of the line is what matters.
        label = f" {label} " if len(label) + 4 <= end - start else ""
        rest = end - start - len(label)
        role = Role.HINT if rowset.in_memory else Role.OLD if rowset.has_changes else Role.NEW
        bar = fill * (rest // 2) + label + fill * (rest - rest // 2)
        spans.append(Span(bar, role))
        at = end
    spans.append(Span("·" * (columns - at), Role.FRAME))
    return tuple(span for span in spans if span.text)
