"""Results with intervals of more than 292 years, in a form that Arrow can hold.

The engine counts an interval in months, days and microseconds of 64 bits; Arrow in months, days and
nanoseconds of 64 bits, and the engine multiplies by 1,000 without looking whether that fits. So
whole days are moved from the microseconds to the days of intervals that would not fit, which leaves
their length as it is: an interval's day is 24 hours wherever the engine adds it to a time.
"""

from collections.abc import Sequence
from typing import Any

from pykudu_sql.planner.parse.lexer import quote_name

# The whole hours that fit into 64 bits of nanoseconds.
MOST_HOURS = 2_562_046


def hold_intervals(types: Sequence[Any]) -> bool:
    """Whether some of the engine's types are of intervals, also within lists and structs."""
    return any("INTERVAL" in str(kind) for kind in types)


def with_days(sql: str, names: Sequence[str], types: Sequence[Any]) -> str:
    """A query with the days of its long intervals counted as days.

    `names`, `types`: of its columns.
    """
    rewritten_columns = ", ".join(
        f"{_value(f'c{i}', kind, 0)} AS {quote_name(name)}"
        for i, (name, kind) in enumerate(zip(names, types, strict=True))
    )
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    return f"SELECT {rewritten_columns} FROM ({sql}) AS q({columns})"


def _value(value: str, kind: Any, depth: int) -> str:
    if "INTERVAL" not in str(kind):
        return value
    match kind.id:
        case "interval":
            days = f"CAST(trunc(hour({value}) / 24) AS INTEGER)"
            moved = f"{value} - to_hours(24 * CAST({days} AS BIGINT)) + to_days({days})"
            return f"CASE WHEN abs(hour({value})) > {MOST_HOURS} THEN {moved} ELSE {value} END"
        case "list":
            each = f"e{depth}"
            child = dict(kind.children)["child"]
            return f"list_transform({value}, lambda {each}: {_value(each, child, depth + 1)})"
        case "struct":
            fields = ", ".join(
                f"{quote_name(name)} := {_value(f'{value}.{quote_name(name)}', child, depth)}"
                for name, child in kind.children
            )
            return f"CASE WHEN {value} IS NULL THEN NULL ELSE struct_pack({fields}) END"
    return value
