"""Rows of a command, printed as the result of a query: in the format of the session."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import quote_identifier

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

Cell = str | int | bool | None
_TYPES = {bool: "BOOLEAN", int: "BIGINT", str: "STRING"}


def show_rows(
    session: "ShellSession", names: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> None:
    """Print rows; a column is of the type of its first value, a text where it has none."""
    if not rows:
        columns = ", ".join(f"CAST(NULL AS STRING) AS {quote_identifier(name)}" for name in names)
        session.run_statement(f"SELECT {columns} WHERE false")
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
    session.run_statement(
        f"SELECT {columns} FROM (VALUES {marks}) AS listed({aliases})",
        [cell for row in rows for cell in row],
    )
