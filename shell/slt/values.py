"""Results as sqllogictest writes them, compares them and hashes them."""

import decimal
import hashlib
import re
from collections.abc import Iterable, Sequence

from pykudu_sql.shell.output.values import to_text
from pykudu_sql.shell.slt.records import Digest, Sort

_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_THOUSANDTH = decimal.Decimal("0.001")
_EXACT = decimal.Context(prec=400)  # a double has up to 309 digits before the point

Rows = tuple[tuple[str, ...], ...]


def format_rows(rows: Iterable[Sequence[object]], types: str) -> Rows:
    """Every value as text by its column's letter."""
    return tuple(
        tuple(format_value(v, kind) for v, kind in zip(row, types, strict=True)) for row in rows
    )


def format_value(value: object, kind: str) -> str:
    """One value as sqllogictest writes it.

    NULL is `NULL`. I is an integer, cut towards zero; R has three decimals; both read a text up to
    where it stops being a number, so one without digits is 0. T is the text as it is, the empty
    string `(empty)`, a character that cannot be printed `@`.
    """
    if value is None:
        return "NULL"
    if kind == "T":
        text = to_text(value)
        if not text:
            return "(empty)"
        return text if text.isprintable() else "".join(c if c.isprintable() else "@" for c in text)
    number = _number(value)
    if not number.is_finite():
        return str(number)
    return str(int(number)) if kind == "I" else _three_decimals(number)


def _number(value: object) -> decimal.Decimal:
    """The number a value is or begins with; 0 when it does not begin with one."""
    if isinstance(value, decimal.Decimal):
        return value
    if isinstance(value, float):
        # 16 significant digits, as SQLite prints and as the corpus was written.
        return decimal.Decimal(f"{value:.15e}")
    if isinstance(value, int):
        return decimal.Decimal(value)
    match = _NUMBER.match(to_text(value))
    return decimal.Decimal(match[1]) if match else decimal.Decimal(0)


def _three_decimals(number: decimal.Decimal) -> str:
    rounded = number.quantize(_THOUSANDTH, decimal.ROUND_HALF_UP, _EXACT)
    return format(rounded if rounded else abs(rounded), "f")


def order(rows: Rows, sort: Sort) -> Rows:
    """Rows in the order in which they are compared; by text, as sqllogictest sorts."""
    match sort:
        case Sort.NOSORT:
            return rows
        case Sort.ROWSORT:
            return tuple(sorted(rows))
        case Sort.VALUESORT:
            values = sorted(value for row in rows for value in row)
            columns = len(rows[0]) if rows else 1
            return tuple(tuple(values[i : i + columns]) for i in range(0, len(values), columns))


def digest(rows: Rows) -> Digest:
    """The number of values and the MD5 of all of them, each followed by a line end."""
    values = [value for row in rows for value in row]
    text = "".join(f"{value}\n" for value in values)
    return Digest(len(values), hashlib.md5(text.encode(), usedforsecurity=False).hexdigest())
