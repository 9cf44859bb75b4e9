"""What the plans of statements without rows and without values of a caller have in common.

The shortest of them stands here: a row of literals, which needs no other kind of plan loaded.
"""

from typing import ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.storage.common.types.types import DataType


class Command:
    """The plan of such a statement.

    A subclass gives the line that EXPLAIN shows, with `{0.name}` for an attribute of the plan:
    `class DropIt(Command, headline="DROP IT {0.name}")`; or it has a `headline` of its own.
    """

    __slots__ = ()
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False
    _headline: ClassVar[str]

    def __init_subclass__(cls, *, headline: str | None = None, cacheable: bool = False) -> None:
        # A dataclass with slots is made a second time, without these arguments.
        if headline is not None:
            cls._headline = headline
        if cacheable:
            cls.cacheable = True

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return self._headline.format(self)


@dataclass(frozen=True, slots=True)
class ConstantColumn:
    """One literal of a `ConstantRow`: what its column is called, its type, its Python value."""

    name: str
    type: DataType
    value: int | str | bool


@dataclass(frozen=True, slots=True)
class ConstantRow(Command, headline="VALUES", cacheable=True):
    """One row of literals."""

    columns: tuple[ConstantColumn, ...]
