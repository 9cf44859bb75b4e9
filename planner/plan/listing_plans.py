"""Plans of SHOW and DESCRIBE."""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.plan.command import Command
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo


@dataclass(frozen=True, slots=True)
class Show(Command):
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

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        inside = " IN" if self.database and self.kind in ("TABLES", "VIEWS") else ""
        name = self.item.name if self.item else self.database
        listed = f"SHOW {self.kind}{inside}" + (f" {name}" if name else "")
        return listed if self.pattern is None else f"{listed} LIKE {self.pattern!r}"


@dataclass(frozen=True, slots=True)
class Describe(Command, headline="DESCRIBE {0.item.name}"):
    """DESCRIBE of a table or view, or of those columns of it whose names match a LIKE pattern."""

    item: TableInfo | ViewInfo
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class DescribeFormatted(Command, headline="DESCRIBE FORMATTED {0.item.name}"):
    """DESCRIBE FORMATTED of a table or view: its columns and all there is to know of it."""

    item: TableInfo | ViewInfo


@dataclass(frozen=True, slots=True)
class DescribeDatabase(Command, headline="DESCRIBE DATABASE {0.name}"):
    """DESCRIBE DATABASE."""

    name: str


class PragmaKind(StrEnum):
    """The pragmas there are."""

    TABLE_INFO = "table_info"
    TABLE_LIST = "table_list"
    DATABASE_LIST = "database_list"


@dataclass(frozen=True, slots=True)
class Pragma(Command):
    """PRAGMA. `item`: the table or view it is about, where the kind needs one."""

    kind: PragmaKind
    item: TableInfo | ViewInfo | None = None

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"PRAGMA {self.kind}" + (f"({self.item.name})" if self.item else "")


Description = Describe | DescribeFormatted | DescribeDatabase
