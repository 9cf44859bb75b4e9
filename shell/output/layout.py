"""Which columns of a result are shown, and how wide: a pure function of what each would need.

Names and values are kept. A column takes its least width only when all do not fit as they are; when
they still do not, whole columns go, those in the middle first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BORDERS = 3  # "│ " before a cell and " " after it
_GAP = BORDERS + 1  # the column in place of those left out


@dataclass(frozen=True, slots=True)
class Need:
    """What one column needs. `natural`: columns to show all of it; `least`: to be readable."""

    natural: int
    least: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of the columns shown, the width of each, and where the others would stand."""

    kept: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int | None


def fits(needs: Sequence[Need], room: int | None) -> bool:
    """Whether all columns fit, each at its least."""
    return room is None or sum(need.least + BORDERS for need in needs) < room


def place(needs: Sequence[Need], room: int | None) -> Placement:
    """Columns to show in so many columns of a terminal; None for no limit."""
    kept = _kept(needs, room)
    gap = next((i for i, position in enumerate(kept) if i != position), None)
    if gap is None and len(kept) < len(needs):
        gap = len(kept)
    shown = [needs[position] for position in kept]
    if room is None:
        return Placement(kept, tuple(need.natural for need in shown), gap)
    inner = room - 1 - BORDERS * len(kept) - (_GAP if gap is not None else 0)
    return Placement(kept, _widths(shown, max(inner, 1)), gap)


def _kept(needs: Sequence[Need], room: int | None) -> tuple[int, ...]:
    everything = tuple(range(len(needs)))
    if room is None or fits(needs, room):
        return everything
    rest = room - 1 - _GAP
    left, right = 0, len(needs)
    open_ends = {"left", "right"}
    while open_ends and left < right:
        # The left end is filled first: key columns stand there.
        end = "left" if left <= len(needs) - right else "right"
        end = end if end in open_ends else next(iter(open_ends))
        needed = needs[left if end == "left" else right - 1].least + BORDERS
        if needed > rest:
            open_ends.remove(end)
            continue
        rest -= needed
        left, right = (left + 1, right) if end == "left" else (left, right - 1)
    return everything[:left] + everything[right:] or everything[:1]


def _widths(needs: Sequence[Need], inner: int) -> tuple[int, ...]:
    """The least of each, and what is left over for the narrowest of those that want more."""
    cap = max((need.natural for need in needs), default=1)
    if sum(need.natural for need in needs) > inner:
        low, high = 1, cap
        while low < high:
            middle = (low + high + 1) // 2
            used = sum(min(need.natural, max(need.least, middle)) for need in needs)
            low, high = (middle, high) if used <= inner else (low, middle - 1)
        cap = low
    widths = [min(need.natural, max(need.least, cap)) for need in needs]
    # The last column left may be wider than the terminal: it is cut however much it needs.
    return tuple(widths) if sum(widths) <= inner else tuple(_cut(widths, inner))


def _cut(widths: Sequence[int], inner: int) -> list[int]:
    cap = max(widths)
    while cap > 1 and sum(min(width, cap) for width in widths) > inner:
        cap -= 1
    return [min(width, cap) for width in widths]
