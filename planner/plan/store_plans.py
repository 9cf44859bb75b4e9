"""Plans of the statements about a database as a whole: history, snapshots and maintenance."""

from dataclasses import dataclass
from typing import ClassVar

from pykudu_sql.planner.plan.value import ParameterKey
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound


@dataclass(frozen=True, slots=True)
class SetDatabase:
    """SET DATABASE name = value; a value of None resets the option to its default."""

    name: str
    value: bool | int | float | str | None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"SET DATABASE {self.name}"


@dataclass(frozen=True, slots=True)
class UndropTable:
    """UNDROP TABLE: the table of a name that was dropped last comes back, perhaps renamed."""

    name: str
    new_name: str | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"UNDROP TABLE {self.name}"


@dataclass(frozen=True, slots=True)
class CreateSnapshot:
    """CREATE SNAPSHOT of a bound in the past; None is the newest."""

    name: str
    if_not_exists: bool = False
    bound: SnapshotBound | None = None
    comment: str = ""
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"CREATE SNAPSHOT {self.name}"


@dataclass(frozen=True, slots=True)
class DropSnapshot:
    """DROP SNAPSHOT; with `if_exists` a missing one is no error."""

    name: str
    if_exists: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"DROP SNAPSHOT {self.name}"


@dataclass(frozen=True, slots=True)
class Flush:
    """FLUSH of one table, or of all."""

    table: TableInfo | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"FLUSH {self.table.name if self.table else 'all tables'}"


@dataclass(frozen=True, slots=True)
class Optimize:
    """OPTIMIZE of a table: what gains something is compacted, with `full` everything."""

    table: TableInfo
    full: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"OPTIMIZE {self.table.name}{' FULL' if self.full else ''}"


@dataclass(frozen=True, slots=True)
class Vacuum:
    """VACUUM of one table, or of all and of what no table has any more."""

    table: TableInfo | None = None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"VACUUM {self.table.name if self.table else 'all tables'}"
