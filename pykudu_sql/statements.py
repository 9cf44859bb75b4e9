"""Which statements, encodings and compressions there are, for programs that help to write SQL."""

from pykudu_sql.planner.statements import begins_statement, statements

__all__ = [
    "begins_statement",
    "list_compressions",
    "list_encodings",
    "list_show_statements",
    "list_statements",
]


def list_statements() -> tuple[str, ...]:
    """The words that statements begin with, in upper case, for completion in a shell."""
    return tuple(sorted({text for entry in statements() for text in entry.offered}))


def list_show_statements() -> tuple[str, ...]:
    """The words that may follow SHOW."""
    return tuple(text[5:] for text in list_statements() if text.startswith("SHOW "))


def list_encodings() -> tuple[str, ...]:
    """The encodings that a column may name."""
    from pykudu_sql.storage.cfile.encoding.type_encodings import BY_NAME
    from pykudu_sql.storage.common.types.types import AUTO_ENCODING

    return tuple(sorted((AUTO_ENCODING, *BY_NAME)))


def list_compressions() -> tuple[str, ...]:
    """The compressions that a column may name."""
    from pykudu_sql.storage.common.types.types import Compression

    return tuple(map(str, Compression))
