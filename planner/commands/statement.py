"""An entry of the registry of statements; the registry itself is `planner/statements`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan


PlanStatement = Callable[[TokenStream, PlanContext], "Plan"]


@dataclass(frozen=True, slots=True)
class StatementEntry:
    """A statement that is known by its first words.

    Attributes:
        words: these, in upper case; of several that match a text, the longest count.
        plan: reads it from its first word on.
        offered: what a shell offers to complete; nothing for other spellings of the same.
    """

    words: tuple[str, ...]
    plan: PlanStatement
    offered: tuple[str, ...] = ()
