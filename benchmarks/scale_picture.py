"""What operations cost at several sizes, drawn as SVG: both axes are logarithmic."""

import math
from collections.abc import Mapping, Sequence
from html import escape

Line = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT, _MARGIN, _LEGEND = 420, 320, 56, 130
_COLOURS = ("#1b6ca8", "#c0392b", "#27825a", "#b9770e", "#6c3483", "#34495e", "#0e8c8c", "#a04000")


def picture(panels: Mapping[str, Mapping[str, Line]]) -> str:
    """One panel beside the other, each a line an operation.

    `panels`: by what is drawn upwards, its lines by name; points (size, value), both above 0.
    """
    width = (_WIDTH + _LEGEND) * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="11">'
    ]
    for number, (title, lines) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({number * (_WIDTH + _LEGEND)},0)">')
        parts += _panel(title, lines)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, lines: Mapping[str, Line]) -> list[str]:
    across = _Axis([x for line in lines.values() for x, _ in line], _MARGIN, _WIDTH - 10)
    upwards = _Axis([y for line in lines.values() for _, y in line], _HEIGHT - _MARGIN, 30)
    parts = [f'<text x="{_MARGIN}" y="18" font-weight="bold">{escape(title)}</text>']
    for x in sorted({x for line in lines.values() for x, _ in line}):
        place = across.place(x)
        parts.append(_rule(place, 30, place, _HEIGHT - _MARGIN))
        parts.append(f'<text x="{place:.0f}" y="{_HEIGHT - _MARGIN + 16}">SF{x:g}</text>')
    for power in upwards.powers():
        place = upwards.place(power)
        parts.append(_rule(_MARGIN, place, _WIDTH - 10, place))
        parts.append(f'<text x="4" y="{place + 4:.0f}">{power:g}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(across.place(x), upwards.place(y)) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(
            f'<text x="{_WIDTH}" y="{40 + 16 * number}" fill="{colour}">{escape(name)}</text>'
        )
    return parts


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


class _Axis:
    """Places of values between two ends of a panel; whole powers of ten at least."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(self._low + 1, math.ceil(math.log10(max(values))))
        self._first, self._last = first, last

    def place(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def powers(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]
