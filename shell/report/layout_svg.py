"""The rowsets of a tablet over its keys as SVG: Kudu's picture of a tablet's layout.

From left to right the keys, a line as many rowsets as do not overlap; below, for each stretch of
keys, how many rowsets a look-up there asks. A pure function.
"""

from collections.abc import Iterator, Sequence
from html import escape

from pykudu_sql.shell.report.facts import RowsetFacts, TabletFacts
from pykudu_sql.shell.report.sizes import format_size
from pykudu_sql.storage.common.noun_count import noun_count

_WIDTH = 1000
_LANE, _GAP = 20, 4
_NARROW_LANE, _MANY_LANES = 6, 24
_PROFILE = 36
_STRETCHES = 100
_LABEL_WIDTH = 9  # of a digit, about


def layout_svg(tablet: TabletFacts) -> str:
    """The picture; its colours are classes of the page's style."""
    lanes = _lanes(tablet.rowsets)
    lane = _LANE if len(lanes) <= _MANY_LANES else _NARROW_LANE
    bottom = len(lanes) * (lane + _GAP)
    height = bottom + _PROFILE + 22
    label = (
        f"Tablet {tablet.number}: {noun_count(len(tablet.rowsets), 'rowset')} in "
        f"{noun_count(len(lanes), 'line')}, average height {tablet.height:.1f}"
    )
    parts = [
        f'<svg class="layout" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(label)}">'
    ]
    for row, rowsets in enumerate(lanes):
        for rowset in rowsets:
            parts += _rowset(rowset, row * (lane + _GAP), lane)
    parts += _profile(tablet.rowsets, bottom)
    parts.append(
        f'<text class="axis" x="0" y="{height - 6}">lowest key</text>'
        f'<text class="axis" x="{_WIDTH}" y="{height - 6}" text-anchor="end">highest key</text>'
    )
    return "".join([*parts, "</svg>"])


def _lanes(rowsets: Sequence[RowsetFacts]) -> list[list[RowsetFacts]]:
    """Rowsets in as few lines as hold them without overlap."""
    lanes: list[list[RowsetFacts]] = []
    for rowset in sorted(rowsets, key=lambda r: (r.in_memory, r.low, r.high, r.number)):
        lane = next((lane for lane in lanes if lane[-1].high <= rowset.low), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(rowset)
    return lanes


def _rowset(rowset: RowsetFacts, y: int, lane: int) -> Iterator[str]:
    x = rowset.low * _WIDTH
    columns = max((rowset.high - rowset.low) * _WIDTH - 1, 2.0)
    kind = "memory" if rowset.in_memory else "disk"
    name = "MemRowSet" if rowset.in_memory else f"DiskRowSet {rowset.number}"
    tooltip = [
        f"{name}: {noun_count(rowset.rows, 'row')}, {rowset.live_rows:,} alive",
        f"{format_size(rowset.disk_bytes)} on disk",
        f"{rowset.redo_records:,} REDO and {rowset.undo_records:,} UNDO records, "
        f"{rowset.memory_deltas:,} changes in memory",
        f"keys from {rowset.low:.1%} to {rowset.high:.1%}",
    ]
    yield f"<g><title>{escape(chr(10).join(tooltip))}</title>"
    yield (
        f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{columns:.1f}" height="{lane}" rx="2"/>'
    )
    if rowset.changes:
        share = min(1.0, rowset.changes / rowset.rows)
        depth = max(lane * share, 2.0)
        yield (
            f'<rect class="deltas" x="{x:.1f}" y="{y + lane - depth:.1f}" '
            f'width="{columns:.1f}" height="{depth:.1f}" rx="2"/>'
        )
    text = "in memory" if rowset.in_memory else str(rowset.number)
    if lane == _LANE and columns > _LABEL_WIDTH * len(text) + 8:
        yield (
            f'<text class="label on-{kind}" x="{x + columns / 2:.1f}" y="{y + lane - 6}" '
            f'text-anchor="middle">{text}</text>'
        )
    yield "</g>"


def _profile(rowsets: Sequence[RowsetFacts], top: int) -> Iterator[str]:
    """How many rowsets lie over each stretch of the keys."""
    middles = [(i + 0.5) / _STRETCHES for i in range(_STRETCHES)]
    counts = [sum(r.low <= at < r.high or r.low == at for r in rowsets) for at in middles]
    highest = max(counts, default=0)
    if not highest:
        return
    step = _WIDTH / _STRETCHES
    room = _PROFILE - 6
    bars = "".join(
        f"M{i * step:.1f} {top + _PROFILE}v-{room * count / highest:.1f}h{step:.1f}v"
        f"{room * count / highest:.1f}z"
        for i, count in enumerate(counts)
        if count
    )
    yield (
        f'<g><title>rowsets over the keys: at most {highest}</title><path class="profile" '
        f'd="{bars}"/></g>'
        f'<text class="axis" x="{_WIDTH / 2}" y="{top + _PROFILE + 16}" text-anchor="middle">'
        f"at most {noun_count(highest, 'rowset')} over a key</text>"
    )
