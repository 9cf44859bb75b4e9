"""Which statements change the catalog, and what they are called.

Such a statement takes effect at once, for all sessions and for good, so it is no part of any
transaction; every plan that does so is named here.
"""

from collections.abc import Mapping

from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropView,
)
from pykudu_sql.planner.plan.plan import (
    AlterTable,
    CreateSnapshot,
    CreateTable,
    DropSnapshot,
    DropTable,
    Plan,
    SetDatabase,
    UndropTable,
)

_NAMES: Mapping[type[Plan], str] = {
    AlterTable: "ALTER TABLE",
    CommentOn: "COMMENT ON",
    CreateDatabase: "CREATE DATABASE",
    CreateView: "CREATE VIEW",
    DropDatabase: "DROP DATABASE",
    DropView: "DROP VIEW",
    CreateSnapshot: "CREATE SNAPSHOT",
    CreateTable: "CREATE TABLE",
    DropSnapshot: "DROP SNAPSHOT",
    DropTable: "DROP TABLE",
    SetDatabase: "SET DATABASE",
    UndropTable: "UNDROP TABLE",
}


def definition_name(plan: Plan) -> str | None:
    """What a statement that changes the catalog is called; None for all others."""
    return _NAMES.get(type(plan))
