"""The values of a query's parameters, as the engine takes them."""

from itertools import zip_longest
from math import inf
from typing import Any

from pykudu_sql.engine.query_engine import QueryEngine, Relation
from pykudu_sql.executor.computed_types import ComputedTypes
from pykudu_sql.planner.functions.decimal_values import (
    FEWER_DIGITS,
    MAX_DIGITS,
    Digits,
    comparable,
    digits_of,
    unitable,
)
from pykudu_sql.planner.functions.utc_offsets import in_utc
from pykudu_sql.planner.operands.number_text import exact_number_text
from pykudu_sql.planner.operands.parameter_types import check_comparable, parameter_name
from pykudu_sql.planner.operands.value import (
    ComputedNumbers,
    Parameter,
    ParameterKey,
    ParameterValues,
    United,
    bind_value,
    parameter_value,
)
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DataError,
    InvalidValueError,
    ProgrammingError,
    ValueOutOfRangeError,
)

_HUGE = 1 << 127
_DOUBLES = frozenset({"DOUBLE", "FLOAT"})  # beside which decimals are doubles too
_BEYOND_DOUBLES = 10**308


def parameter_values(query: Query, parameters: ParameterValues) -> list[Any]:
    """The values of a query's `$1`, `$2`, ...

    Raises InterfaceError: one was not given, or is no value of SQL; UnicodeEncodeError: a text has
    half of a surrogate pair; ValueOutOfRangeError: a number becomes one value with others that
    would round it, or it them.
    """
    values: list[Any] = []
    numeric = _beside_exact_numbers(query)
    for key, compared_type in zip_longest(query.parameters, query.compared_types):
        parameter = parameter_value(parameters, key)
        if isinstance(compared_type, DataType) and isinstance(parameter, str) and key in numeric:
            written = exact_number_text(parameter)
            parameter = parameter if written is None else written
        value = (
            _compared(parameter, compared_type, key)
            if isinstance(compared_type, DataType)
            else _scalar(parameter, key)
        )
        is_text = isinstance(value, str) and key in query.timestamp_parameters
        values.append(in_utc(value) if is_text else value)
    for united in {each for each in query.compared_types if isinstance(each, United)}:
        positions = [
            place
            for place, compared_type in enumerate(query.compared_types)
            if compared_type == united
        ]
        together = unitable(
            [values[place] for place in positions], Digits(united.whole, united.scale)
        )
        for place, value in zip(positions, together, strict=True):
            values[place] = value
    return values


def check_parameter_values(
    query: Query,
    parameters: ParameterValues,
    engine: QueryEngine[Relation],
    types: ComputedTypes,
) -> None:
    """Refuse values that the columns beside them cannot hold, even if there are no rows.

    Args:
        query: that has the parameters.
        parameters: of the caller.
        engine: that says whether a text can be read as another type.
        types: of what is computed from parameters.

    Raises InterfaceError: one was not given, is no value of SQL, or is of no type to be compared
    with a column; InvalidValueError: it is a text that the column's type cannot be read from;
    ValueOutOfRangeError: one of a number that the type cannot be compared with, or a number
    computed from parameters would be rounded beside decimals; DataError: a value does not fit the
    column that it is assigned to.
    """
    for assigned in query.assigned:
        bind_value(assigned, parameters)
    for beside in query.compared:
        value = parameter_value(parameters, beside.key, beside.column)
        check_comparable(value, beside.type, beside.key, beside.column)
        if isinstance(value, str) and not beside.type.is_text:
            _check_text(value, beside, engine)
    for computed in query.computed:
        _check_computed(computed, parameters, types)


def _beside_exact_numbers(query: Query) -> set[ParameterKey]:
    """The parameters that are compared with exact numbers only, where a text is a number."""
    others = {each.key for each in query.compared if digits_of(each.type) is None}
    return {each.key for each in query.compared} - others


def _check_computed(
    computed: ComputedNumbers, parameters: ParameterValues, types: ComputedTypes
) -> None:
    values = [_scalar(parameter_value(parameters, key), key) for key in computed.keys]
    try:
        names = types.names(computed, values)
    except (DataError, ProgrammingError):
        return  # The query itself raises it, with its place.
    decimals = [parse_type(name) for name in names if name.startswith("DECIMAL(")]
    others = [digits for each in decimals if (digits := digits_of(each)) is not None]
    together = Digits(
        max([computed.whole, *(each.whole for each in others)]),
        max([computed.scale, *(each.scale for each in others)]),
    )
    if _DOUBLES.isdisjoint(names) and not together.fits_beside(together):
        raise ValueOutOfRangeError(
            f"{' and '.join(map(str, decimals))}, computed from parameters, and "
            f"DECIMAL({computed.whole + computed.scale},{computed.scale}) have no type of "
            f"{MAX_DIGITS} digits in common",
            hint=FEWER_DIGITS,
        )


def _check_text(value: str, beside: Parameter, engine: QueryEngine[Relation]) -> None:
    hint = None
    try:
        to_cell(value, beside.type)
        if value == value.strip():
            return
    except ValueOutOfRangeError:
        if exact_number_text(value) is not None:
            return  # A number all the same, less or more than any of the column.
    except InvalidValueError as error:
        if error.sqlstate != InvalidValueError.default_sqlstate:
            raise
        hint = error.hint
    text = in_utc(value) if beside.type.kind is Kind.UNIXTIME_MICROS else value
    try:
        engine.execute(f"SELECT CAST($1 AS {beside.type})", {}, [text])
    except DataError as error:
        place = f"column '{beside.column}'" if beside.column else f"a value of type {beside.type}"
        is_beyond = isinstance(error, ValueOutOfRangeError)
        raise (ValueOutOfRangeError if is_beyond else InvalidValueError)(
            f"{parameter_name(beside.key)}, compared with {place}: "
            f"cannot read {value!r:.80} as {beside.type}",
            hint=hint,
            sqlstate=error.sqlstate if is_beyond else None,
        ) from None


def _compared(value: Any, compared_type: DataType, key: ParameterKey) -> Any:
    """A value for the engine to compare with a number; an integer beyond its own is a double."""
    compared = comparable(value, compared_type)
    if isinstance(compared, int) and not -_HUGE <= compared < _HUGE:
        return float(compared) if abs(compared) < _BEYOND_DOUBLES else inf if compared > 0 else -inf
    return _scalar(compared, key)


def _scalar(value: Any, key: ParameterKey) -> Any:
    """A value for the engine, which would wrap around an integer beyond its own."""
    if isinstance(value, int) and not -_HUGE <= value < _HUGE:
        raise ValueOutOfRangeError(
            f"{parameter_name(key)} does not fit into an integer of 128 bits",
            hint="pass a float, or str(value)",
        )
    if isinstance(value, str) and not value.isascii():
        value.encode()  # A surrogate alone is no text; see `parameter_values`.
    return value
