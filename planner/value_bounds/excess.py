"""What is said of a call that makes more than it may, before or while the engine computes it."""

from enum import StrEnum

from pykudu_sql.storage.common.memory_budget import MOST_VALUE

MAX_VALUE_BYTES = MOST_VALUE  # under any memory limit; engines may have a lower one
VECTOR_ROWS = 2048  # that the engine computes at once
_MAX_STEPS = f"{MAX_VALUE_BYTES:,} steps"
_MORE_MEMORY = "connect(memory_limit=...) or --set memory_limit=.. allows more"


class Bounded(StrEnum):
    """What the rule of a function bounds."""

    VALUE = "value"
    WORK = "work"  # what the engine makes on its way to a value that may be small
    STEPS = "steps"

    def excess(self, name: str, most: int) -> str:
        """What a call would do beyond its bound.

        `name`: of the call, as statements write it; `most`: bytes that it may make.
        """
        match self:
            case Bounded.VALUE:
                return f"'{name}' would make a value of more than {most >> 20} MiB"
            case Bounded.WORK:
                return f"'{name}' would take more than {most >> 20} MiB to work in"
        return f"'{name}' would take more than {_MAX_STEPS}"

    def remedy(self, most: int) -> str:
        """What to do about it. `most`: see `excess`."""
        limit = f"{most >> 20} MiB"
        match self:
            case Bounded.VALUE:
                advice = f"a value that is computed has at most {limit}"
            case Bounded.WORK:
                advice = f"a row of a call takes at most {limit}: give it shorter arguments"
            case Bounded.STEPS:
                return f"a row of a call takes at most {_MAX_STEPS}: give it shorter arguments"
        return advice if most >= MAX_VALUE_BYTES else f"{advice}; {_MORE_MEMORY}"
