"""Snapshots with names: what their names stand for."""

from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import SourcePosition, UndefinedObjectError


def snapshot_bound(
    name: str, context: PlanContext, position: SourcePosition | None
) -> SnapshotBound:
    """The bound of a named snapshot.

    Raises:
        UndefinedObjectError: there is none; a near name is suggested.
    """
    found = context.snapshots.get(name)
    if found is None:
        raise UndefinedObjectError(
            f"snapshot '{name}' does not exist",
            hint=near(name, context.snapshots) or "SHOW SNAPSHOTS lists them",
            position=position,
        )
    return found.bound
