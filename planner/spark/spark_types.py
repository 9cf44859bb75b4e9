"""Types of expressions on which two engines must agree, and the common types of several.

The rules are DuckDB's, for its answers are the ones to be had. Where Spark's rules would give
another type, and with it another value, there is no common type and the query is not Spark's.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.types import DataType, Kind


class NotOnSparkError(Exception):
    """Spark may answer a query otherwise than the embedded engine; the message has the reason."""


class ValueType(IntEnum):
    """Types as far as they decide what an operator does; integers ascend by width."""

    NULL = 0
    TINYINT = 1
    SMALLINT = 2
    INT = 3
    BIGINT = 4
    HUGEINT = 5
    DECIMAL = 6
    FLOAT = 7
    DOUBLE = 8
    BOOLEAN = 9
    TEXT = 10
    BINARY = 11
    DATE = 12
    TIMESTAMP = 13
    INTERVAL = 14
    KEY = 15  # of a number in an exact comparison; see `spark_exact`

    @property
    def is_integer(self) -> bool:
        """Whether it is one of whole numbers."""
        return ValueType.TINYINT <= self <= ValueType.HUGEINT

    @property
    def is_number(self) -> bool:
        """Whether one can calculate with it."""
        return ValueType.TINYINT <= self <= ValueType.DOUBLE

    @property
    def is_moment(self) -> bool:
        """Whether it is a day, or a time of a day."""
        return self in (ValueType.DATE, ValueType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression in Spark's SQL, and its type."""

    node: exp.Expr
    type: ValueType


_OF_COLUMNS: Mapping[Kind, ValueType] = {
    Kind.BOOL: ValueType.BOOLEAN,
    Kind.INT8: ValueType.TINYINT,
    Kind.INT16: ValueType.SMALLINT,
    Kind.INT32: ValueType.INT,
    Kind.INT64: ValueType.BIGINT,
    Kind.DATE: ValueType.DATE,
    Kind.UNIXTIME_MICROS: ValueType.TIMESTAMP,
    Kind.FLOAT: ValueType.FLOAT,
    Kind.DOUBLE: ValueType.DOUBLE,
    Kind.DECIMAL: ValueType.DECIMAL,
    Kind.VARCHAR: ValueType.TEXT,
    Kind.STRING: ValueType.TEXT,
    Kind.BINARY: ValueType.BINARY,
}
# HUGEINT has no counterpart; a decimal of 38 digits is as good but for numbers beyond 10**38.
_CASTS: Mapping[ValueType, str] = {
    ValueType.TINYINT: "TINYINT",
    ValueType.SMALLINT: "SMALLINT",
    ValueType.INT: "INT",
    ValueType.BIGINT: "BIGINT",
    ValueType.HUGEINT: "DECIMAL(38, 0)",
    ValueType.FLOAT: "FLOAT",
    ValueType.DOUBLE: "DOUBLE",
    ValueType.BOOLEAN: "BOOLEAN",
    ValueType.TEXT: "STRING",
    ValueType.DATE: "DATE",
    ValueType.TIMESTAMP: "TIMESTAMP_NTZ",
}
_LITERAL_LIMITS: Mapping[ValueType, int] = {ValueType.TINYINT: 1 << 7, ValueType.SMALLINT: 1 << 15}


def type_of_column(column_type: DataType) -> ValueType:
    """The type of a stored column."""
    return _OF_COLUMNS[column_type.kind]


def cast(node: exp.Expr, target: ValueType) -> exp.Expr:
    """An expression as another type, by Spark's own rules.

    Raises NotOnSparkError: nothing is cast to that type.
    """
    name = _CASTS.get(target)
    if name is None:
        raise NotOnSparkError(f"a cast to {target.name}")
    return exp.Cast(this=node, to=exp.DataType.build(name, dialect="spark"))


def common_type(types: Sequence[ValueType]) -> ValueType:
    """The type of values that become one column, or are compared or added.

    Raises NotOnSparkError: the engines would not make the same of them.
    """
    kinds = sorted({kind for kind in types if kind is not ValueType.NULL})
    if not kinds:
        return ValueType.NULL
    least, most = kinds[0], kinds[-1]
    if len(kinds) == 1 or (least.is_number and most.is_integer):
        return most
    if least.is_moment and most.is_moment:
        return ValueType.TIMESTAMP
    if least.is_number and most is ValueType.DOUBLE:
        return ValueType.DOUBLE
    decimal = most is ValueType.DECIMAL and ValueType.HUGEINT not in kinds
    if decimal and least.is_number:
        return ValueType.DECIMAL
    names = " and ".join(kind.name for kind in kinds)
    raise NotOnSparkError(f"{names} meet, whose common type is another one there")


def meeting(values: Sequence[Typed]) -> tuple[list[exp.Expr], ValueType]:
    """Values as they meet, and their common type.

    A whole number that is written out takes the type of the narrow columns it meets, where it fits.
    Raises NotOnSparkError: see `common_type`.
    """
    others = [value.type for value in values if not _is_whole_number(value)]
    widest = max((kind for kind in others if kind.is_integer), default=ValueType.NULL)
    limit = _LITERAL_LIMITS.get(widest)
    if limit is None or any(kind > ValueType.BIGINT for kind in others):
        return [value.node for value in values], common_type([value.type for value in values])
    fitted = [
        Typed(cast(value.node, widest), widest)
        if _is_whole_number(value) and int(value.node.this) < limit
        else value
        for value in values
    ]
    return [value.node for value in fitted], common_type([value.type for value in fitted])


def _is_whole_number(value: Typed) -> bool:
    return isinstance(value.node, exp.Literal) and value.type.is_integer
