"""A stream with columns of codes beside its own: where each text of a column stands among words."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import filled_numbers, plain
from pykudu_sql.storage.common.types.from_buffers import integers, new_buffer, numbers_of
from pykudu_sql.storage.errors import InternalError
from pykudu_sql.storage.scan.scan_token import batches_of

_MOST_COMBINATIONS = (1 << 7) - 1


@dataclass(frozen=True, slots=True)
class Values:
    """The values that codes of a column count from 0: its words, or a function's values of them.

    Attributes:
        words: the texts of the column, and perhaps others; distinct, NULL not among them.
        distinct: the values, NULL not among them.
        codes: of the value of each word, then of NULL; None where the values are the words.
    """

    words: pa.Array
    distinct: pa.Array
    codes: pa.Array | None = None

    @classmethod
    def of_function(cls, words: pa.Array, values: pa.Array) -> "Values":
        """Those of a function. `values`: of each word, then of NULL."""
        distinct = pc.unique(values).drop_null()
        codes = pc.index_in(values, distinct).cast(code_type(len(distinct)))
        return cls(words, distinct, codes)

    def codes_of(self, texts: pa.Array) -> pa.Array:
        """The code of each text's value, NULL where that is NULL."""
        places, codes = codes_of(texts, self.words), self.codes
        if codes is None:
            return places
        if places.null_count:
            places = pc.fill_null(places.cast(pa.int16()), len(self.words))
        else:
            codes = codes.slice(0, len(self.words))
        if not codes.null_count:  # Arrow takes six times as long where there are bits of validity
            codes = integers(numbers_of(codes))
        return pc.take(codes, places, boundscheck=False)


@dataclass(frozen=True, slots=True)
class Coding:
    """A column of codes, of one column of texts or of several together.

    `columns`: indices of those that have the texts; `name`: of the column of codes; `values`: of
    each of them. Codes of one column count its values from 0, NULL for NULL; those of several count
    what `combinations` gives.
    """

    columns: tuple[int, ...]
    name: str
    values: tuple[Values, ...]

    @property
    def field(self) -> pa.Field:
        """In the schema of a stream."""
        one = len(self.values) == 1
        count = len(self.values[0].distinct) if one else _combinations(self.values)
        return pa.field(self.name, code_type(count))

    def codes(self, texts: Sequence[pa.Array]) -> pa.Array:
        """The codes of rows, of whose columns the texts are."""
        codes = [each.codes_of(column) for each, column in zip(self.values, texts, strict=True)]
        if len(codes) == 1:
            return codes[0]
        counts = [len(each.distinct) for each in self.values]
        numbers = [filled_numbers(*each) for each in zip(codes, counts, strict=True)]
        kind = self.field.type
        buffer, memory = new_buffer(len(numbers[0]) * kind.bit_width // 8)
        joint = memory.view(kind.to_pandas_dtype())
        joint[:] = numbers[0]
        for each, count in zip(numbers[1:], counts[1:], strict=True):
            joint *= count + 1
            joint += each
        return pa.Array.from_buffers(kind, len(joint), [None, buffer])


def combinations(values: Sequence[Values]) -> list[list[str | None]]:
    """The texts of joint codes by column: the cross product of the values, NULL included."""
    several = product(*([*each.distinct.to_pylist(), None] for each in values))
    return [list(column) for column in zip(*several, strict=True)]


def are_few_together(values: Sequence[Values]) -> bool:
    """Whether joint codes are so small that an engine needs no hash table for them."""
    return _combinations(values) <= _MOST_COMBINATIONS


def _combinations(values: Sequence[Values]) -> int:
    return prod(len(each.distinct) + 1 for each in values)


class CodedStream:
    """A `RowStream` of the columns of a scan and, behind them, codes."""

    def __init__(self, scan: StreamedScan, codings: Sequence[Coding]) -> None:
        """Nothing is read yet."""
        self.row_count = scan.row_count
        self.row_bytes = scan.row_bytes
        self.schema = pa.schema([*scan.schema, *(coding.field for coding in codings)])
        self._scan = scan
        self._codings = codings

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new scan; see `RowStream`."""
        stored = len(self._scan.schema)
        codings = [None if c < stored else self._codings[c - stored] for c in columns]
        sources = [
            (c,) if coding is None else coding.columns
            for c, coding in zip(columns, codings, strict=True)
        ]
        read = sorted({c for source in sources for c in source})
        positions = [[read.index(c) for c in source] for source in sources]
        schema = pa.schema([self.schema.field(c) for c in columns])
        for block in self._scan.blocks(read):
            columns_of_group = [
                [block.columns[position] for position in each] for each in positions
            ]
            arrays = [
                each[0] if coding is None else coding.codes(each)
                for each, coding in zip(columns_of_group, codings, strict=True)
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
        codes = pc.index_in(plain(texts), words).cast(kind)
    elif len(texts.dictionary) == len(words) and texts.dictionary.equals(words):
        indices = texts.indices
        return indices if indices.type == kind else indices.cast(kind)
    else:
        of_words = pc.index_in(texts.dictionary, words).cast(kind)
        codes = pc.take(of_words, texts.indices, boundscheck=False)
    if codes.null_count != texts.null_count:
        raise InternalError("a column has texts that its dictionaries do not have")
    return codes
