"""How the cells of a whole column stand in an array of numpy, each at its place, to be set there.

Numbers are cells of their width. Texts are views (Arrow's `string_view`): a cell of 16 bytes has
the length, and the text itself or the place of it in one of several buffers, so a changed text is
another cell and one more buffer, and no text moves. The engine reads them as fast as strings. Texts
of a dictionary are codes, and a word that is new goes to its end.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import fixed_view, pack_validity, validity
from pykudu_sql.storage.common.types.from_buffers import flags
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_applier import copied, set_cells
from pykudu_sql.storage.tablet.delta.delta_store import CellsSet, Ordinals, joined
from pykudu_sql.storage.tablet.delta.word_codes import (
    coded,
    codes_of,
    recoded,
    wide_enough,
    words_by_code,
)

Cells = npt.NDArray[Any]

_INLINE_BYTES: Final = 12
# Texts that were changed again stay where they are, until the column is patched from its base.
_MOST_BUFFERS: Final = 64
_MOST_WORDS: Final = 1 << 16


class CellForm(Protocol):
    """What cells mean, and what they refer to; never changes."""

    @property
    def size(self) -> int:
        """Bytes of what cells refer to."""

    @property
    def is_full(self) -> bool:
        """Whether no more cells should be set."""

    def with_cells(self, cells: Cells, changes: Sequence[CellsSet]) -> "tuple[Cells, CellForm]":
        """Set cells, in place unless they have to be wider; of a row that comes twice the later.

        `changes`: at least one.
        """

    def array(self, cells: Cells, valid: pa.Buffer | None) -> pa.Array:
        """The cells as Arrow has them, zero-copy but for BOOL; `valid`: None without a NULL."""


@dataclass(frozen=True, slots=True)
class FixedCells:
    """Values of a fixed width, as `fixed_view` gives them."""

    type: DataType
    size: int = 0
    is_full: bool = False

    def with_cells(self, cells: Cells, changes: Sequence[CellsSet]) -> tuple[Cells, CellForm]:
        """See `CellForm`. One change after another: to join them first would cost a half more."""
        column_type, arrow = self.type, self.type.arrow
        for ordinals, values in changes:
            set_cells(cells, ordinals, fixed_view(in_type(values, arrow), column_type))
        return cells, self

    def array(self, cells: Cells, valid: pa.Buffer | None) -> pa.Array:
        """See `CellForm`."""
        is_bool = self.type.kind is Kind.BOOL
        data = flags(cells).buffers()[1] if is_bool else pa.py_buffer(cells)
        return pa.Array.from_buffers(self.type.arrow, len(cells), [valid, data])


@dataclass(frozen=True, slots=True)
class TextViews:
    """Texts as views, shape (n, 2).

    The first word has the length and the first four bytes; the second, of texts that do not fit
    into a view, the number of a buffer and the place there. `buffers`: those that views name.
    """

    buffers: tuple[pa.Buffer, ...]

    @property
    def size(self) -> int:
        """See `CellForm`."""
        return sum(buffer.size for buffer in self.buffers)

    @property
    def is_full(self) -> bool:
        """See `CellForm`."""
        return len(self.buffers) > _MOST_BUFFERS

    def with_cells(self, cells: Cells, changes: Sequence[CellsSet]) -> tuple[Cells, CellForm]:
        """See `CellForm`."""
        ordinals, values = joined(changes)
        views, added = _views_of(values)
        if added:
            views = _behind(self.buffers, views)
        set_cells(cells, ordinals, views)
        return cells, TextViews((*self.buffers, *added))

    def array(self, cells: Cells, valid: pa.Buffer | None) -> pa.Array:
        """See `CellForm`."""
        buffers = [valid, pa.py_buffer(cells), *self.buffers]
        return pa.Array.from_buffers(pa.string_view(), len(cells), buffers)


@dataclass(frozen=True, slots=True)
class WordCodes:
    """Codes of the words of a dictionary."""

    words: pa.Array

    @property
    def size(self) -> int:
        """See `CellForm`."""
        size: int = self.words.nbytes
        return size

    @property
    def is_full(self) -> bool:
        """See `CellForm`."""
        return len(self.words) > _MOST_WORDS

    def with_cells(self, cells: Cells, changes: Sequence[CellsSet]) -> tuple[Cells, CellForm]:
        """See `CellForm`."""
        coded_values = [v for _, v in changes if pa.types.is_dictionary(v.type)]
        if len(coded_values) == len(changes):
            codes, words = recoded(self.words, coded_values)
        else:
            changes = [joined(changes)]
            changed = coded(self.words, changes[0][1])
            codes, words = [codes_of(changed)], changed.dictionary
        cells = wide_enough(cells, words)
        for (ordinals, _), each in zip(changes, codes, strict=True):
            cells[ordinals] = each
        return cells, WordCodes(words)

    def array(self, cells: Cells, valid: pa.Buffer | None) -> pa.Array:
        """See `CellForm`."""
        return words_by_code(cells, self.words, valid)


def form_of(values: pa.Array, column_type: DataType) -> tuple[Cells, CellForm] | None:
    """The cells of a column, in memory that nobody else has, and their form; None without one.

    Binaries have none. `values`: at least one; cells of NULLs are any of their form.
    """
    if pa.types.is_dictionary(values.type):
        return copied(codes_of(values)), WordCodes(values.dictionary)
    if column_type.is_text:
        views, buffers = _views_of(values)
        return views if views.flags.writeable else copied(views), TextViews(buffers)
    if column_type.is_variable:
        return None
    cells = fixed_view(in_type(values, column_type.arrow), column_type)
    return copied(cells), FixedCells(column_type)


def views_at(array: pa.Array, ordinals: Ordinals) -> pa.Array:
    """Some cells of an array of views."""
    _, data, *buffers = array.buffers()
    views = np.frombuffer(data, "<u8", 2 * len(array)).reshape(-1, 2).take(ordinals, axis=0)
    valid = validity(array)
    some_valid = None if valid is None else pack_validity(valid[ordinals])
    return TextViews(tuple(buffers)).array(views, some_valid)


def _behind(buffers: Sequence[pa.Buffer], views: Cells) -> Cells:
    """Views whose own buffers stand behind others; in place where nobody else has them."""
    if not buffers:
        return views
    if not views.flags.writeable:
        views = views.copy()
    parts = views.view("<i4")
    numbers = parts[:, 2]
    np.add(numbers, len(buffers), out=numbers, where=parts[:, 0] > _INLINE_BYTES)
    return views


def _views_of(texts: pa.Array) -> tuple[Cells, tuple[pa.Buffer, ...]]:
    """The views of texts, that of a NULL an empty one, and the buffers they name.

    Views that others may have are read-only.
    """
    views = texts.cast(pa.string_view())
    _, data, *buffers = views.buffers()
    words = np.frombuffer(data, "<u8", 2 * len(views), 16 * views.offset).reshape(-1, 2)
    if texts.type == views.type:
        words.flags.writeable = False
    return words, tuple(buffers)
