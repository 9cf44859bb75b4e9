"""ALTER TABLE against the stored rows: new CHECK constraints, and columns without NULL.

The rows are read before the commit lock is taken, so that others write meanwhile; under it, only
the tablets are read again that took commits since. A transaction that is open then was made for
the table as it was, and is refused at its commit (`check_rows_still_fit`). So no row gets past.
"""

from collections.abc import Iterable
from dataclasses import field

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.arrays import validity
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import NotNullError
from pykudu_sql.storage.ingest.check_rule import find_violations, violation_error
from pykudu_sql.storage.ingest.row_batch import key_text
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from pykudu_sql.storage.tablet.tablet import Tablet

_STRETCH = 1 << 18  # rows in memory at once


@dataclass(frozen=True, slots=True)
class NewRules:
    """The rules that an ALTER TABLE adds, which the stored rows must satisfy.

    Attributes:
        table: as it is to be.
        checks: its new constraints.
        filled: its columns that may not hold NULL any more.
    """

    table: TableInfo = field(compare=False)
    checks: tuple[CheckConstraint, ...]
    filled: tuple[ColumnSchema, ...]

    def __bool__(self) -> bool:
        """Whether any rule was added."""
        return bool(self.checks or self.filled)

    def check(self, tablets: Iterable[Tablet], bound: SnapshotBound) -> None:
        """Check the rows of some tablets against the rules.

        `bound`: of the snapshot that is read. Raises CheckViolationError, NotNullError: one does
        not; DiskError, CorruptionError: the rows cannot be read.
        """
        schema = self.table.schema
        ids = {i for check in self.checks for i in check.column_ids}
        ids.update(schema.key_ids, (column.id for column in self.filled))
        columns = [column for column in schema.columns if column.id in ids]
        for tablet in tablets:
            for rowset in tablet.components.rowsets:
                blocks = rowset.scan(
                    columns, None, bound, None, stretch=_STRETCH, cache_blocks=False
                )
                for block in blocks:
                    self._check_block(columns, block)

    def _check_block(self, columns: list[ColumnSchema], block: RowBlock) -> None:
        cells = {c.id: values for c, values in zip(columns, block.columns, strict=True)}
        for column in self.filled:
            valid = validity(cells[column.id])
            if valid is not None:
                key = key_text(self.table, cells, int(np.argmin(valid)))
                raise NotNullError(
                    f"column '{column.name}' of table '{self.table.name}' is NULL in the row {key}",
                    hint=f"give such rows a value: UPDATE {self.table.name} SET {column.name} = .. "
                    f"WHERE {column.name} IS NULL",
                )
        violated = find_violations(self.table, self.checks, cells) if self.checks else None
        if violated is not None:
            row = int(np.argmax(violated[0]))
            raise violation_error(self.table, violated[1](row), key_text(self.table, cells, row))


def new_rules(before: TableInfo, after: TableInfo) -> NewRules:
    """The rules that a changed table has and the one before it has not."""
    conditions = {check.condition for check in before.checks}
    checks = tuple(check for check in after.checks if check.condition not in conditions)
    nullable = {column.id for column in before.schema.columns if column.nullable}
    filled = tuple(c for c in after.schema.columns if c.id in nullable and not c.nullable)
    return NewRules(after, checks, filled)
