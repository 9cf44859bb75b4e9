"""Plans of the statements about views, databases and comments."""

from dataclasses import dataclass
from typing import ClassVar

from pykudu_sql.planner.plan.value import ParameterKey
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, ViewInfo


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE VIEW.

    Attributes:
        view: as it is to be; with `replaces` it has the id of the view it takes the place of.
        if_not_exists: a view or table of that name is no error.
    """

    view: ViewInfo
    if_not_exists: bool = False
    replaces: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"CREATE VIEW {self.view.name}"


@dataclass(frozen=True, slots=True)
class DropView:
    """DROP VIEW; None if there is none and the statement says IF EXISTS."""

    view: ViewInfo | None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return "DROP VIEW" if self.view is None else f"DROP VIEW {self.view.name}"


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    """CREATE DATABASE."""

    database: DatabaseInfo
    if_not_exists: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"CREATE DATABASE {self.database.name}"


@dataclass(frozen=True, slots=True)
class DropDatabase:
    """DROP DATABASE; with `cascade` its tables and views go first."""

    name: str
    if_exists: bool = False
    cascade: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"DROP DATABASE {self.name}"


@dataclass(frozen=True, slots=True)
class CommentOn:
    """COMMENT ON a view or database: its state with the new comment."""

    item: ViewInfo | DatabaseInfo
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"COMMENT ON {self.item.name}"


Namespace = CreateView | DropView | CreateDatabase | DropDatabase | CommentOn
