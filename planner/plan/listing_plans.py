"""Plans of the statements that list what there is: SHOW and DESCRIBE."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pykudu_sql.planner.plan.value import ParameterKey
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import ViewInfo


class ShowKind(StrEnum):
    """What SHOW can list."""

    TABLES = "TABLES"
    VIEWS = "VIEWS"
    DATABASES = "DATABASES"
    SCHEMAS = "SCHEMAS"
    CREATE_TABLE = "CREATE TABLE"
    TABLE_STATS = "TABLE STATS"
    PARTITIONS = "PARTITIONS"
    RANGE_PARTITIONS = "RANGE PARTITIONS"
    TABLETS = "TABLETS"
    ROWSETS = "ROWSETS"
    COLUMN_FILES = "COLUMN FILES"
    INDEXES = "INDEXES"
    HASH_SCHEMA = "HASH SCHEMA"
    ROW_ERRORS = "ROW ERRORS"
    SETTINGS = "SETTINGS"
    FUNCTIONS = "FUNCTIONS"
    SNAPSHOTS = "SNAPSHOTS"
    DROPPED_TABLES = "DROPPED TABLES"


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW of something, of a table where the kind needs one.

    Attributes:
        pattern: a LIKE pattern over names where the kind lists names, or None.
        database: the one whose tables or views are listed, None for the session's.
    """

    kind: ShowKind
    table: TableInfo | None = None
    pattern: str | None = None
    database: str | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE of a table."""

    table: TableInfo
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DescribeFormatted:
    """DESCRIBE FORMATTED of a table or view: its columns and all there is to know of it."""

    item: TableInfo | ViewInfo
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DescribeDatabase:
    """DESCRIBE DATABASE."""

    name: str
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


class PragmaKind(StrEnum):
    """The pragmas there are."""

    TABLE_INFO = "table_info"
    TABLE_LIST = "table_list"
    DATABASE_LIST = "database_list"


@dataclass(frozen=True, slots=True)
class Pragma:
    """PRAGMA.

    Attributes:
        item: the table or view it is about, where the kind needs one.
    """

    kind: PragmaKind
    item: TableInfo | ViewInfo | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


Description = Describe | DescribeFormatted | DescribeDatabase
