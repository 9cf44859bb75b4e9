"""Results as INSERT statements, values as literals of SQL that read as what they were."""

import datetime
import decimal
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pykudu_sql.shell.output.values import to_text

ROWS_PER_STATEMENT = 500


def to_sql(value: object) -> str:
    """A value as a literal of SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case decimal.Decimal():
            return format(value, "f")
        case float() if math.isfinite(value):
            return f"CAST('{value!r}' AS DOUBLE)"
        case float():
            return f"CAST('{to_text(value)}' AS DOUBLE)"
        case str():
            return _text(value)
        case bytes():
            return f"X'{value.hex()}'"
        case datetime.datetime():
            return f"TIMESTAMP '{to_text(value)}'"
        case datetime.date():
            return f"DATE '{to_text(value)}'"
        case list() | tuple() | dict():
            return to_text(value)
        case _:
            return _text(to_text(value))


def inserts(table: str, names: Sequence[str], batches: Iterable[Sequence[Any]]) -> Iterator[str]:
    """INSERT statements into a table, several hundred rows each.

    `table`, `names`: as they stand in SQL, with quotes where they need them.
    """
    head = f"INSERT INTO {table} ({', '.join(names)}) VALUES\n"
    for batch in batches:
        for start in range(0, len(batch), ROWS_PER_STATEMENT):
            rows = batch[start : start + ROWS_PER_STATEMENT]
            yield head + ",\n".join(f"({', '.join(map(to_sql, row))})" for row in rows) + ";\n"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
