"""Plans of the statements about views, databases and comments."""

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.plan.command import Command
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, ViewInfo


@dataclass(frozen=True, slots=True)
class CreateView(Command, headline="{0.statement}"):
    """CREATE VIEW or ALTER VIEW.

    Attributes:
        statement: how it is written, without the query.
        view: as it is to be; with `replaces` it has the id of the view it takes the place of.
        if_not_exists: a view or table of that name is no error.
    """

    statement: str
    view: ViewInfo
    if_not_exists: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class DropViews(Command):
    """DROP VIEW: all at one moment.

    Attributes:
        names: as the statement has them.
        views: those there are; all of them unless the statement says IF EXISTS.
    """

    names: tuple[str, ...]
    views: tuple[ViewInfo, ...]

    @property
    def headline(self) -> str:
        """The statement in a line."""
        return f"DROP VIEW {', '.join(self.names)}"


@dataclass(frozen=True, slots=True)
class CreateDatabase(Command, headline="CREATE DATABASE {0.database.name}"):
    """CREATE DATABASE."""

    database: DatabaseInfo
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropDatabase(Command, headline="DROP DATABASE {0.name}"):
    """DROP DATABASE; with `cascade` its tables and views go first."""

    name: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class CommentOn(Command, headline="COMMENT ON {0.object_name}"):
    """COMMENT ON a view, its column or a database: its state with the new comment."""

    item: ViewInfo | DatabaseInfo
    object_name: str


Namespace = CreateView | DropViews | CreateDatabase | DropDatabase | CommentOn
