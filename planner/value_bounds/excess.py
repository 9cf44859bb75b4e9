"""What is said of a call that makes more than it may, before or while the engine computes it."""

from enum import StrEnum

MAX_VALUE_BYTES = 64 * 1024 * 1024
VECTOR_ROWS = 2048  # that the engine computes at once
_LIMIT = f"{MAX_VALUE_BYTES >> 20} MiB"
_MAX_STEPS = f"{MAX_VALUE_BYTES:,} steps"


class Bounded(StrEnum):
    """What the rule of a function bounds."""

    VALUE = "value"
    WORK = "work"  # what the engine makes on its way to a value that may be small
    STEPS = "steps"

    def excess(self, name: str) -> str:
        """What a call would do beyond its bound. `name`: of the call, as statements write it."""
        match self:
            case Bounded.VALUE:
                return f"'{name}' would make a value of more than {_LIMIT}"
            case Bounded.WORK:
                return f"'{name}' would take more than {_LIMIT} to work in"
        return f"'{name}' would take more than {_MAX_STEPS}"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        match self:
            case Bounded.VALUE:
                return f"a value that is computed has at most {_LIMIT}"
            case Bounded.WORK:
                return f"a row of a call takes at most {_LIMIT}: give it shorter arguments"
        return f"a row of a call takes at most {_MAX_STEPS}: give it shorter arguments"
