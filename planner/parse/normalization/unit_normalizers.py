"""Units of intervals and parts of times, each a word of the closed lists of `time_units`."""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.parse.normalization.normalizer import Normalizers, SpanOf
from pykudu_sql.planner.vocabulary.interval_text import interval_text
from pykudu_sql.planner.vocabulary.time_units import PARTS, check_part, interval_unit
from pykudu_sql.storage.errors import InvalidValueError, NotSupportedError

Kinds = Sequence[type[exp.Expr]]
# What has in its argument `unit` a unit of intervals, and what a part of a time.
OF_UNITS: Kinds = (
    exp.Interval, exp.DateAdd, exp.DateSub, exp.DatetimeAdd, exp.DatetimeSub, exp.TimeAdd,
    exp.TimeSub, exp.TimestampAdd, exp.TimestampSub, exp.TsOrDsAdd,
)  # fmt: skip
OF_PARTS: Kinds = (
    exp.DateDiff, exp.DatetimeDiff, exp.TimeDiff, exp.TimestampDiff, exp.TsOrDsDiff, exp.DateTrunc,
    exp.DatetimeTrunc, exp.TimestampTrunc, exp.TimeTrunc, exp.LastDay,
)  # fmt: skip


def _interval_unit(node: exp.Expr, span_of: SpanOf) -> None:
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var) and isinstance(node, exp.Interval) and node.this is None:
        raise NotSupportedError(
            "the type INTERVAL of one unit is not supported",
            hint="write x::INTERVAL, and date_trunc() for times",
            span=span_of(unit.name),
        )
    if isinstance(unit, exp.IntervalSpan):
        raise NotSupportedError(
            "an interval from one unit to another is not supported",
            hint="write INTERVAL '1 day 2 hours'",
            span=span_of("TO"),
        )
    if isinstance(unit, exp.Var):
        unit.set("this", interval_unit(unit.name, span_of(unit.name)))
        count = node.this
        if isinstance(node, exp.Interval) and isinstance(count, exp.Literal) and "." in count.name:
            # The engine cuts the fraction of a number that stands apart from its unit.
            node.set("this", exp.Literal.string(f"{count.name} {unit.name.lower()}"))
            node.set("unit", None)
    elif unit is not None:
        raise _no_word("unit of time", span_of)


def _cast(node: exp.Expr, span_of: SpanOf) -> None:
    text = node.this
    is_text = isinstance(text, exp.Literal) and text.is_string
    if is_text and node.args["to"].this is exp.DType.INTERVAL:
        node.set("this", exp.Literal.string(interval_text(text.name, span_of(text.name))))


def _part(node: exp.Expr, span_of: SpanOf) -> None:
    key = "this" if isinstance(node, exp.Extract) else "unit"
    part = node.args.get(key)
    if isinstance(part, exp.Var) or (isinstance(part, exp.Literal) and part.is_string):
        try:
            check_part(part.name, span_of(part.name))
        except InvalidValueError as error:
            if others := _parts_elsewhere(node):
                error.hint = f"the unit is the first argument: ('{others[0]}', ..)"
            raise
    elif part is not None and isinstance(node, exp.Extract):
        raise _no_word("part of a time", span_of)
    elif isinstance(node, exp.TimestampDiff) and not isinstance(part, exp.Column | None):
        # Its unit is printed as a text, which an expression is none of.
        raise InvalidValueError(
            "argument 3 of timestamp_diff() is no unit of time",
            hint="it must be a word, such as day or month",
            span=span_of("timestamp_diff"),
            sqlstate="22023",
        )


def _parts_elsewhere(node: exp.Expr) -> Sequence[str]:
    """Texts that are parts of times, where a call has its times."""
    if isinstance(node, exp.Extract):
        return []
    times = [each for key in ("this", "expression") if (each := node.args.get(key)) is not None]
    plain = [each.this if isinstance(each, exp.Cast) else each for each in times]
    texts = [each.name for each in plain if isinstance(each, exp.Literal) and each.is_string]
    return [text for text in texts if text.upper() in PARTS]


def _no_word(what: str, span_of: SpanOf) -> NotSupportedError:
    return NotSupportedError(
        f"a {what} must be a word", hint="such as day or month", span=span_of("(")
    )


def _bucket_origin(node: exp.Expr, _place: SpanOf) -> None:
    """The third argument of time_bucket() is a time; a literal one arrives as a unit."""
    origin = node.args.get("unit")
    if isinstance(origin, exp.Var):
        node.set("unit", exp.cast(exp.Literal.string(origin.name), exp.DType.TIMESTAMP))


UNIT_NORMALIZERS: Normalizers = {
    exp.Cast: _cast,
    exp.DateBin: _bucket_origin,
    **dict.fromkeys(OF_UNITS, _interval_unit),
    **dict.fromkeys((exp.Extract, *OF_PARTS), _part),
}
