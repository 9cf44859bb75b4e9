"""What the catalog knows beside tables: views and databases.

Neither has rows or files: a view is the text of a query under a name, a database is a name that
tables and views stand under. Both are states of a moment, as tables are, so a read AS OF t sees the
views and databases of t. Kudu has no views, and a database is a prefix of a table's name there
(`db.t`), which it is here too; a table of the database `default` has no prefix.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.identifiers import check_comment, check_identifier
from pykudu_sql.storage.errors import InvalidSchemaError

DEFAULT_DATABASE = "default"
RESERVED_DATABASES = ("sys", "information_schema")


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view.

    Attributes:
        source: what the view's query calls it.
        name: what the view calls it, lower case.
        type: as SQL writes it, when the view was made.
    """

    source: str
    name: str
    type: str
    comment: str = ""

    def to_json(self) -> dict[str, Any]:
        """The column as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ViewColumn":
        """The inverse of `to_json`."""
        return cls(value["source"], value["name"], value["type"], value["comment"])


@dataclass(frozen=True, slots=True)
class ViewInfo:
    """A view at one moment.

    Attributes:
        name: lower case, perhaps `database.view`.
        query: the text of its query; names in it that have no database are of `database`.
        database: in which it was made.
        columns: those it had when it was made; later columns of its tables do not show.
    """

    id: str
    name: str
    query: str
    database: str
    columns: tuple[ViewColumn, ...]
    comment: str = ""

    def to_json(self) -> dict[str, Any]:
        """The view as plain JSON values."""
        return {**asdict(self), "columns": [column.to_json() for column in self.columns]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ViewInfo":
        """The inverse of `to_json`."""
        columns = tuple(ViewColumn.from_json(column) for column in value["columns"])
        return cls(
            value["id"], value["name"], value["query"], value["database"], columns, value["comment"]
        )

    def check(self) -> None:
        """See that names and comments may be used.

        Raises InvalidSchemaError: one may not, there is no column, or two have one name.
        """
        check_identifier(self.name, "view")
        check_comment(self.comment, f"view '{self.name}'")
        visited: set[str] = set()
        for column in self.columns:
            check_identifier(column.name, "column")
            check_comment(column.comment, f"column '{column.name}'")
            if column.name in visited:
                raise InvalidSchemaError(
                    f"view '{self.name}' has two columns '{column.name}'",
                    hint="give each a name of its own: CREATE VIEW v (a, b) AS ...",
                )
            visited.add(column.name)
        if not self.columns:
            raise InvalidSchemaError(f"view '{self.name}' has no columns")


def listed_views(views: Sequence[ViewInfo]) -> str:
    """Views for a message: `view 'a'`, `views 'a', 'b'`."""
    names = ", ".join(f"'{view.name}'" for view in views)
    return f"view{'' if len(views) == 1 else 's'} {names}"


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """A database at one moment. `name`: lower case, without a dot."""

    id: str
    name: str
    comment: str = ""

    def to_json(self) -> dict[str, Any]:
        """The database as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DatabaseInfo":
        """The inverse of `to_json`."""
        return cls(value["id"], value["name"], value["comment"])

    def check(self) -> None:
        """See that name and comment may be used. Raises InvalidSchemaError: one may not."""
        check_identifier(self.name, "database")
        check_comment(self.comment, f"database '{self.name}'")
        if "." in self.name:
            raise InvalidSchemaError(f"database name '{self.name}' has a dot")
        if self.name in RESERVED_DATABASES:
            raise InvalidSchemaError(f"database '{self.name}' belongs to the system")


NamedObject = ViewInfo | DatabaseInfo


def new_id() -> str:
    """A UUID for a view or a database that has not been there before."""
    return str(uuid.uuid4())


def database_of(name: str) -> str:
    """The database that a full name of a table or view stands in."""
    database, dot, own = name.partition(".")
    return database if database and dot and own else DEFAULT_DATABASE


def own_name(name: str) -> str:
    """The name of a table or view without its database."""
    database, _, own = name.partition(".")
    return own if database and own else name


def full_name(name: str, database: str) -> str:
    """The name a table or view is stored under.

    Args:
        name: as a statement gives it, lower case, with or without its database.
        database: of names that have none.
    """
    qualifier, dot, own = name.partition(".")
    if not (dot and qualifier and own):
        return name if database == DEFAULT_DATABASE else f"{database}.{name}"
    return own if qualifier == DEFAULT_DATABASE else name
