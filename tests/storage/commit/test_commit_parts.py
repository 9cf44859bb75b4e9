"""What a commit is made of: its edit, its counters, and its writes on newer rowsets."""

from typing import Any, cast

import numpy as np
import pytest

from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.commit.commit_counters import CommitCounters
from pykudu_sql.storage.commit.commit_edit import commit_edit
from pykudu_sql.storage.commit.publication import rebased
from pykudu_sql.storage.errors import IntegrityError, SerializationError
from pykudu_sql.storage.tablet.commit_record import BatchMutation, RowMutation, TabletWrites
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites


class Pending:
    """Writes of a transaction, in conflict with another commit or not."""

    def __init__(self, conflict: bool, message: str = "") -> None:
        self.conflict = conflict
        self.message = message

    def has_conflict(self) -> bool:
        return self.conflict

    def rebase(self, bound: int) -> tuple[str, int]:
        if self.message:
            raise IntegrityError(self.message)
        return ("moved", bound)


def rebase(pending: Pending, counters: CommitCounters) -> Any:
    return rebased(cast(PendingWrites, pending), 7, counters)


def test_an_edit_without_tables_is_of_tablets_and_names_only_what_there_is() -> None:
    assert commit_edit(5, 9, [], None, [], []) == {
        "op": "tablets", "ts": 5, "sequence": 9, "tablets": [],
    }  # fmt: skip


def test_an_edit_notes_the_batch_and_the_tables_that_are_replaced() -> None:
    batch = WriterBatch("job", 3)
    edit = commit_edit(5, 0, [], batch, [], ["t1"])
    assert (edit["done"], edit["replaced"]) == (batch.to_json(), ["t1"])


def test_counters_tell_what_became_of_rows_one_by_one_and_in_batches() -> None:
    counters = CommitCounters()
    ordinals = np.arange(3, dtype=np.int64)
    mutations = [
        RowMutation(1, 1, DeltaKind.UPDATE, 0, {}),
        BatchMutation(1, 1, DeltaKind.DELETE, ordinals, {}),
        BatchMutation(1, 1, DeltaKind.REINSERT, ordinals[:2], {}),
    ]
    counters.note(TabletWrites("t", 1, [], mutations), [])
    assert (counters.rows_updated, counters.rows_deleted, counters.rows_inserted) == (1, 3, 2)


def test_writes_without_a_conflict_move_to_the_bound() -> None:
    counters = CommitCounters()
    assert rebase(Pending(conflict=False), counters) == ("moved", 7)
    assert counters.conflicts == 0


@pytest.mark.parametrize("pending", [Pending(True), Pending(False, "the key is there")])
def test_writes_in_conflict_are_refused_and_counted(pending: Pending) -> None:
    counters = CommitCounters()
    with pytest.raises(SerializationError, match=pending.message or "changed one of the rows"):
        rebase(pending, counters)
    assert counters.conflicts == 1
