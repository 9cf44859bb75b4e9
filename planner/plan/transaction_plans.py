"""Plans of the statements that begin and end transactions and set places in them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pykudu_sql.planner.plan.value import ParameterKey


class TransactionAction(StrEnum):
    """What a statement does with a whole transaction."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


@dataclass(frozen=True, slots=True)
class TransactionControl:
    """BEGIN, COMMIT or ROLLBACK."""

    action: TransactionAction
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return str(self.action)


class SavepointAction(StrEnum):
    """What a statement does with a savepoint."""

    SET = "SAVEPOINT"
    ROLLBACK_TO = "ROLLBACK TO SAVEPOINT"
    RELEASE = "RELEASE SAVEPOINT"


@dataclass(frozen=True, slots=True)
class SavepointControl:
    """SAVEPOINT, ROLLBACK TO or RELEASE; the name in lower case unless it was quoted."""

    action: SavepointAction
    name: str
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True

    @property
    def headline(self) -> str:
        """What EXPLAIN says of it."""
        return f"{self.action} {self.name}"
