"""Kudu's tablets and Impala's SQL over local files, in one Python process.

    import pykudu_sql

    with pykudu_sql.connect("my.db") as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")

The interface is PEP 249. Importing this package loads none of the libraries underneath; `connect`
does. It also runs in every worker of a Spark job, where only parts of the house are needed.
"""

from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.dbapi.cursor import Cursor
from pykudu_sql.dbapi.exceptions import (
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
from pykudu_sql.dbapi.opening import connect
from pykudu_sql.planner.parse.scripts import is_complete, split_statements
from pykudu_sql.results.type_objects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)
from pykudu_sql.setting_types import Settings
from pykudu_sql.storage.common.progress import ProgressReport
from pykudu_sql.storage.common.release import VERSION
from pykudu_sql.storage.errors import SerializationError, UnknownStatementError

__version__ = VERSION
apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Binary", "Connection", "Cursor",
    "DataError", "DatabaseError", "Date", "DateFromTicks", "Error", "IntegrityError",
    "InterfaceError", "InternalError", "NotSupportedError", "OperationalError",
    "ProgrammingError", "ProgressReport", "SerializationError", "Settings", "Time",
    "TimeFromTicks", "Timestamp", "TimestampFromTicks", "UnknownStatementError", "Warning",
    "__version__", "apilevel", "connect", "is_complete", "paramstyle", "split_statements",
    "threadsafety",
]  # fmt: skip
