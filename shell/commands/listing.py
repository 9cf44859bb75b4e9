"""Rows of a command, printed as the result of a query: in the format of the session.

A listing is printed with all its rows, however many the screen has: what it leaves out would be a
column or a function that nobody learns of. Results of queries have the limit of `.maxrows`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import quote_identifier
from pykudu_sql.shell.own_queries import uncounted

if TYPE_CHECKING:
    from pykudu_sql.shell.parameters import Value
    from pykudu_sql.shell.session import ShellSession

Cell = str | int | bool | None
_TYPES = {bool: "BOOLEAN", int: "BIGINT", str: "STRING"}


def list_rows(session: "ShellSession", sql: str, values: "Sequence[Value]" = ()) -> None:
    """Run the query of a listing, uncounted, and print all its rows.

    Raises pykudu_sql.Error: it failed.
    """
    limited = session.settings
    session.settings = replace(limited, max_rows=0)
    try:
        with uncounted(session.connection):
            session.run_statement(sql, values)
    finally:
        session.settings = limited


def show_rows(
    session: "ShellSession", names: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> None:
    """Print rows; a column is of the type of its first value, a text where it has none."""
    if not rows:
        columns = ", ".join(f"CAST(NULL AS STRING) AS {quote_identifier(name)}" for name in names)
        list_rows(session, f"SELECT {columns} WHERE false")
        return
    types = [
        next((_TYPES[type(row[i])] for row in rows if row[i] is not None), "STRING")
        for i in range(len(names))
    ]
    columns = ", ".join(
        f"CAST({quote_identifier(name)} AS {sql_type}) AS {quote_identifier(name)}"
        for name, sql_type in zip(names, types, strict=True)
    )
    marks = ", ".join("(" + ", ".join("?" * len(names)) + ")" for _ in rows)
    aliases = ", ".join(map(quote_identifier, names))
    list_rows(
        session,
        f"SELECT {columns} FROM (VALUES {marks}) AS listed({aliases})",
        [cell for row in rows for cell in row],
    )
