"""A frame of the program as a relation of a query: rows that are in memory, or read elsewhere.

It is described like a table, and so bound and typed like one, but it is none of the catalog's: it
has no key, no past and no tablets, nothing is pushed into it, and only the session that knows it
reads it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema


class FrameRows(Protocol):
    """Rows that are read anew by each statement; see `engine.query_engine.RowStream`."""

    @property
    def schema(self) -> pa.Schema:
        """Of all columns, in the types of the table."""

    @property
    def row_count(self) -> int:
        """How many they are about."""

    @property
    def is_read_once(self) -> bool:
        """Whether there are no rows after the first reading."""

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The rows from the first on; `columns`: the places of those wanted, in their order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrameTable(TableInfo):
    """A frame.

    Attributes:
        rows: all of them, or what reads them, in the types of the columns.
        unreadable: what a column of a type that no table has is, by its id. Such a column is there
            by its name, as a text, and a query that reads it is refused.
    """

    rows: pa.Table | FrameRows = field(repr=False)
    unreadable: Mapping[int, str] = field(default_factory=dict)


def frame_table(
    name: str,
    columns: Iterable[ColumnSchema],
    rows: "pa.Table | FrameRows",
    unreadable: Mapping[int, str],
) -> FrameTable:
    """The frame of a name. `columns`: numbered by their places; `unreadable`: see `FrameTable`."""
    column_schemas = tuple(columns)
    schema = Schema(column_schemas, (), len(column_schemas))
    identity, parts = f"frame {name}", PartitionSchema()
    return FrameTable(identity, name, schema, parts, (), rows=rows, unreadable=unreadable)


def is_stored(table: TableInfo) -> bool:
    """Whether a table is one of the catalog: no frame, and none of the system's."""
    return not isinstance(table, FrameTable) and not is_system(table)
