"""Casts for Spark: those that lose nothing, or lose the same on both engines.

Not among them: text to numbers, where Spark does not round; DOUBLE to whole numbers, where Spark
cuts and DuckDB rounds; DOUBLE and DECIMAL to text, which the engines write in other ways.
"""

import re
from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType, cast

_FORMS: Mapping[ValueType, re.Pattern[str]] = {
    ValueType.DATE: re.compile(r"\d{4}-\d{2}-\d{2}"),
    ValueType.TIMESTAMP: re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2}(\.\d{1,6})?)?"),
}
_TARGETS: Mapping[exp.DType, ValueType] = {
    exp.DType.BOOLEAN: ValueType.BOOLEAN,
    exp.DType.TINYINT: ValueType.TINYINT,
    exp.DType.SMALLINT: ValueType.SMALLINT,
    exp.DType.INT: ValueType.INT,
    exp.DType.BIGINT: ValueType.BIGINT,
    exp.DType.INT128: ValueType.HUGEINT,
    exp.DType.DECIMAL: ValueType.DECIMAL,
    exp.DType.FLOAT: ValueType.FLOAT,
    exp.DType.DOUBLE: ValueType.DOUBLE,
    exp.DType.TEXT: ValueType.TEXT,
    exp.DType.VARCHAR: ValueType.TEXT,
    exp.DType.NVARCHAR: ValueType.TEXT,
    exp.DType.DATE: ValueType.DATE,
    exp.DType.TIMESTAMP: ValueType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: ValueType.TIMESTAMP,
    exp.DType.VARBINARY: ValueType.BINARY,
}


def translate_cast(value: Typed, to: exp.DataType) -> Typed:
    """A cast in Spark's SQL.

    `value`: what is cast; `to`: the type as the statement names it. Raises NotOnSparkError: the
    engines cast in different ways.
    """
    target = _TARGETS.get(to.this)
    if target is None or (to.expressions and target is not ValueType.DECIMAL):
        raise NotOnSparkError(f"a cast to {to.sql('duckdb')}")
    if target is ValueType.DECIMAL:
        return _to_decimal(value, to)
    if value.type is target:
        return Typed(value.node, target)
    if value.type is ValueType.DECIMAL and target.is_integer:
        rounded = exp.Anonymous(this="ROUND", expressions=[value.node, exp.Literal.number(0)])
        return Typed(cast(rounded, target), target)
    if value.type is ValueType.TEXT and target.is_moment:
        return read_moment(value.node, target)
    if not _agrees(value.type, target):
        raise NotOnSparkError(f"a cast from {value.type.name} to {target.name}")
    return Typed(cast(value.node, target), target)


def _to_decimal(value: Typed, to: exp.DataType) -> Typed:
    is_exact = value.type.is_integer or value.type in (ValueType.DECIMAL, ValueType.NULL)
    if not is_exact or len(to.expressions) != 2:
        raise NotOnSparkError(f"a cast from {value.type.name} to DECIMAL")
    return Typed(exp.Cast(this=value.node, to=to.copy()), ValueType.DECIMAL)


def read_moment(node: exp.Expr, target: ValueType) -> Typed:
    """Text as a day or a time.

    Raises NotOnSparkError: it is not written out in the form that both engines read.
    """
    if not isinstance(node, exp.Literal) or not _FORMS[target].fullmatch(node.name):
        raise NotOnSparkError(f"text as {target.name} that is no plain literal of one")
    return Typed(cast(node, target), target)


def _agrees(source: ValueType, target: ValueType) -> bool:
    """Whether both engines make the same of a value."""
    if source is ValueType.NULL:
        return target is not ValueType.BINARY
    if source.is_moment:
        return target.is_moment
    if source.is_integer:
        return target.is_number or target in (ValueType.TEXT, ValueType.BOOLEAN)
    if source is ValueType.BOOLEAN:
        return target.is_integer
    return source in (ValueType.DECIMAL, ValueType.FLOAT) and target is ValueType.DOUBLE
