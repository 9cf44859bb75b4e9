"""The rows of a file that lies in folders of partitions, whose values are columns of its rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.reading.row_files import FileBatch, RowFile, positions_of
from pykudu_sql.files.reading.text_values import read_texts
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema

# Opens the file itself, for columns of the table or for all that it has.
Open = Callable[[Sequence[ColumnSchema] | None], RowFile]


class PartitionedRows:
    """The rows of a file and what its folders say of them; a `RowFile`."""

    def __init__(self, inner: RowFile, partitions: Mapping[ColumnSchema, str | None]) -> None:
        """Wrap the rows of a file. `partitions`: texts of columns that the file has not."""
        self.count = 0
        self._inner = inner
        self._texts = list(partitions.values())
        self.columns: Sequence[ColumnSchema] = [*inner.columns, *partitions]

    def batches(self) -> Iterator[FileBatch]:
        for batch in self._inner.batches():
            self.count = self._inner.count
            length = len(batch.records)
            more = [pa.repeat(pa.scalar(text, pa.string()), length) for text in self._texts]
            yield replace(batch, arrays=[*batch.arrays, *more])
        self.count = self._inner.count

    @property
    def bytes_read(self) -> int:
        return self._inner.bytes_read

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        if column in self._inner.columns:
            return self._inner.values(array, column)
        return read_texts(array, column, blank_is_null=False)

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return self._inner.lines(records)

    def close(self) -> None:
        self._inner.close()


def open_partitioned(
    file: PermittedFile,
    table: TableInfo,
    requested_columns: Sequence[ColumnSchema] | None,
    names_columns: bool,
    open_file: Open,
) -> RowFile:
    """Open a file whose folders say of its rows what some columns are.

    Args:
        file: with partitions.
        table: that the rows are for.
        requested_columns: columns to be read; None for all that the file and its folders have.
        names_columns: whether the file itself names all of its columns.
        open_file: opens it.

    Raises UndefinedColumnError: a folder names a column that the table has not; Error: what
    `open_file` raises.
    """
    if requested_columns is None:
        own = [column for _, column in positions_of([*file.partitions], table, None, file.name)]
    else:
        own = [column for column in requested_columns if column.name in file.partitions]
    rest = None
    if requested_columns is not None or not names_columns:
        named = table.schema.visible_columns if requested_columns is None else requested_columns
        rest = [column for column in named if column not in own]
    inner = open_file(rest)
    partitions = {c: file.partitions[c.name] for c in own if c not in inner.columns}
    return PartitionedRows(inner, partitions)
