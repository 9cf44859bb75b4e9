"""Session functions: current_database(), user(), version() and their relatives.

They become literals before anything runs, so no engine evaluates them.
"""

import getpass
from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.vocabulary.catalog_name import CATALOG
from pykudu_sql.storage.common.release import VERSION

SESSION_KINDS: Mapping[type[exp.Expr], str] = {
    exp.CurrentDatabase: "database",
    exp.CurrentSchema: "database",
    exp.CurrentUser: "user",
    exp.SessionUser: "user",
    exp.CurrentVersion: "version",
    exp.CurrentCatalog: "catalog",
}
_CALLS: Mapping[str, str] = {"user": "user", "effective_user": "user", "logged_in_user": "user"}


def replace_session_functions(tree: exp.Expr, database: str) -> exp.Expr:
    """The tree with `current_database()`, `user()`, `version()` and their kind as texts.

    `tree`: changed in place; `database`: the session's.
    """

    def replace_fact(node: exp.Expr) -> exp.Expr:
        fact = _fact(node)
        return node if fact is None else exp.Literal.string(_answer(fact, database))

    return tree.transform(replace_fact, copy=False)


def _fact(node: exp.Expr) -> str | None:
    """The session function that a node calls."""
    if isinstance(node, exp.Anonymous):
        return None if node.expressions else _CALLS.get(node.name.lower())
    return SESSION_KINDS.get(type(node))


def _answer(fact: str, database: str) -> str:
    match fact:
        case "database":
            return database
        case "version":
            return f"pykudu_sql {VERSION}"
        case "catalog":
            return CATALOG
        case _:
            return _user()


def _user() -> str:
    """The user of this process, empty where the system has no name for that."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
