"""Units of time: those of intervals, and the parts that a time has; closed lists.

The engine takes a word behind `INTERVAL '5'` that is no unit for a name of the column, and counts
seconds; so nothing that is not on these lists is printed for it.
"""

from collections.abc import Mapping

from pykudu_sql.storage.errors import InvalidValueError, SourceSpan

INTERVAL_UNITS = (
    "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER",
    "YEAR", "DECADE", "CENTURY", "MILLENNIUM",
)  # fmt: skip
_SHORT: Mapping[str, str] = {
    short: unit
    for unit, names in {
        "MICROSECOND": "US USEC USECS USECOND USECONDS",
        "MILLISECOND": "MS MSEC MSECS MSECOND MSECONDS",
        "SECOND": "S SEC SECS",
        "MINUTE": "M MIN MINS",
        "HOUR": "H HR HRS",
        "DAY": "D",
        "WEEK": "W",
        "MONTH": "MON MONS",
        "QUARTER": "Q QTR QTRS",
        "YEAR": "Y YR YRS",
        "DECADE": "DEC DECS",
        "CENTURY": "C CENT",
        "MILLENNIUM": "MIL MILS",
    }.items()
    for short in names.split()
}
_PLURALS: Mapping[str, str] = {
    **{f"{unit}S": f"{unit}S" for unit in INTERVAL_UNITS[:-2]},
    "CENTURIES": "CENTURIES",
    "MILLENNIA": "MILLENNIA",
    "MILLENIUM": "MILLENNIUM",
    "MILLENNIUMS": "MILLENNIA",
}
# Every spelling of an interval's unit, and the engine's for it.
ENGINE_UNITS: Mapping[str, str] = {**{unit: unit for unit in INTERVAL_UNITS}, **_PLURALS, **_SHORT}

_OTHER_PARTS = (
    "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "DOW", "DOY", "EPOCH", "ERA", "ISODOW", "ISOYEAR",
    "JULIAN", "TIMEZONE", "TIMEZONE_HOUR", "TIMEZONE_MINUTE", "WEEKDAY",
    "WEEKOFYEAR", "YEARWEEK",
)  # fmt: skip
PARTS = (frozenset(ENGINE_UNITS) - {"Q", "QTR", "QTRS"}) | frozenset(_OTHER_PARTS)


def interval_unit(name: str, span: SourceSpan | None) -> str:
    """The engine's spelling of an interval's unit.

    Raises InvalidValueError: there is no such unit.
    """
    unit = ENGINE_UNITS.get(name.upper())
    if unit is None:
        raise _no_unit(name, INTERVAL_UNITS, span)
    return unit


def check_part(name: str, span: SourceSpan | None) -> None:
    """Refuse what is no part of a time. Raises InvalidValueError: there is no such part."""
    if name.upper() not in PARTS:
        raise _no_unit(name, (*INTERVAL_UNITS, *_OTHER_PARTS), span)


def _no_unit(name: str, units: tuple[str, ...], span: SourceSpan | None) -> InvalidValueError:
    finer = name.upper().startswith(("NANOSECOND", "NANOSEC", "NSEC"))
    reason = "is finer than a time is stored" if finer else "is no unit of time"
    return InvalidValueError(
        f"'{name:.60}' {reason}",
        hint=f"there are {', '.join(unit.lower() for unit in units)}",
        span=span,
        sqlstate="22023",
    )
