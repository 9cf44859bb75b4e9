"""Text that a spreadsheet would compute, made text again.

Spreadsheets take a cell of a CSV file that begins with `=`, `+`, `-` or `@`, also behind a tab or a
carriage return, for a formula, which may run programs or send data away (OWASP, CSV injection).
A single quote in front makes them show it. Numbers stay numbers: only text can be a formula.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.shell.output.columnar.literals import EMPTY, text, text_array
from pykudu_sql.shell.output.columnar.texts import Column, ColumnBatches, is_text, texts_of

_MARK = text("'")
# The last four are the full-width forms of the first, which spreadsheets read alike.
_FORMULA = "^[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]"


def guard_names(names: Sequence[str]) -> list[str]:
    """Names of columns that no spreadsheet computes."""
    guarded: list[str] = _guard(text_array(names)).to_pylist()
    return guarded


def guard_batches(batches: ColumnBatches) -> Iterator[list[Column]]:
    """Batches whose texts no spreadsheet computes; other values are as they were."""
    for batch in batches:
        yield [_guard(texts_of(column)) if is_text(column) else column for column in batch]


def _guard(texts: pa.Array) -> pa.Array:
    quote = pc.if_else(pc.match_substring_regex(texts, _FORMULA), _MARK, EMPTY)
    return pc.binary_join_element_wise(quote, texts, EMPTY)
