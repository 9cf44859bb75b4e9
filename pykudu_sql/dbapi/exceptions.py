"""PEP 249's error tree, under the names the standard gives.

The classes are those of the storage, unchanged, so one `except` catches an error wherever in the
house it was raised.
"""

from pykudu_sql.storage.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)

__all__ = [
    "DataError", "DatabaseError", "Error", "IntegrityError", "InterfaceError", "InternalError",
    "NotSupportedError", "OperationalError", "ProgrammingError", "Warning",
]  # fmt: skip
