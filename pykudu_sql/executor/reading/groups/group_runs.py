"""Aggregates of rows that lie in groups: one pass over the runs of rows with equal keys.

The second half of PostgreSQL's GroupAggregate, over blocks of columns in place of rows. A run of
rows becomes one group with *states*: numbers that are added up or compared, so that those of two
parts of a group make that of the whole (`merged`). A group may begin in one block and go on in the
next ones.

Sums of integers have 128 bits, as those of the engine, and are exact: NumPy adds 64 bits where the
numbers of a block are so small that no run of them can be more, and halves of them otherwise. Those
of floating-point numbers are added up in the order of the rows, in double precision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, from_fixed, plain, validity
from pykudu_sql.storage.common.types.from_buffers import integers, new_buffer, numbers_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

_HALF = 32
_LOW_HALF = (1 << _HALF) - 1
_WORD = 1 << 64
_SIGN = 1 << 63
# Sums with infinite numbers among them, or beyond the greatest number, are those of IEEE 754.
_SILENT = np.errstate(over="ignore", invalid="ignore")
_Numbers = npt.NDArray[Any]


class StateKind(StrEnum):
    """What of a group's rows a state is."""

    COUNT = "count"
    SUM = "sum"
    TOTAL = "total"
    LEAST = "least"
    GREATEST = "greatest"


@dataclass(frozen=True, slots=True)
class State:
    """One number of a group.

    `column`: of the arguments, of which it is; None counts rows.
    """

    kind: StateKind
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups in the order of their rows.

    Attributes:
        keys: an array a column, all as long.
        states: those of `GroupShape.states`; a sum as words of 64 bits, the low one first, shape
            (n, 2), all others of shape (n,).
    """

    keys: Sequence[pa.Array]
    states: Sequence[_Numbers]

    def __len__(self) -> int:
        return len(self.keys[0])

    def key(self, place: int) -> tuple[Any, ...]:
        """The cells of the key of one group."""
        return tuple([each[place].as_py() for each in self.keys])

    def but_last(self) -> "Groups":
        """All groups but the last one."""
        return Groups([each[:-1] for each in self.keys], [each[:-1] for each in self.states])


@dataclass(frozen=True, slots=True)
class GroupShape:
    """Which columns of a block are keys, and what is computed of the others.

    Attributes:
        keys: the columns that are first in a block.
        arguments: those behind them; numbers of up to 8 bytes, unless they are only counted.
        states: of each group.
    """

    keys: tuple[ColumnSchema, ...]
    arguments: tuple[ColumnSchema, ...]
    states: tuple[State, ...]

    @_SILENT
    def groups_of(self, block: RowBlock) -> Groups:
        """The groups of a block of one row or more."""
        keys, arguments = block.columns[: len(self.keys)], block.columns[len(self.keys) :]
        columns = zip(keys, self.keys, strict=True)
        starts = _run_starts([each for column in columns for each in _comparable(*column)])
        counts = np.diff(starts, append=block.length)
        computed: dict[State, _Numbers] = {State(StateKind.COUNT): counts}
        for place, (column, cells) in enumerate(zip(self.arguments, arguments, strict=True)):
            valid = validity(cells)
            computed[State(StateKind.COUNT, place)] = (
                counts if valid is None else _added(valid.astype(np.int64), starts)
            )
            for state in self.states:
                if state.column == place and state.kind is not StateKind.COUNT:
                    values = _filled(fixed_view(cells, column.type), valid, state.kind)
                    if state.kind is StateKind.SUM:
                        is_narrow = _fits(values, column.type, int(counts.max()))
                        computed[state] = _summed(values, starts, is_narrow)
                    else:
                        computed[state] = _reduced(values, starts, state.kind)
        firsts = [_picked(*each, starts) for each in zip(keys, self.keys, strict=True)]
        return Groups(firsts, [computed[state] for state in self.states])

    def joined(self, parts: Iterable[Groups]) -> Iterator[Groups]:
        """The groups of blocks that follow each other, each group once."""
        waiting: Groups | None = None
        for part in parts:
            groups = part
            if waiting is not None:
                if waiting.key(-1) == groups.key(0):
                    groups, waiting = self._merged(waiting, groups), waiting.but_last()
                if len(waiting):
                    yield waiting
            waiting = groups
        if waiting is not None:
            yield waiting

    @_SILENT
    def _merged(self, before: Groups, groups: Groups) -> Groups:
        """Groups, the first of which began as the last one of those before."""
        states = []
        for state, old, new in zip(self.states, before.states, groups.states, strict=True):
            changed = new.copy()
            changed[0] = _MERGES[state.kind](old[-1], new[0])
            states.append(changed)
        return Groups(groups.keys, states)


def _run_starts(keys: Sequence[_Numbers]) -> npt.NDArray[np.int64]:
    """Where runs of equal keys begin, ascending from 0. `keys`: of one row or more."""
    differs = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        differs |= key[1:] != key[:-1]
    places = np.flatnonzero(differs)
    starts = np.empty(len(places) + 1, np.int64)
    starts[0] = 0
    np.add(places, 1, out=starts[1:])
    return starts


def _comparable(cells: pa.Array, column: ColumnSchema) -> Iterator[_Numbers]:
    """Numbers that are equal where the cells of a key are; NULL is equal to NULL."""
    valid = validity(cells)
    if valid is not None:
        yield valid
    if not column.type.is_variable:
        numbers = fixed_view(cells, column.type)
    else:
        encoded = cells if pa.types.is_dictionary(cells.type) else pc.dictionary_encode(cells)
        numbers = numbers_of(encoded.indices)
    yield numbers if valid is None else np.where(valid, numbers, numbers.dtype.type(0))


def _picked(cells: pa.Array, column: ColumnSchema, starts: npt.NDArray[np.int64]) -> pa.Array:
    """The cells of some rows."""
    if len(starts) == len(cells) and not pa.types.is_dictionary(cells.type):
        return cells
    if column.type.is_variable:
        return plain(pc.take(cells, integers(starts), boundscheck=False))
    valid = validity(cells)
    picked = fixed_view(cells, column.type).take(starts)
    return from_fixed(picked, column.type, None if valid is None else valid.take(starts))


def _filled(values: _Numbers, valid: npt.NDArray[np.bool_] | None, kind: StateKind) -> _Numbers:
    """Numbers with such in place of NULL as change no state of a kind."""
    if valid is None:
        return values
    return np.where(valid, values, values.dtype.type(_neutral(values.dtype, kind)))


def _neutral(dtype: np.dtype[Any], kind: StateKind) -> float:
    """What changes no state of a kind. NaN is the greatest number, and passed over by `fmin`."""
    if kind in (StateKind.SUM, StateKind.TOTAL):
        return 0
    is_least = kind is StateKind.LEAST
    if dtype.kind == "f":
        return np.nan if is_least else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if is_least else limits.min


def _reduced(values: _Numbers, starts: npt.NDArray[np.int64], kind: StateKind) -> _Numbers:
    """The states of runs. A total begins with 0, so none is -0."""
    if kind is StateKind.TOTAL:
        totals: _Numbers = np.add.reduceat(values, starts, dtype=np.float64)
        totals += 0.0
        return totals
    states: _Numbers = _EXTREMES[kind].reduceat(values, starts)
    return states


def _added(values: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Sums of runs that fit into 64 bits."""
    if len(starts) == len(values):
        return values
    sums: npt.NDArray[np.int64] = np.add.reduceat(values, starts)
    return sums


def _fits(values: _Numbers, column_type: DataType, longest: int) -> bool:
    """Whether no sum of so many numbers at most is more than 64 bits have."""
    limits = column_type.integer_range
    assert limits is not None
    if max(-limits[0], limits[1]) * longest < _SIGN:
        return True
    return max(-int(values.min()), int(values.max())) * longest < _SIGN


def _summed(values: _Numbers, starts: npt.NDArray[np.int64], is_narrow: bool) -> _Numbers:
    """Sums of runs as words. `is_narrow`: whether 64 bits are enough for each."""
    numbers = values.astype(np.int64, copy=False)
    words = new_buffer(16 * len(starts))[1].view(np.uint64).reshape(-1, 2)
    low, high = words[:, 0], words[:, 1].view(np.int64)
    if is_narrow:
        sums = _added(numbers, starts)
        low[:] = sums.view(np.uint64)
        np.right_shift(sums, 63, out=high)
        return words
    upper, lower = _added(numbers >> _HALF, starts), _added(numbers & _LOW_HALF, starts)
    upper = upper + (lower >> _HALF)
    low[:] = (upper.view(np.uint64) << np.uint64(_HALF)) | (lower & _LOW_HALF).view(np.uint64)
    high[:] = upper >> _HALF
    return words


def _whole(words: Any) -> int:
    """The number of two words."""
    low, high = map(int, words)
    return low + (high << 64) - (high >> 63 << 128)


def _words_added(old: Any, new: Any) -> tuple[int, int]:
    total = _whole(old) + _whole(new)
    return total % _WORD, (total >> 64) % _WORD


_EXTREMES: Mapping[StateKind, np.ufunc] = MappingProxyType(
    {StateKind.LEAST: np.fmin, StateKind.GREATEST: np.maximum}
)
_MERGES: Mapping[StateKind, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        StateKind.COUNT: np.add,
        StateKind.SUM: _words_added,
        StateKind.TOTAL: np.add,
        **_EXTREMES,
    }
)
