"""Read timestamps from options: what SQL takes after AS OF, as the bound of a snapshot."""

from collections.abc import Sequence
from typing import Any

from pykudu_sql.database import Database
from pykudu_sql.planner.constant_folding.moment import as_of_bound
from pykudu_sql.planner.constant_folding.relative_moment import is_relative
from pykudu_sql.planner.constant_folding.snapshot_names import snapshot_bound
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.results.table_result import python_rows
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import InvalidValueError, UndefinedObjectError

_MOMENTS = (
    "give a timestamp like '2026-01-31 12:00:00', '10 min ago', a hybrid timestamp, or the name "
    "of a snapshot"
)


class ReadTimestamps:
    """Resolves read timestamps by the snapshots and the clock of an open database.

    `context`: for planning at these timestamps.
    """

    def __init__(self, database: Database) -> None:
        """Fix what the present is. `database`: open."""
        store = database.store
        self._engine = database.new_engine()
        self.context = PlanContext(
            store.catalog,
            store.catalog_at,
            store.now(),
            self._evaluate,
            snapshots=store.definitions.snapshots,
        )

    def bound_of(self, moment: str) -> SnapshotBound:
        """The bound of the snapshot AS OF a moment.

        `moment`: the name of a snapshot, a hybrid timestamp in digits, or a time as text. Raises
        UndefinedObjectError: it is no moment, and may be the name of a snapshot that is not there;
        InvalidValueError: it is neither; SnapshotInFutureError: it has not come yet.
        """
        name = moment.lower()
        if name in self.context.snapshots:
            return snapshot_bound(name, self.context, None)
        is_hybrid = moment.isascii() and moment.isdigit()
        try:
            return as_of_bound(int(moment) if is_hybrid else moment, self.context, None)
        except InvalidValueError as error:
            if name[:1].isalpha():
                raise UndefinedObjectError(
                    f"'{moment:.80}' is no moment: there is no snapshot of that name",
                    hint=near(name, self.context.snapshots) or _MOMENTS,
                ) from error
            if not is_relative(moment):
                error.hint = _MOMENTS
            raise

    def _evaluate(self, sql: str) -> Sequence[Any]:
        result = self._engine.execute(sql, {}, ())
        return python_rows(result.table, result.types)[0]
