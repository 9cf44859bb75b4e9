"""Plans of the statements that list what there is: SHOW and DESCRIBE."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pykudu_sql.planner.plan.value import ParameterKey
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import ViewInfo


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW of something.

    Attributes:
        kind: the words behind SHOW, see `listing_commands.LISTINGS`.
        item: the table or view it is about, where the kind needs one.
        pattern: a LIKE pattern over names where the kind lists names, or None.
        database: the one whose tables or views are listed, None for the session's.
    """

    kind: str
    item: TableInfo | ViewInfo | None = None
    pattern: str | None = None
    database: str | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"SHOW {self.kind}"


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE of a table or view."""

    item: TableInfo | ViewInfo
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"DESCRIBE {self.item.name}"


@dataclass(frozen=True, slots=True)
class DescribeFormatted:
    """DESCRIBE FORMATTED of a table or view: its columns and all there is to know of it."""

    item: TableInfo | ViewInfo
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"DESCRIBE FORMATTED {self.item.name}"


@dataclass(frozen=True, slots=True)
class DescribeDatabase:
    """DESCRIBE DATABASE."""

    name: str
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"DESCRIBE DATABASE {self.name}"


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

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"PRAGMA {self.kind}"


Description = Describe | DescribeFormatted | DescribeDatabase
