"""Hints that suggest a similar name."""

import difflib
from collections.abc import Iterable


def near(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """A hint naming the known name closest to one, if any is at least `cutoff` of 1 alike."""
    matches = difflib.get_close_matches(name, list(dict.fromkeys(candidates)), n=1, cutoff=cutoff)
    return f"did you mean '{matches[0]}'?" if matches else None
