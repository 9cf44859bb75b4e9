"""Functions that a column's DEFAULT may be: of the statement's time, or of nothing but chance.

The list is closed, so that a schema stays a value and the storage computes defaults without an
engine. `column_defaults` computes them; rows hold what a function gave, never the function.
"""

from collections.abc import Mapping
from enum import Enum


class DefaultFunction(Enum):
    """A function; its value is how SQL writes it.

    Attributes:
        characters: the most that its value has as a text.
        step: microseconds to which a time is cut.
    """

    NOW = "now()", 26, 1
    NOW_IN_MILLISECONDS = "CURRENT_TIMESTAMP(3)", 26, 1_000
    NOW_IN_SECONDS = "CURRENT_TIMESTAMP(0)", 19, 1_000_000
    TODAY = "CURRENT_DATE", 10, 86_400_000_000
    UUID = "uuid()", 36, 0
    UUID_DIGITS = "replace(uuid(), '-', '')", 32, 0

    characters: int
    step: int

    def __new__(cls, sql: str, characters: int, step: int) -> "DefaultFunction":
        """A member whose value is its SQL alone."""
        member = object.__new__(cls)
        member._value_ = sql
        member.characters = characters
        member.step = step
        return member

    @property
    def sql(self) -> str:
        """How SQL writes it."""
        return str(self.value)

    @property
    def is_of_the_moment(self) -> bool:
        """Whether it is a time, of which all rows of one statement get the same."""
        return self.step > 0


DEFAULT_FUNCTIONS: Mapping[str, DefaultFunction] = {each.sql: each for each in DefaultFunction}
