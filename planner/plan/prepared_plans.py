"""Plans of PREPARE, EXECUTE and DEALLOCATE, and what a session keeps of a prepared statement."""

from typing import Any, ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.plan.command import Command


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A statement that a session has under a name; what was planned for it is kept by its text.

    Attributes:
        text: of the statement.
        keys: of its parameters, in the order in which EXECUTE gives their values.
        types: that the first of them are converted to.
    """

    text: str
    keys: tuple[ParameterKey, ...]
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepare(Command, headline="PREPARE {0.name}"):
    """PREPARE: the session keeps a statement under a name."""

    name: str
    statement: PreparedText


@dataclass(frozen=True, slots=True)
class Deallocate(Command):
    """DEALLOCATE: the session forgets a prepared statement, or all."""

    name: str | None

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"DEALLOCATE {self.name or 'ALL'}"


@dataclass(frozen=True, slots=True)
class PassedOn:
    """A parameter of EXECUTE itself.

    `key`: of EXECUTE's parameter; `conversion`: the engine's query for the value that `$1` becomes,
    if it is given to a parameter with a type.
    """

    key: ParameterKey
    conversion: str | None = None


@dataclass(frozen=True, slots=True)
class ExecutePrepared:
    """EXECUTE: a prepared statement runs with values.

    Attributes:
        name: of the statement.
        text: of the statement.
        arguments: for each of its parameters its key, and a Python value or `PassedOn`.
        parameters: of EXECUTE.
    """

    name: str
    text: str
    arguments: tuple[tuple[ParameterKey, Any], ...]
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: ClassVar[bool] = False
