"""Names of snapshots."""

import pytest

from pykudu_sql.planner.constant_folding.snapshot_names import snapshot_bound
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import SourceSpan, UndefinedObjectError


def test_a_snapshot_that_there_is_not_is_undefined_where_it_stands(context: PlanContext) -> None:
    with pytest.raises(UndefinedObjectError, match="snapshot 'monday' does not exist") as caught:
        snapshot_bound("monday", context, SourceSpan(3, 6))
    assert caught.value.hint == "SHOW SNAPSHOTS lists them"
    assert caught.value.span == SourceSpan(3, 6)
