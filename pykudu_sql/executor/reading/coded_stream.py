"""A stream with columns of codes beside its own: where each text of a column stands among words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.errors import InternalError
from pykudu_sql.storage.scan.scan_token import batches_of


@dataclass(frozen=True, slots=True)
class Coding:
    """A column of codes.

    `column`: place of the column that has the texts; `name`: of the column of codes; `words`: what
    they count from 0, all texts of the column among them.
    """

    column: int
    name: str
    words: pa.Array

    @property
    def field(self) -> pa.Field:
        """In the schema of a stream."""
        return pa.field(self.name, code_type(len(self.words)))


class CodedStream:
    """A `RowStream` of the columns of a scan and, behind them, codes."""

    def __init__(self, scan: StreamedScan, codings: Sequence[Coding]) -> None:
        """Nothing is read yet."""
        self.row_count = scan.row_count
        self.schema = pa.schema([*scan.schema, *(coding.field for coding in codings)])
        self._scan = scan
        self._codings = codings

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new scan; see `RowStream`."""
        stored = len(self._scan.schema)
        sources = [c if c < stored else self._codings[c - stored].column for c in columns]
        read = sorted(set(sources))
        positions = [read.index(source) for source in sources]
        codings = [None if c < stored else self._codings[c - stored] for c in columns]
        schema = pa.schema([self.schema.field(c) for c in columns])
        for block in self._scan.blocks(read):
            arrays = [
                block.columns[position]
                if coding is None
                else codes_of(block.columns[position], coding.words)
                for position, coding in zip(positions, codings, strict=True)
            ]
            yield from batches_of(schema, arrays, block.length)


def code_type(words: int) -> pa.DataType:
    """The type of codes of so many words."""
    return pa.int8() if words <= 1 << 7 else pa.int16()


def codes_of(texts: pa.Array, words: pa.Array) -> pa.Array:
    """Where each text stands among words, NULL where it is NULL; taken from its dictionary.

    Narrow codes are those that lie in the files, without a copy, where the words are the same.
    """
    kind = code_type(len(words))
    if not pa.types.is_dictionary(texts.type):
        codes = pc.index_in(texts, words).cast(kind)
    elif len(texts.dictionary) == len(words) and texts.dictionary.equals(words):
        return texts.indices.cast(kind)
    else:
        of_words = pc.index_in(texts.dictionary, words).cast(kind)
        codes = pc.take(of_words, texts.indices, boundscheck=False)
    if codes.null_count != texts.null_count:
        raise InternalError("a column has texts that its dictionaries do not have")
    return codes
