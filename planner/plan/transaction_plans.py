"""Plans of the statements that begin and end transactions and set savepoints."""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.plan.command import Command


class TransactionAction(StrEnum):
    """What a statement does with a whole transaction."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"
    SET_MODES = "SET TRANSACTION"


@dataclass(frozen=True, slots=True)
class TransactionControl(Command, headline="{0.action}", cacheable=True):
    """BEGIN, COMMIT, ROLLBACK or SET TRANSACTION.

    `read_only`: whether the transaction that begins, or is open, only reads; None if it is not
    said.
    """

    action: TransactionAction
    read_only: bool | None = None


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
