"""Plans of the statements that begin and end transactions and set savepoints."""

from dataclasses import dataclass
from enum import StrEnum

from pykudu_sql.planner.plan.command import Command


class TransactionAction(StrEnum):
    """What a statement does with a whole transaction."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


@dataclass(frozen=True, slots=True)
class TransactionControl(Command, headline="{0.action}", cacheable=True):
    """BEGIN, COMMIT or ROLLBACK; `read_only`: whether the transaction that begins only reads."""

    action: TransactionAction
    read_only: bool = False


class SavepointAction(StrEnum):
    """What a statement does with a savepoint."""

    SET = "SAVEPOINT"
    ROLLBACK_TO = "ROLLBACK TO SAVEPOINT"
    RELEASE = "RELEASE SAVEPOINT"


@dataclass(frozen=True, slots=True)
class SavepointControl(Command, headline="{0.action} {0.name}", cacheable=True):
    """SAVEPOINT, ROLLBACK TO or RELEASE; the name in lower case unless it was quoted."""

    action: SavepointAction
    name: str
