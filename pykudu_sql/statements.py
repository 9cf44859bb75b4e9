"""Which statements there are, for programs that help to write them."""

from pykudu_sql.planner.statements import begins_statement, statements

__all__ = ["begins_statement", "list_show_statements", "list_statements"]


def list_statements() -> tuple[str, ...]:
    """The words that statements begin with, in upper case, for completion in a shell."""
    return tuple(sorted({text for entry in statements() for text in entry.offered}))


def list_show_statements() -> tuple[str, ...]:
    """The words that may follow SHOW."""
    return tuple(text[5:] for text in list_statements() if text.startswith("SHOW "))
