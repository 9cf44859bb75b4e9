"""Plans of the statements about a database as a whole: history, snapshots and maintenance."""

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.plan.command import Command
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound


@dataclass(frozen=True, slots=True)
class SetDatabase(Command, headline="SET DATABASE {0.name}"):
    """SET DATABASE name = value; a value of None resets the option to its default."""

    name: str
    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class UndropTable(Command, headline="UNDROP TABLE {0.name}"):
    """UNDROP TABLE: the table of a name that was dropped last comes back, perhaps renamed."""

    name: str
    new_name: str | None = None


@dataclass(frozen=True, slots=True)
class CreateSnapshot(Command, headline="CREATE SNAPSHOT {0.name}"):
    """CREATE SNAPSHOT of a bound in the past; None is the newest."""

    name: str
    if_not_exists: bool = False
    bound: SnapshotBound | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class DropSnapshot(Command, headline="DROP SNAPSHOT {0.name}"):
    """DROP SNAPSHOT; with `if_exists` a missing one is no error."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ResetStatements(Command, headline="RESET STATEMENTS"):
    """RESET STATEMENTS: forget what sys.statements has counted."""


@dataclass(frozen=True, slots=True)
class Flush(Command):
    """FLUSH of one table, or of all."""

    table: TableInfo | None = None

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"FLUSH {self.table.name if self.table else 'all tables'}"


@dataclass(frozen=True, slots=True)
class Optimize(Command):
    """OPTIMIZE of a table: what gains something is compacted, with `full` everything."""

    table: TableInfo
    full: bool = False

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"OPTIMIZE {self.table.name}{' FULL' if self.full else ''}"


@dataclass(frozen=True, slots=True)
class Vacuum(Command):
    """VACUUM of one table, or of all and of what no table has any more."""

    table: TableInfo | None = None

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"VACUUM {self.table.name if self.table else 'all tables'}"
