"""SQLAlchemy's types to ours and back.

What SQLAlchemy can describe and a column cannot hold is stored as text that keeps its order or its
meaning: TIME in ISO 8601, JSON, and UUIDs as 32 hexadecimal digits.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql import compiler

LONGEST_VARCHAR = 65535
MOST_DIGITS = 38
_SINGLE_BITS = 24
_DEFAULT_SCALE = 10


class TINYINT(types.Integer):
    """An integer of 8 bits."""

    __visit_name__ = "TINYINT"


class TextTime(types.Time):
    """A time of day, which columns store as text: `12:30:00`, `12:30:00.500000`."""

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Times as text."""

        def process(value: Any) -> Any:
            return value.isoformat() if isinstance(value, dt.time) else value

        return process

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Times as literals."""
        return lambda value: f"'{value.isoformat()}'"

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Text as times; what the engine computed as a time is one already."""

        def process(value: Any) -> Any:
            return dt.time.fromisoformat(value) if isinstance(value, str) else value

        return process


class UtcDateTime(types.DateTime):
    """A timestamp, in UTC; one with `timezone=True` says so."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """Timestamps; with the zone UTC if the type has `timezone=True`."""
        if not self.timezone:
            return None

        def process(value: Any) -> Any:
            if isinstance(value, dt.datetime) and value.tzinfo is None:
                return value.replace(tzinfo=dt.UTC)
            return value

        return process


class EngineInterval(types.Interval):
    """A duration: in columns a TIMESTAMP, as long after 1970, in expressions an INTERVAL."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Timestamps as durations; what the engine computed as one is one already."""
        of_column = super().result_processor(dialect, coltype)

        def process(value: Any) -> Any:
            return of_column(value) if isinstance(value, dt.datetime) else value

        return process


class ComputedInterval(types.TypeEngine[dt.timedelta]):
    """A duration beside a date or time, as the engine takes it."""

    def literal_processor(self, dialect: Dialect) -> Callable[[dt.timedelta], str]:
        """Durations as literals."""
        return lambda value: f"INTERVAL {value // dt.timedelta(microseconds=1)} MICROSECONDS"


class ExactNumeric(types.Numeric[Any]):
    """A DECIMAL; what the engine computed as a double is turned into one where one is wanted."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Numbers as Decimal, or as float where the program says `asdecimal=False`."""
        if not self.asdecimal:
            return lambda value: float(value) if isinstance(value, Decimal) else value
        return lambda value: Decimal(repr(value)) if isinstance(value, float) else value


class JsonIndex(types.JSON.JSONIndexType):
    """A key or index of a JSON document, as a path."""

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Keys as paths."""
        return lambda value: json_path([value])

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Keys as literals of paths."""
        return lambda value: text_literal(json_path([value]))


class JsonPath(types.JSON.JSONPathType):
    """A path of keys and indexes in a JSON document."""

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Paths as text, the parameter of a JSON function."""
        return json_path

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Paths as SQL literals."""
        return lambda value: text_literal(json_path(value))


def json_path(steps: Sequence[str | int]) -> str:
    """A path of keys and indexes, as `$."a"[1]`."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f'."{step}"' for step in steps)


def text_literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


COLSPECS: dict[type[types.TypeEngine[Any]], type[types.TypeEngine[Any]]] = {
    types.Time: TextTime,
    types.DateTime: UtcDateTime,
    types.Interval: EngineInterval,
    types.Numeric: ExactNumeric,
    types.JSON.JSONIndexType: JsonIndex,
    types.JSON.JSONPathType: JsonPath,
}

_BY_NAME: dict[str, Callable[[], types.TypeEngine[Any]]] = {
    "BOOLEAN": types.BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": types.SMALLINT,
    "INT": types.INTEGER,
    "BIGINT": types.BIGINT,
    "FLOAT": types.REAL,
    "DOUBLE": types.DOUBLE,
    "DATE": types.DATE,
    "TIMESTAMP": types.TIMESTAMP,
    "STRING": types.TEXT,
    "BINARY": types.BINARY,
}


def reflected_type(text: str) -> types.TypeEngine[Any]:
    """SQLAlchemy's type of a column. `text`: ours, as `DECIMAL(9,2)`."""
    name, _, rest = text.partition("(")
    numbers = [int(part) for part in rest.rstrip(")").split(",") if part]
    if name == "DECIMAL":
        return types.DECIMAL[Any](precision=numbers[0], scale=numbers[1])
    if name == "VARCHAR":
        return types.VARCHAR(length=numbers[0])
    return _BY_NAME.get(name, types.NullType)()


_WORDS = {
    "STRING": ("TEXT", "CLOB", "NCLOB", "TIME", "JSON"),
    "BINARY": ("BLOB", "BINARY", "VARBINARY"),
    "TIMESTAMP": ("DATETIME", "TIMESTAMP"),
    "DOUBLE": ("DOUBLE", "DOUBLE_PRECISION"),
    "FLOAT": ("REAL",),
    "INT": ("INTEGER",),
    "TINYINT": ("TINYINT",),
}


class PykuduTypeCompiler(compiler.GenericTypeCompiler):
    """The type of a column or CAST in our words; those without parameters are in a table."""

    def visit_FLOAT(self, type_: types.Float[Any], **kw: Any) -> str:
        single = type_.precision is not None and type_.precision <= _SINGLE_BITS
        return "FLOAT" if single else "DOUBLE"

    def visit_NUMERIC(self, type_: types.Numeric[Any], **kw: Any) -> str:
        if type_.precision is None:
            scale = _DEFAULT_SCALE if type_.scale is None else type_.scale
            return f"DECIMAL({MOST_DIGITS}, {scale})"
        return f"DECIMAL({type_.precision}, {type_.scale or 0})"

    def visit_DECIMAL(self, type_: types.Numeric[Any], **kw: Any) -> str:
        return self.visit_NUMERIC(type_, **kw)

    def visit_VARCHAR(self, type_: types.String, **kw: Any) -> str:
        if type_.length is None or type_.length > LONGEST_VARCHAR:
            return "STRING"
        return f"VARCHAR({type_.length})"

    def visit_CHAR(self, type_: types.String, **kw: Any) -> str:
        return self.visit_VARCHAR(type_, **kw)

    def visit_uuid(self, type_: types.Uuid[Any], **kw: Any) -> str:
        return "VARCHAR(32)"

    def visit_UUID(self, type_: types.Uuid[Any], **kw: Any) -> str:
        return "VARCHAR(32)"

    def visit_NVARCHAR(self, type_: types.String, **kw: Any) -> str:
        return self.visit_VARCHAR(type_, **kw)

    def visit_NCHAR(self, type_: types.String, **kw: Any) -> str:
        return self.visit_VARCHAR(type_, **kw)


def _always(word: str) -> Callable[..., str]:
    return lambda compiler, type_, **kw: word


for _word, _names in _WORDS.items():
    for _name in _names:
        setattr(PykuduTypeCompiler, f"visit_{_name}", _always(_word))
