"""Write conflicts: whether a commit since a snapshot changed rows that a transaction writes.

Snapshot isolation lets the first committer win. What is compared are keys, or the addresses of rows
where the transaction has them.
"""

from collections.abc import Sequence
from itertools import chain

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import changed_key, changed_keys
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, KeyedRow
from pykudu_sql.storage.tablet.write.staged_changes import StagedChanges

WriteEntry = KeyedOperations | AddressedOperations | KeyedRow | DiskRowSet | StagedChanges


def has_changed_rows(
    tablet: Tablet,
    bound: SnapshotBound,
    entries: Sequence[WriteEntry],
    staged: Sequence[DiskRowSet],
) -> bool:
    """Whether a commit at or above a bound changed a row that one of the entries writes.

    `staged`: rowsets written for the transaction.
    """
    rowsets = tablet.components.rowsets
    keyed = (batch.keys for batch in entries if isinstance(batch, KeyedOperations))
    keys = chain(keyed, (rowset.base.keys() for rowset in staged))
    addressed = chain.from_iterable(
        entry.parts for entry in entries if isinstance(entry, AddressedOperations | StagedChanges)
    )
    if any(batch.is_changed(tablet, bound) for batch in addressed):
        return True
    if any(changed_keys(rowsets, part, bound).any() for part in keys):
        return True
    rows = [row for row in entries if isinstance(row, KeyedRow)]
    return any(changed_key(rowsets, row.probe, bound) for row in rows)
