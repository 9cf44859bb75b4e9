"""Statistics of a scan: how much of its table it read, and how much it skipped.

Kudu counts the same for each scanner (`common/iterator_stats.h`). A collector belongs to one thread
at a time; a scan that reads rowsets side by side has one for each and adds them up.
"""

from dataclasses import fields

from pykudu_sql.dataclass import dataclass


@dataclass(slots=True)
class ScanStats:
    """Counts of one scan, all of them growing.

    Attributes:
        tablets: of the table.
        rowsets: of the tablets left by partition pruning, in memory and on disk, that have rows
            in the snapshot.
        rowsets_pruned: of them left out by their keys, zone maps or dictionaries.
        index_skips: rowsets that a skip index excluded.
        blocks: of the columns wanted, in the rowsets that were read.
        blocks_skipped: of them not looked at, since no row in them can match or did match.
        blocks_decoded: blocks that were decoded, as no cache had them.
        bytes_decoded: the size of these in memory.
        deltas_applied: deltas of the rowsets read that the snapshot needs.
        rows_scanned: rows that the predicate was evaluated on, or all that were read without one.
        rows_returned: rows that the scan gave.
    """

    tablets: int = 0
    rowsets: int = 0
    rowsets_pruned: int = 0
    index_skips: int = 0
    blocks: int = 0
    blocks_skipped: int = 0
    blocks_decoded: int = 0
    bytes_decoded: int = 0
    deltas_applied: int = 0
    rows_scanned: int = 0
    rows_returned: int = 0

    @property
    def blocks_read(self) -> int:
        """Blocks that were looked at, decoded or cached."""
        return self.blocks - self.blocks_skipped

    def add(self, other: "ScanStats") -> None:
        """Add what another collector counted."""
        for name in _NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_NAMES = tuple(field.name for field in fields(ScanStats))
