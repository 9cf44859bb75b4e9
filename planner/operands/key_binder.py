"""Keys of a prepared statement, bound in one step where their values are plain.

`bind_key` says what a value is for its column. Nearly every look-up gives Python integers and
texts for columns of them: what these have to satisfy is known when the statement is prepared.
"""

from collections.abc import Callable, Sequence

from pykudu_sql.planner.operands.comparison import INTEGER_RANGES
from pykudu_sql.planner.operands.value import Parameter, ParameterValues, Value, bind_key
from pykudu_sql.storage.common.types.types import Cell, Kind

Key = tuple[Cell, ...] | None
BindKey = Callable[[ParameterValues], Key]


def key_binder(key: Sequence[Value]) -> BindKey:
    """What binds a key as `bind_key` does, and raises what that raises.

    Its parameters are a sequence that has a value for every `?` of the key, or a mapping.
    """
    match key:
        case (Parameter(int(index)) as value,) if value.type.kind in INTEGER_RANGES:
            return _integer_binder(key, index, *INTEGER_RANGES[value.type.kind])
        case (Parameter(int(index)) as value,) if value.type.kind is Kind.STRING:
            return _text_binder(key, index)
    return lambda parameters: bind_key(key, parameters)


def _integer_binder(key: Sequence[Value], index: int, low: int, high: int) -> BindKey:
    def bind(parameters: ParameterValues) -> Key:
        if type(parameters) is tuple:
            value = parameters[index]
            if type(value) is int and low <= value <= high:
                return (value,)
        return bind_key(key, parameters)

    return bind


def _text_binder(key: Sequence[Value], index: int) -> BindKey:
    def bind(parameters: ParameterValues) -> Key:
        if type(parameters) is tuple:
            value = parameters[index]
            if type(value) is str:
                return (value,)
        return bind_key(key, parameters)

    return bind
