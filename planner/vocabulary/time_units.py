"""Units of time: those of intervals, and the parts that may be asked of a time; closed lists.

The engine takes a word behind `INTERVAL '5'` that is no unit for a name of the column, and counts
seconds; so nothing that is not on these lists is printed for it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from pykudu_sql.storage.errors import InvalidValueError, SourcePosition

INTERVAL_UNITS = (
    "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER",
    "YEAR", "DECADE", "CENTURY", "MILLENNIUM",
)  # fmt: skip
_SHORT: Mapping[str, str] = MappingProxyType(
    {
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
)
_PLURALS: Mapping[str, str] = MappingProxyType(
    {
        **{f"{unit}S": f"{unit}S" for unit in INTERVAL_UNITS[:-2]},
        "CENTURIES": "CENTURIES",
        "MILLENNIA": "MILLENNIA",
        "MILLENIUM": "MILLENNIUM",
        "MILLENNIUMS": "MILLENNIA",
    }
)
# Every spelling of an interval's unit, and the engine's for it.
ENGINE_UNITS: Mapping[str, str] = MappingProxyType(
    {**{unit: unit for unit in INTERVAL_UNITS}, **_PLURALS, **_SHORT}
)

_OTHER_PARTS = (
    "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "DOW", "DOY", "EPOCH", "ERA", "ISODOW", "ISOYEAR",
    "JULIAN", "TIMEZONE", "TIMEZONE_HOUR", "TIMEZONE_MINUTE", "WEEKDAY",
    "WEEKOFYEAR", "YEARWEEK",
)  # fmt: skip
PARTS = (frozenset(ENGINE_UNITS) - {"Q", "QTR", "QTRS"}) | frozenset(_OTHER_PARTS)


def interval_unit(name: str, position: SourcePosition | None) -> str:
    """The engine's spelling of an interval's unit.

    Raises:
        InvalidValueError: there is no such unit.
    """
    unit = ENGINE_UNITS.get(name.upper())
    if unit is None:
        raise _no_unit(name, INTERVAL_UNITS, position)
    return unit


def check_part(name: str, position: SourcePosition | None) -> None:
    """Refuse what is no part of a time.

    Raises:
        InvalidValueError: there is no such part.
    """
    if name.upper() not in PARTS:
        raise _no_unit(name, (*INTERVAL_UNITS, *_OTHER_PARTS), position)


def _no_unit(
    name: str, units: tuple[str, ...], position: SourcePosition | None
) -> InvalidValueError:
    finer = name.upper().startswith(("NANOSECOND", "NANOSEC", "NSEC"))
    reason = "is finer than a time is stored" if finer else "is no unit of time"
    return InvalidValueError(
        f"'{name:.60}' {reason}",
        hint=f"there are {', '.join(unit.lower() for unit in units)}",
        position=position,
        sqlstate="22023",
    )
