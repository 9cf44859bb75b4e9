"""`column op constant` as a storage predicate, exactly or a little wider, never narrower.

The engine compares by casting both sides to a common type; a tablet compares stored cells. The
crossing is made here, once, for literals and parameters alike: a constant is turned into the
column's stored unit as an exact fraction, and the fraction into the integer bounds that select the
same rows (`int_column < 5.5` is `<= 5`; `tiny_column < 1000` is `IS NOT NULL`). Where the engine's
rule is not reproduced bit by bit (FLOAT columns, long decimals beside DOUBLE, DECIMAL against
binary fractions, text against numbers), the result is wider, or `ALWAYS`. A scan may return too
much, since the residual query filters again; it may never return too little.

Whether it is wider is decided here too, beside each predicate, and nowhere else: who leaves the
residual query out asks `Approximation.is_exact`.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pykudu_sql.planner.operands.number_text import exact_number_text
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Like,
    Op,
    Or,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.predicate.text_pattern import is_for_engine, prefix_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import EPOCH, EPOCH_DAY, Cell, DataType, Kind

# Of integers and powers of ten that are doubles.
_DIGITS_OF_A_DOUBLE = 15
_POWERS_OF_TEN = 22
INTEGER_RANGES: Mapping[Kind, tuple[int, int]] = {
    kind: limits
    for kind in (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64)
    if (limits := DataType(kind).integer_range) is not None
}
DAY_MICROS = 86_400_000_000
_ENGINE_BITS = 127  # of its widest integer, the sign aside
_EXACT_DOUBLE = 1 << 53
_DIGITS = 80  # more than any column has, before and behind the point
DATE_TEXT = re.compile(r"\d{4}-\d\d-\d\d")
TIMESTAMP_TEXT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_MIRROR = {Op.EQ: Op.EQ, Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


class EngineRequiredError(Exception):
    """Only the engine can tell what a statement about one row means for its parameters and row."""


class Approximation(NamedTuple):
    """What a condition says of the stored cells.

    Attributes:
        predicate: holds for every row that the condition is true for.
        is_exact: whether the condition is true, and no error, for every row that it holds for.
    """

    predicate: Predicate
    is_exact: bool


NO_ROW = Approximation(NEVER, True)
ANY_ROW = Approximation(ALWAYS, False)


def mirrored(op: Op) -> Op:
    """The operator of `b op a` for `a op b`."""
    return _MIRROR[op]


def compare(column: ColumnSchema, op: Op, value: object) -> Approximation:
    """The condition `column op value`.

    Args:
        column: a column of the scan's table.
        op: the comparison.
        value: a Python value as a literal or a parameter gives it; None is NULL.

    Returns:
        A predicate that holds for at least the rows the engine keeps: `NEVER` when there are
        none, `ALWAYS` when nothing can be said.
    """
    if value is None:
        return NO_ROW
    kind = column.type.kind
    if column.type.integer_range is not None:
        exact = stored_fraction(column.type, value)
        if exact is None:
            return Approximation(_near_decimal(column, op, value), False)
        return Approximation(compare_exact(column, op, exact), is_of_the_engine(value))
    if kind is Kind.DOUBLE:
        return Approximation(_compare_double(column, op, value), _is_a_double(value))
    if kind is Kind.FLOAT:
        return Approximation(_compare_float(column, op, value), False)
    cell = _plain_cell(kind, value)
    return ANY_ROW if cell is None else Approximation(Comparison(column.id, op, cell), True)


def compare_near(column: ColumnSchema, op: Op, value: object) -> Predicate:
    """What holds wherever the condition `column op value` does, of a value of a hidden type.

    The engine may have it as a number of 32 bits, to which it rounds the column, or as a time with
    parts of a microsecond; of texts there are types that equal other texts, such as numbers of any
    length.
    """
    data_type, value = column.type, _as_double(value)
    if data_type.is_floating:
        return compare(column, op, value).predicate
    if isinstance(value, dt.datetime):
        moment = stored_fraction(data_type, value)
        return ALWAYS if moment is None else _compare_within(column, op, moment, Fraction(1))
    is_number = data_type.is_integer or data_type.kind is Kind.DECIMAL
    if not isinstance(value, float) or not is_number or not math.isfinite(value):
        return ALWAYS
    middle = Fraction(value) * 10**data_type.scale
    return _compare_within(column, op, middle, abs(middle) / (1 << 22) + 1)


def among(column: ColumnSchema, values: Iterable[object]) -> Approximation:
    """The condition `column IN (values)`."""
    return any_approximation([compare(column, Op.EQ, value) for value in values])


def among_near(column: ColumnSchema, values: Iterable[object]) -> Predicate:
    """What holds wherever `column IN (values)` does, if the engine makes one type of the values
    that holds some of them, and the column's, less exactly."""
    return disjunction([compare_near(column, Op.EQ, value) for value in values])


def _as_double(value: object) -> object:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return _double(value) if is_number else value


def all_approximations(parts: Sequence[Approximation]) -> Approximation:
    """The condition that all of some are true."""
    predicate = conjunction([part.predicate for part in parts])
    return Approximation(predicate, all(part.is_exact for part in parts))


def any_approximation(parts: Sequence[Approximation]) -> Approximation:
    """The condition that one of some is true."""
    predicate = disjunction([part.predicate for part in parts])
    return Approximation(predicate, all(part.is_exact for part in parts))


def null_test(column: ColumnSchema, is_null: bool) -> Predicate:
    """The predicate `column IS [NOT] NULL`; constant for NOT NULL columns."""
    if column.may_show_null:
        return IsNull(column.id) if is_null else IsNotNull(column.id)
    return NEVER if is_null else ALWAYS


def starts_with(column: ColumnSchema, prefix: str) -> Predicate:
    """The predicate `column LIKE 'prefix%'`."""
    if not column.type.is_text or not prefix:
        return ALWAYS
    return StartsWith(column.id, prefix)


def like(column: ColumnSchema, pattern: str) -> Approximation:
    """The condition `column LIKE pattern`, without ESCAPE."""
    if not column.type.is_text:
        return ANY_ROW
    if pattern and not pattern.strip("%"):
        return Approximation(null_test(column, False), True)
    prefix = prefix_of(pattern)
    if prefix == pattern:
        return compare(column, Op.EQ, pattern)
    begins = starts_with(column, prefix)
    if pattern == f"{prefix}%" and prefix:
        return Approximation(begins, True)
    if is_for_engine(pattern):
        return Approximation(begins, False)
    return Approximation(conjunction((begins, Like(column.id, pattern))), True)


def conjunction(parts: Iterable[Predicate]) -> Predicate:
    """All of the parts; flat, without those that are always true."""
    flat: list[Predicate] = []
    for part in parts:
        if part == NEVER:
            return NEVER
        inner = part.parts if isinstance(part, And) else (part,)
        flat.extend(p for p in inner if p not in flat)
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def disjunction(parts: Iterable[Predicate]) -> Predicate:
    """Any of the parts; flat, equalities of one column gathered into one IN list."""
    flat: list[Predicate] = []
    equal: dict[int, dict[Cell, None]] = {}
    for part in parts:
        if part == ALWAYS:
            return ALWAYS
        for inner in part.parts if isinstance(part, Or) else (part,):
            match inner:
                case Comparison(column_id, Op.EQ, cell):
                    equal.setdefault(column_id, {})[cell] = None
                case InList(column_id, cells):
                    equal.setdefault(column_id, {}).update(dict.fromkeys(cells))
                case _:
                    flat.append(inner)
    for column_id, cells_of in equal.items():
        flat.append(_in_list(column_id, tuple(cells_of)))
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def _in_list(column_id: int, cells: Sequence[Cell]) -> Predicate:
    if len(cells) == 1:
        return Comparison(column_id, Op.EQ, cells[0])
    return InList(column_id, tuple(cells))


def exact_cell(column_type: DataType, value: object) -> Cell:
    """The one cell that equals a value; None when no cell of the type does.

    Unlike `to_cell` nothing is cut or rounded: `'abcd'` equals no VARCHAR(3) and 1.005 no
    DECIMAL(9,2). Raises EngineRequiredError: the value may equal several cells, or none may be
    compared with it.
    """
    if type(value) is int:
        limits = INTEGER_RANGES.get(column_type.kind)
        if limits is not None and limits[0] <= value <= limits[1]:
            return value
    elif type(value) is str and column_type.kind is Kind.STRING:
        return value
    equal, is_exact = compare(ColumnSchema(0, "", column_type, nullable=False), Op.EQ, value)
    if not is_exact:
        raise EngineRequiredError
    if not isinstance(equal, Comparison):
        return None
    too_long = isinstance(equal.value, str) and 0 < column_type.length < len(equal.value)
    return None if too_long else equal.value


def is_of_the_engine(value: object) -> bool:
    """Whether a number is one that the engine takes: its integers have 128 bits."""
    return type(value) is not int or value.bit_length() <= _ENGINE_BITS


def stored_fraction(column_type: DataType, value: object) -> Fraction | None:
    """A value in the unit of an integer-stored type; None if it cannot be said exactly."""
    if isinstance(value, bool | np.bool_):
        return None
    kind = column_type.kind
    if kind is Kind.DATE or kind is Kind.UNIXTIME_MICROS:
        micros = _micros(kind, value)
        if micros is None:
            return None
        return Fraction(micros, DAY_MICROS) if kind is Kind.DATE else Fraction(micros)
    if isinstance(value, str):
        written = exact_number_text(value)
        number = None if written is None else Fraction(written)
    elif isinstance(value, int | np.integer):
        number = Fraction(int(value))
    elif isinstance(value, Decimal):
        number = Fraction(value) if _is_moderate(value) else None
    elif isinstance(value, float | np.floating) and kind is not Kind.DECIMAL:
        double = float(value)
        exact = math.isfinite(double) and abs(double) < _EXACT_DOUBLE
        number = Fraction(double) if exact else None
    else:
        number = None
    return None if number is None else number * 10**column_type.scale


def _is_moderate(value: Decimal) -> bool:
    """Whether a decimal is a number whose fraction is small: 1E-99999999 has a huge one."""
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent > -_DIGITS and value.adjusted() < _DIGITS


def _micros(kind: Kind, value: object) -> int | None:
    """Microseconds since the epoch of a date, a timestamp without zone, or their ISO text."""
    try:
        if isinstance(value, str):
            # The engine reads blanks around a date alone.
            text = value.strip() if kind is Kind.DATE else value
            pattern = DATE_TEXT if kind is Kind.DATE else TIMESTAMP_TEXT
            if not pattern.fullmatch(text):
                return None
            value = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            return None
        return (value - EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value.toordinal() - EPOCH_DAY) * DAY_MICROS
    return None


def compare_exact(column: ColumnSchema, op: Op, value: Fraction) -> Predicate:
    """Bounds in whole stored units, folded where the type's range decides."""
    low, high = column.type.integer_range or (0, 0)
    if op is Op.EQ:
        fits = value.denominator == 1 and low <= value <= high
        return Comparison(column.id, Op.EQ, int(value)) if fits else NEVER
    if op is Op.LT or op is Op.LE:
        strict = op is Op.LT and value.denominator == 1
        top = math.floor(value) - strict
        if top < low:
            return NEVER
        return null_test(column, False) if top >= high else Comparison(column.id, Op.LE, top)
    strict = op is Op.GT and value.denominator == 1
    bottom = math.ceil(value) + strict
    if bottom > high:
        return NEVER
    return null_test(column, False) if bottom <= low else Comparison(column.id, Op.GE, bottom)


def _near_decimal(column: ColumnSchema, op: Op, value: object) -> Predicate:
    """DECIMAL against a binary fraction: the engine compares doubles, so keep the neighbours."""
    if column.type.kind is not Kind.DECIMAL or not isinstance(value, float | np.floating):
        return ALWAYS
    if not math.isfinite(value):
        return ALWAYS
    middle = Fraction(float(value)) * 10**column.type.scale
    return _compare_within(column, op, middle, abs(middle) / (1 << 50) + 1)


def _compare_within(column: ColumnSchema, op: Op, middle: Fraction, margin: Fraction) -> Predicate:
    """What holds wherever `column op value` does for a value that is off by `margin` at most."""
    upper = compare_exact(column, Op.LE, middle + margin)
    lower = compare_exact(column, Op.GE, middle - margin)
    if op is Op.EQ:
        return conjunction((lower, upper))
    return upper if op in (Op.LT, Op.LE) else lower


def _compare_double(column: ColumnSchema, op: Op, value: object) -> Predicate:
    number = _double(value)
    return ALWAYS if number is None else Comparison(column.id, op, number)


def _is_a_double(value: object) -> bool:
    """Whether the engine compares a DOUBLE with the very number that Python makes of a value.

    It divides the digits of a decimal by a power of ten, which is exact where both are doubles.
    """
    if isinstance(value, float):
        return True
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        return len(digits) <= _DIGITS_OF_A_DOUBLE and -_POWERS_OF_TEN <= int(exponent) <= 0
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return abs(value) <= _EXACT_DOUBLE


def _compare_float(column: ColumnSchema, op: Op, value: object) -> Predicate:
    """FLOAT: the engine may compare in single or double precision, so keep the neighbours."""
    number = _double(value)
    if number is None or not math.isfinite(number) or abs(number) > 3e38:
        return ALWAYS
    single = np.float32(number)
    upper = Comparison(column.id, Op.LE, float(np.nextafter(single, np.float32(np.inf))))
    lower = Comparison(column.id, Op.GE, float(np.nextafter(single, np.float32(-np.inf))))
    if op is Op.EQ:
        return And((lower, upper))
    return upper if op in (Op.LT, Op.LE) else lower


def _double(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | np.number):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _plain_cell(kind: Kind, value: object) -> Cell:
    """A value of a kind whose cells are the Python values themselves; None if it is another's."""
    if kind is Kind.BOOL:
        return bool(value) if isinstance(value, bool | np.bool_) else None
    if kind is Kind.BINARY:
        return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None
    if not isinstance(value, str):
        return None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return value
