"""The shape of what a program passes for a statement's parameters: how many, and of which kind."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.storage.errors import InterfaceError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan


def parameter_rows(rows: Iterable[ParameterValues | None]) -> list[ParameterValues]:
    """The parameters of each run of a statement; None stands for no parameters.

    Raises InterfaceError: they are no sequence.
    """
    try:
        each = iter(rows)
    except TypeError:
        raise InterfaceError(
            f"executemany takes a sequence of parameters, not {type(rows).__name__}",
            hint="such as [(1, 'a'), (2, 'b')]",
            sqlstate="07001",
        ) from None
    return [() if parameters is None else parameters for parameters in each]


def check_parameter_shape(plan: "Plan", arity: int, parameters: ParameterValues) -> None:
    """Check that parameters have the kind and number that the statement takes.

    `arity`: positional parameters that it takes; -1 when it takes named ones. EXPLAIN may go
    without them. Raises InterfaceError: they do not.
    """
    count = _count_of(parameters)
    if count == 0 and _only_explains(plan):
        return
    if arity < 0:
        if not isinstance(parameters, Mapping):
            raise InterfaceError(
                "the statement has named parameters",
                hint="pass a mapping such as {'name': value}; a number behind a dollar is a name, "
                "too: {'1': value}. In a sequence each is `?`",
                sqlstate="07001",
            )
    elif isinstance(parameters, str | bytes | Mapping) or count is None:
        if count != 0 or arity:
            raise InterfaceError(
                f"parameters for `?` come as a sequence, not as {type(parameters).__name__}",
                hint="the values of a mapping stand as :name in the statement"
                if isinstance(parameters, Mapping)
                else "one value is passed as (value,)",
                sqlstate="07001",
            )
    elif count != arity:
        raise InterfaceError(
            f"the statement takes {arity} parameter(s), {count} were given",
            sqlstate="07001",
        )


def _count_of(parameters: object) -> int | None:
    """How many there are; None of what has no length."""
    try:
        return len(parameters)  # type: ignore[arg-type]
    except TypeError:
        return None


def _only_explains(plan: "Plan") -> bool:
    from pykudu_sql.planner.plan.plan import Explain

    return isinstance(plan, Explain) and not plan.analyze
