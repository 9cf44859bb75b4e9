"""The view of "now" that a rowset keeps forgets no change that arrives while it is made."""

import pytest

from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from tests.storage.tablet.test_delta_mechanisms import story_of_three_rows


def test_a_commit_while_a_view_is_made_is_in_the_view_of_the_next_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    story = story_of_three_rows()
    story.flush_rows()
    rowset, column_id = story.rowset, story.tablet.schema.column("visits").id
    before = story.store.begin().bound
    newest = DeltaTracker.newest
    arrived: list[int] = []

    def newest_and_then_a_commit(tracker: DeltaTracker) -> int:
        found: int = newest.__get__(tracker)
        if not arrived:
            arrived.append(1)
            story.do(RowOpKind.UPDATE, key=2, visits=77)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTracker, "newest", property(newest_and_then_a_commit))
        assert rowset.view(before, None).patch(column_id) is None
    patch = rowset.view(story.store.begin().bound, None).patch(column_id)
    assert patch is not None and patch.values.to_pylist() == [77]
