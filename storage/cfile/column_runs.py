"""A column as runs of equal values: what a predicate needs of a run-length encoded CFile.

Kudu evaluates predicates on run-length blocks a run at a time (`cfile/rle_block.h`); here the runs
of a whole column are a handful of arrays, and one evaluation over their values, spread by their
lengths, is the mask of the rows.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block import Block
from pykudu_sql.storage.cfile.block_decoder import check_range
from pykudu_sql.storage.common.types.arrays import from_fixed
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.widening import in_type


@dataclass(frozen=True, slots=True)
class ColumnRuns:
    """Runs of a column without NULLs.

    Attributes:
        values: one a run, of the column's Arrow type.
        ends: behind the last row of each run, ascending, int64[runs].
    """

    values: pa.Array
    ends: npt.NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Bytes of memory they take."""
        return int(self.values.nbytes) + self.ends.nbytes

    def in_type(self, arrow_type: pa.DataType) -> "ColumnRuns":
        """The runs of the column in another type that it has or had."""
        if self.values.type == arrow_type:
            return self
        return ColumnRuns(in_type(self.values, arrow_type), self.ends)

    def expand(self, by_run: npt.NDArray[np.bool_], start: int, stop: int) -> npt.NDArray[np.bool_]:
        """What holds for runs as what holds for the rows start <= ordinal < stop."""
        first = int(np.searchsorted(self.ends, start, "right"))
        last = int(np.searchsorted(self.ends, stop, "left")) + 1
        edges = np.minimum(self.ends[first:last], stop)
        return np.repeat(by_run[first:last], np.diff(edges, prepend=start))


def runs_of(blocks: Sequence[Block], column_type: DataType) -> ColumnRuns | None:
    """The runs of all blocks of a column, None where not all of it is runs without NULLs.

    Raises CorruptionError: a block's content contradicts its header.
    """
    is_bool = column_type.kind is Kind.BOOL
    kind = np.dtype(np.uint8) if is_bool else column_type.numpy
    if kind is None or not blocks:
        return None
    parts = []
    for one in blocks:
        decode_runs = one.encoding.decode_runs
        if decode_runs is None or one.validity is not None:
            return None
        parts.append(decode_runs(one.payload, one.rows, kind))
    values = np.concatenate([values for values, _ in parts])
    lengths = np.concatenate([lengths for _, lengths in parts])
    if is_bool:
        values = values.astype(np.bool_)
    else:
        check_range(values.view(np.uint8), column_type)
    return ColumnRuns(from_fixed(values, column_type), np.cumsum(lengths, dtype=np.int64))
