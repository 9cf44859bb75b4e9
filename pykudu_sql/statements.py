"""Which statements there are, for programs that help to write them."""

from pykudu_sql.planner.statements import statements

__all__ = ["offered_listings", "offered_statements"]


def offered_statements() -> tuple[str, ...]:
    """How statements begin, in upper case, as a shell offers them."""
    return tuple(sorted({text for entry in statements() for text in entry.offered}))


def offered_listings() -> tuple[str, ...]:
    """What can stand behind SHOW."""
    return tuple(text[5:] for text in offered_statements() if text.startswith("SHOW "))
