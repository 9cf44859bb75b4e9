"""Values of a plan: cells, and parameters that become cells when the statement runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.parameter_types import PASSED_UNCHANGED, parameter_name, sql_value
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.numpy_scalars import is_short_float
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.common.types.value_text import with_article
from pykudu_sql.storage.errors import DataError, InterfaceError

ParameterKey = int | str
ParameterValues = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class United:
    """What a parameter becomes one column, list or value with.

    Attributes:
        whole: the digits before the point that the others have together.
        scale: those behind it.
        group: distinguishes those of a statement.
    """

    whole: int
    scale: int
    group: int

    def __str__(self) -> str:
        return f"one with numbers of {self.whole} and {self.scale} digits"


@dataclass(frozen=True, slots=True)
class ComputedNumbers:
    """Numbers computed from parameters that get one type with decimals.

    Attributes:
        sql: the query for a list of their types, over `$1`, `$2`, ...
        keys: of the values of these parameters.
        whole: the digits before the point that the decimals have together.
        scale: those behind it.
        follows: whether the types of the values decide theirs, and not the values.
    """

    sql: str
    keys: tuple[ParameterKey, ...]
    whole: int
    scale: int
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A hole in a plan.

    Attributes:
        key: 0-based position of a `?`, or the name of a `:name`.
        type: type of the column that receives or meets the value.
        column: that column's name, for messages; empty of what is computed.
    """

    key: ParameterKey
    type: DataType
    column: str


Value = Cell | Parameter
# In a row to be inserted also the function of its column's default.
InsertedValue = Value | DefaultFunction


def parameter_value(parameters: ParameterValues, key: ParameterKey, column: str = "") -> Any:
    """The value a caller supplied for a parameter, as a plain Python value.

    Args:
        parameters: the caller's values, a sequence for `?` and a mapping for `:name`.
        column: that receives or meets the value, for messages; empty if that is none.

    Raises InterfaceError: none was supplied, or SQL has no value for it; InvalidValueError: it is
    no time, and of a type for times.
    """
    value = _argument(parameters, key)
    return value if type(value) in PASSED_UNCHANGED else sql_value(value, key, column)


def received_value(parameters: ParameterValues, key: ParameterKey, column: str) -> Any:
    """The value of a parameter that a column gets as it is, for `to_cell`.

    numpy's floats of fewer bits than a double stay what they are: their texts and decimals have
    fewer digits. Raises as `parameter_value`.
    """
    value = _argument(parameters, key)
    is_own = type(value) in PASSED_UNCHANGED or is_short_float(value)
    return value if is_own else sql_value(value, key, column)


def _argument(parameters: ParameterValues, key: ParameterKey) -> Any:
    try:
        return parameters[key]  # type: ignore[index]
    except (KeyError, IndexError, TypeError) as error:
        raise InterfaceError(
            f"no value was given for {parameter_name(key)}",
            hint="pass a sequence for `?`, a mapping for `:name`; in the shell, .param name value",
            sqlstate="07001",
        ) from error
    except Exception as error:
        source = with_article(type(parameters).__name__)
        raise InterfaceError(
            f"{parameter_name(key)} cannot be read from {source}: {type(error).__name__}: {error}",
            hint="its own code raised this, which is the cause of this error",
            sqlstate="07001",
        ) from error


def bind_value(value: Value, parameters: ParameterValues) -> Cell:
    """A plan's value as a cell.

    Raises InterfaceError: the parameter has no value, or one that SQL has not; DataError: the value
    does not fit the column; the message names it.
    """
    if type(value) is not Parameter:
        return value  # type: ignore[return-value]
    argument = received_value(parameters, value.key, value.column)
    try:
        return to_cell(argument, value.type)
    except DataError as error:
        raise type(error)(
            f"column '{value.column}': {error.message}", hint=error.hint, sqlstate=error.sqlstate
        ) from error


def bind_key(key: Sequence[Value], parameters: ParameterValues) -> tuple[Cell, ...] | None:
    """A key to look up, or None when no row can have it.

    NULL equals nothing, and neither does a value the key column cannot hold exactly (`id = 2.5` on
    an INT column, `name = 'abcd'` on a VARCHAR(3)). Raises InterfaceError: a parameter has no
    value, or one that SQL has not; EngineRequiredError: a parameter is of another kind than its
    column.
    """
    cells: list[Cell] = []
    for value in key:
        if isinstance(value, Parameter):
            argument = parameter_value(parameters, value.key, value.column)
            cells.append(_exact_cell()(value.type, argument))
        else:
            cells.append(value)
    return None if None in cells else tuple(cells)


@cache
def _exact_cell() -> Callable[[DataType, object], Cell]:
    """Loaded by the first key that has a parameter."""
    from pykudu_sql.planner.operands.comparison import exact_cell

    return exact_cell
