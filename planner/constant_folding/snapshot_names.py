"""Named snapshots: names to bounds."""

from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import SourceSpan, UndefinedObjectError


def snapshot_bound(name: str, context: PlanContext, span: SourceSpan | None) -> SnapshotBound:
    """The bound of a named snapshot.

    Raises UndefinedObjectError: there is none; a near name is suggested.
    """
    snapshot = context.snapshots.get(name)
    if snapshot is None:
        raise UndefinedObjectError(
            f"snapshot '{name}' does not exist",
            hint=near(name, context.snapshots) or "SHOW SNAPSHOTS lists them",
            span=span,
        )
    return snapshot.bound
