"""Queries that the shell runs for itself: `sys.statements` does not count them as the user's."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pykudu_sql
from pykudu_sql.shell.parameters import Parameters, Value

if TYPE_CHECKING:
    from pykudu_sql import Connection

_READ_ONLY = "25006"
_REFUSALS = ("22", "42")  # classes of SQLSTATEs: values, names and rules of access
_SYNTAX = "42601"  # also of statements that EXPLAIN does not take


@contextmanager
def uncounted(connection: "Connection") -> Iterator[None]:
    """A block whose statements are the shell's own."""
    before, connection.counts_statements = connection.counts_statements, False
    try:
        yield
    finally:
        connection.counts_statements = before


def query(
    connection: "Connection", sql: str, values: Sequence[Value] | Parameters = ()
) -> list[tuple[Any, ...]]:
    """The rows of a query of the shell's own. Raises pykudu_sql.Error: it failed."""
    with uncounted(connection):
        return connection.execute(sql, values).fetchall()


def is_refused(connection: "Connection", sql: str, parameters: Parameters) -> bool:
    """Whether a statement cannot run now: it writes to the past, or breaks a rule as it stands.

    `sql`: that runs next. Where that does not show before it runs, the answer is no.
    """
    try:
        query(connection, f"EXPLAIN {sql}", parameters)
    except pykudu_sql.Error as error:
        state = error.sqlstate
        return state == _READ_ONLY or (state.startswith(_REFUSALS) and state != _SYNTAX)
    return False
