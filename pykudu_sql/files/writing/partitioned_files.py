"""Rows in files of a folder for each combination of values of some columns, in Hive's layout."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.hive_paths import folder_of
from pykudu_sql.files.writing.column_texts import scalar_texts
from pykudu_sql.files.writing.row_writers import WriteRows, row_writer
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.errors import (
    NotSupportedError,
    ProgrammingError,
    UndefinedColumnError,
)

# A folder whose file was closed for others gets another one.
MOST_OPEN: Final = 64
_SUFFIX: Final = {"gzip": ".gz", "zstd": ".zst"}
_LONGEST: Final = 255


@dataclass(slots=True)
class _Files:
    """The files that are open, those used least lately first."""

    root: Path
    kind: FileKind
    open_files: OrderedDict[str, tuple[ExitStack, WriteRows]] = field(default_factory=OrderedDict)
    numbers: dict[str, int] = field(default_factory=dict)

    def write(self, folder: str, rows: pa.Table) -> None:
        """Write rows to the file of a folder."""
        if folder not in self.open_files:
            if len(self.open_files) == MOST_OPEN:
                self.open_files.popitem(last=False)[1][0].close()
            self.open_files[folder] = self._opened(folder, rows.schema)
        self.open_files.move_to_end(folder)
        self.open_files[folder][1](rows)

    def _opened(self, folder: str, schema: pa.Schema) -> tuple[ExitStack, WriteRows]:
        number = self.numbers.get(folder, 0)
        self.numbers[folder] = number + 1
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        suffix = _SUFFIX.get(self.kind.compression, "") if self.kind.is_text else ""
        path = self.root / folder / f"part-{number:05d}.{self.kind.format}{suffix}"
        closing = ExitStack()
        return closing, closing.enter_context(row_writer(str(path), self.kind, schema))

    def close(self) -> None:
        """Complete all files that are open."""
        while self.open_files:
            self.open_files.popitem()[1][0].close()


@contextmanager
def partitioned_writer(
    root: Path, kind: FileKind, names: Sequence[str], by: Sequence[str]
) -> Iterator[WriteRows]:
    """Files to be made below a folder that is there, and what writes rows to them.

    Args:
        root: the folder.
        kind: of the files.
        names: of the columns of the rows.
        by: the columns, in any case, whose values are in the paths and not in the files.

    Raises UndefinedColumnError: the rows have no such column; ProgrammingError: it is named twice,
    or no other is left; NotSupportedError: its values have no text, or the format has no such
    values; OSError: the disk refused.
    """
    columns = _partition_columns(names, by)
    rest = [name for name in names if name not in columns]
    files = _Files(root, kind)

    def write(rows: pa.Table) -> None:
        for folder, indices in _groups(rows, columns):
            files.write(folder, rows.select(rest).take(indices))

    try:
        yield write
    finally:
        files.close()


def _partition_columns(names: Sequence[str], by: Sequence[str]) -> Sequence[str]:
    own = {name.lower(): name for name in names}
    for name in by:
        if name.lower() not in own:
            raise UndefinedColumnError(
                f"PARTITION BY names column '{name:.80}', which the rows do not have",
                hint="their columns are " + ", ".join(names),
            )
    columns = [own[name.lower()] for name in by]
    if len(set(columns)) < len(columns):
        raise ProgrammingError("PARTITION BY names a column twice", sqlstate="42701")
    if len(columns) == len(names):
        raise ProgrammingError(
            "PARTITION BY names all columns, and none is left for the files",
            hint="leave one out",
            sqlstate="42P10",
        )
    return columns


def _groups(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[str, pa.Array]]:
    """The folders of rows, and the indices of the rows of each."""
    if not rows.num_rows:
        return
    texts, code = [], np.zeros(rows.num_rows, np.int64)
    for name in columns:
        words = _partition_texts(rows.column(name).combine_chunks(), name).dictionary_encode()
        own = words.indices.fill_null(len(words.dictionary)).to_numpy().astype(np.int64)
        code = np.unique(code * (len(words.dictionary) + 1) + own, return_inverse=True)[1]
        texts.append(words)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    for part in np.split(order, starts[1:]):
        values = [words[int(part[0])].as_py() for words in texts]
        folder = folder_of(columns, values)
        if any(len(one.encode()) > _LONGEST for one in folder.split("/")):
            raise ProgrammingError(
                f"a value is too long to name a folder: {folder:.80}..", sqlstate="22001"
            )
        yield folder, pa.array(part)


def _partition_texts(column: pa.Array, name: str) -> pa.Array:
    """Values of a column as texts of paths.

    Raises NotSupportedError: they have no text that is read back as the same.
    """
    if pa.types.is_nested(column.type) and not pa.types.is_dictionary(column.type):
        raise NotSupportedError(
            f"files are not partitioned by column '{name:.80}' of type {column.type!s:.80}",
            hint="CAST it to STRING",
        )
    return scalar_texts(plain(column))
