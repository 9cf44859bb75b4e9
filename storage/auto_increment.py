"""The hidden counters of tables with a NON UNIQUE PRIMARY KEY.

Kudu counts within each tablet (KUDU-1945); one counter a table gives the same guarantee, a value
never used twice, and lets the counter be the whole key of a hash-partitioned table. It starts
above the highest value found when it is first needed; values of rolled-back rows leave gaps.
"""

import threading
from collections.abc import Mapping

import pyarrow.compute as pc

from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.errors import ValueOutOfRangeError
from pykudu_sql.storage.tablet.pending_writes import LATEST
from pykudu_sql.storage.tablet.tablet import Tablet


class AutoIncrement:
    """Gives out counter values. Safe for threads."""

    def __init__(self, tablets: Mapping[str, Tablet]) -> None:
        """Count for tables on these tablets, by UUID."""
        self._tablets = tablets
        self._next: dict[str, int] = {}
        self._lock = threading.Lock()

    def reserve(self, table: TableInfo, count: int) -> int:
        """Reserve some values of a table's counter and return the first.

        Raises:
            ValueOutOfRangeError: the counter is used up.
        """
        with self._lock:
            first = self._next.get(table.id)
            if first is None:
                first = self._highest(table) + 1
            if first + count > 1 << 63:
                raise ValueOutOfRangeError(
                    f"table '{table.name}': max auto-incrementing column value reached"
                )
            self._next[table.id] = first + count
            return first

    def _highest(self, table: TableInfo) -> int:
        column = table.schema.key_columns[-1]
        highest = 0
        for info in table.tablets:
            for block in self._tablets[info.id].scan((column,), None, LATEST):
                highest = max(highest, pc.max(block.columns[0]).as_py() or 0)
        return highest
