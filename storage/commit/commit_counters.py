"""Counters of commits since the store was opened, kept under the commit lock."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.tablet.commit_record import RowMutation, TabletWrites
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind

if TYPE_CHECKING:
    from pykudu_sql.storage.tablet.write.commit_files import CommitFiles


@dataclass(slots=True)
class CommitCounters:
    """Counts that only grow. Written by the holder of the commit lock, read by anybody.

    Attributes:
        commits: transactions that wrote.
        conflicts: transactions that lost to another one.
        rows_inserted: rows that were not there before.
        rows_updated, rows_deleted: rows that were.
        rows_bulk_loaded: inserted rows that went straight into files.
    """

    commits: int = 0
    conflicts: int = 0
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    rows_bulk_loaded: int = 0

    def note(self, writes: TabletWrites, keys: Sequence[Sequence[bytes]]) -> None:
        """Count what a commit did to one tablet.

        Args:
            writes: inserts and mutations.
            keys: for each insert of `writes`, the encoded keys of its rows; others may follow.
        """
        for _, encoded in zip(writes.inserts, keys, strict=False):
            self.rows_inserted += len(encoded)
        for mutation in writes.mutations:
            rows = 1 if isinstance(mutation, RowMutation) else len(mutation.ordinals)
            if mutation.kind is DeltaKind.UPDATE:
                self.rows_updated += rows
            elif mutation.kind is DeltaKind.DELETE:
                self.rows_deleted += rows
            else:
                self.rows_inserted += rows

    def note_files(self, files: "CommitFiles") -> None:
        """Count rows that a commit brought as rowsets, and those that its delta files change."""
        rows = sum(rowset.meta.rows for rowset in files.staged)
        self.rows_inserted += rows
        self.rows_bulk_loaded += rows
        self.rows_deleted += sum(stats.deletes for stats in files.changes)
        self.rows_updated += sum(stats.records - stats.decisions for stats in files.changes)
