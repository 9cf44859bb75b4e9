"""CSV and TSV: generators over batches of columns, a piece of text a batch."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.shell.output.columnar.literals import EMPTY, text, text_array
from pykudu_sql.shell.output.columnar.texts import ColumnBatches, content, texts_of

# What Python and Unicode take for white space.
_SPACE = (
    r"[\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}"
    r"\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)
_CSV_SPECIAL = rf'[",\r\n]|^{_SPACE}|{_SPACE}$|^$'
_QUOTE, _LINE_END = text('"'), text("\n")
_TSV_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def csv(names: Sequence[str], batches: ColumnBatches, null: str) -> Iterator[str]:
    """Comma separated values (RFC 4180, with the line ends of Unix).

    NULL is an empty field and the empty string is `""`, so both come back as they were.
    """
    yield ",".join(_csv_fields(text_array(names)).to_pylist()) + "\n"
    for batch in batches:
        yield _lines([_csv_fields(texts_of(column)) for column in batch], ",", null)


def tsv(names: Sequence[str], batches: ColumnBatches, null: str) -> Iterator[str]:
    """Tab separated values; tab, line ends and backslash are escaped with a backslash."""
    yield "\t".join(_tsv_fields(text_array(names)).to_pylist()) + "\n"
    for batch in batches:
        yield _lines([_tsv_fields(texts_of(column)) for column in batch], "\t", null)


def _lines(fields: Sequence[pa.Array], separator: str, null: str) -> str:
    parts: list[pa.Array | pa.Scalar] = []
    between = text(separator)
    for field in fields:
        parts += [field, between]
    parts[-1] = _LINE_END
    lines = pc.binary_join_element_wise(
        *parts, EMPTY, null_handling="replace", null_replacement=null
    )
    return content(lines).decode()


def _csv_fields(texts: pa.Array) -> pa.Array:
    if not _may_need_quotes(texts):
        return texts
    special = pc.match_substring_regex(texts, _CSV_SPECIAL)
    quote = pc.if_else(special, _QUOTE, EMPTY)
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.binary_join_element_wise(quote, doubled, quote, EMPTY)


def _may_need_quotes(texts: pa.Array) -> bool:
    """Whether a text is empty, holds a special character, or an end of it is no plain ASCII."""
    data = content(texts)
    if any(special in data for special in b'",\r\n'):
        return True
    if pc.min(pc.binary_length(texts)).as_py() == 0:
        return True
    if not data:
        return False
    octets = np.frombuffer(data, np.uint8)
    offsets = np.frombuffer(texts.buffers()[1], np.int64)
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1] - offsets[texts.offset]
    starts, stops = offsets[:-1], offsets[1:]
    filled = stops > starts
    ends = np.concatenate((octets[starts[filled]], octets[stops[filled] - 1]))
    return bool(((ends <= ord(" ")) | (ends > ord("~"))).any())


def _tsv_fields(texts: pa.Array) -> pa.Array:
    data = content(texts)
    for special, escaped in _TSV_ESCAPES:
        if special.encode() in data:
            texts = pc.replace_substring(texts, special, escaped)
    return texts
