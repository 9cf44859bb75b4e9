"""Columns as cells of CSV (RFC 4180, with the line ends of Unix), by kernels over whole columns.

Cells are quoted where they must be. NULL is an empty cell, or the text chosen for it, without
quotes; a text that is the same has them, so both come back as they were.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.writing.column_texts import (
    by_word,
    is_nested,
    is_written_text,
    joined,
    scalar_texts,
    with_bytes,
)
from pykudu_sql.files.writing.json_texts import json_texts
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How cells are written.

    Attributes:
        delimiter: between cells.
        quote: around those that need it.
        null: what NULL is.
    """

    delimiter: str
    quote: str
    null: str

    def lines(self, columns: list[pa.Array]) -> pa.Array:
        """Rows as lines, with their ends.

        Raises NotSupportedError: values of some type have no text.
        """
        *others, last = map(self._cells, columns)
        return joined(*others, joined(last, "\n"), by=self.delimiter)

    def _cells(self, column: pa.Array) -> pa.Array:
        texts = by_word(column, self._texts)
        return pc.fill_null(texts, from_buffers.text(self.null)) if texts.null_count else texts

    def _texts(self, column: pa.Array) -> pa.Array:
        if is_nested(column.type):
            texts = pc.if_else(pc.is_valid(column), json_texts(column), from_buffers.NO_TEXT)
        else:
            texts = scalar_texts(column)
        if not is_written_text(column.type) and not self._may_be_in_numbers():
            return texts
        wrong = with_bytes(texts, self._special())
        is_null = pc.equal(texts, from_buffers.text(self.null))
        if pc.any(is_null).as_py():
            wrong |= from_buffers.flags_of(pc.fill_null(is_null, from_buffers.FALSE))
        if not wrong.any():
            return texts
        mask = from_buffers.flags(wrong)
        doubled = pc.replace_substring(texts.filter(mask), self.quote, self.quote * 2)
        quoted = joined(self.quote, doubled, self.quote)
        return pc.replace_with_mask(texts, mask, quoted)

    def _may_be_in_numbers(self) -> bool:
        """Whether numbers and times may have to be quoted, too."""
        return bool(self.null) or not {self.delimiter, self.quote} <= set(",;|\t\"'")

    def _special(self) -> npt.NDArray[np.bool_]:
        table = np.zeros(256, np.bool_)
        table[[*b"\r\n", *self.delimiter.encode(), *self.quote.encode()]] = True
        return table
