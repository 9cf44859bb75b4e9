"""What names and comments of tables, columns and the like may be."""

from pykudu_sql.storage.errors import InvalidSchemaError

MAX_IDENTIFIER_BYTES = 256
MAX_COMMENT_BYTES = 256


def check_comment(comment: str, owner: str) -> None:
    """Check the length of a table's or column's comment.

    Raises InvalidSchemaError: it is over 256 bytes.
    """
    if len(comment.encode()) > MAX_COMMENT_BYTES:
        raise InvalidSchemaError(f"comment of {owner} is longer than {MAX_COMMENT_BYTES} bytes")


def check_identifier(name: str, what: str) -> None:
    """Check a table's or column's name: 1 to 256 bytes of UTF-8 without NUL.

    Raises InvalidSchemaError: it is not.
    """
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidSchemaError(f"{what} name {name!r} is not valid UTF-8") from error
    if not 1 <= size <= MAX_IDENTIFIER_BYTES or "\0" in name:
        raise InvalidSchemaError(
            f"{what} name {name[:40]!r} of {size} bytes is not valid",
            hint=f"a name has 1 to {MAX_IDENTIFIER_BYTES} bytes and no NUL character",
        )
