"""Which columns of a result are visible, and how wide: a pure function of their size requests.

Columns have their natural widths if all of them fit so, otherwise widths from their minimum on. If
the minimum widths do not fit either, columns are left out: first constant ones, then those in the
middle.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from pykudu_sql.dataclass import dataclass

BORDERS = 3  # "│ " before a cell and " " after it
_GAP = BORDERS + 1  # the column in place of those left out
_MIN_DISTINCT_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """The widths that one column asks for.

    Attributes:
        natural: columns of the terminal that show all of it.
        minimum: columns of the terminal below which it cannot be read.
        is_constant: whether all rows have the same value in it.
    """

    natural: int
    minimum: int
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of the visible columns, the width of each, and where others are left out.

    `gaps`: numbers of the visible columns that others are left out before; the count of visible
    columns if others are left out behind the last.
    """

    visible: tuple[int, ...]
    widths: tuple[int, ...]
    gaps: frozenset[int]


def fits(needs: Sequence[SizeRequest], room: int | None) -> bool:
    """Whether all columns fit with their minimum widths."""
    return room is None or sum(need.minimum + BORDERS for need in needs) < room


def place(needs: Sequence[SizeRequest], room: int | None) -> Placement:
    """The visible columns in `room` columns of a terminal; None for no limit."""
    visible = _visible(needs, room)
    gaps = _gaps(visible, len(needs))
    visible_needs = [needs[position] for position in visible]
    if room is None:
        return Placement(visible, tuple(need.natural for need in visible_needs), gaps)
    inner = room - 1 - BORDERS * len(visible) - _GAP * len(gaps)
    return Placement(visible, _widths(visible_needs, max(inner, 1)), gaps)


def _gaps(visible: Sequence[int], count: int) -> frozenset[int]:
    neighbours = pairwise([-1, *visible, count])
    return frozenset(i for i, (before, behind) in enumerate(neighbours) if behind > before + 1)


def _visible(needs: Sequence[SizeRequest], room: int | None) -> tuple[int, ...]:
    everything = tuple(range(len(needs)))
    if room is None or fits(needs, room):
        return everything

    def fitting(positions: Sequence[int]) -> bool:
        used = sum(needs[position].minimum + BORDERS for position in positions)
        return used + _GAP * len(_gaps(positions, len(needs))) < room

    rest = list(everything)
    constant = [position for position in everything[1:] if needs[position].is_constant]
    # Where nearly all columns are constant, a constant column says as much as any other.
    while constant and len(everything) - len(constant) >= _MIN_DISTINCT_COLUMNS:
        rest.remove(constant.pop())
        if fitting(rest):
            return tuple(rest)
    return _ends(rest, fitting)


def _ends(positions: Sequence[int], fitting: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """As many as fit of the first and of the last."""
    left, right = 0, len(positions)
    open_ends = {"left", "right"}
    while open_ends and left < right:
        # The left end is filled first: key columns stand there.
        end = "left" if left <= len(positions) - right else "right"
        end = end if end in open_ends else next(iter(open_ends))
        wider = (left + 1, right) if end == "left" else (left, right - 1)
        if fitting([*positions[: wider[0]], *positions[wider[1] :]]):
            left, right = wider
        else:
            open_ends.remove(end)
    return tuple([*positions[:left], *positions[right:]] or positions[:1])


def _widths(needs: Sequence[SizeRequest], inner: int) -> tuple[int, ...]:
    """The minimum width of each; the rest goes to the narrowest below their natural width."""
    cap = max((need.natural for need in needs), default=1)
    if sum(need.natural for need in needs) > inner:
        low, high = 1, cap
        while low < high:
            middle = (low + high + 1) // 2
            used = sum(min(need.natural, max(need.minimum, middle)) for need in needs)
            low, high = (middle, high) if used <= inner else (low, middle - 1)
        cap = low
    widths = [min(need.natural, max(need.minimum, cap)) for need in needs]
    # The last column left may be wider than the terminal: it is cut however much it needs.
    return tuple(widths) if sum(widths) <= inner else tuple(_shrink(widths, inner))


def _shrink(widths: Sequence[int], inner: int) -> list[int]:
    cap = max(widths)
    while cap > 1 and sum(min(width, cap) for width in widths) > inner:
        cap -= 1
    return [min(width, cap) for width in widths]
