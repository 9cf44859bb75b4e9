"""A decoded column as codes and words, so that a filter asks each word once and compares codes.

Texts of a dictionary are decoded so. Integers that are close together are also kept so once they
are asked for again: the discounts of a price list lie within 11 numbers, its dates within 2,500,
and a filter over them reads one or two bytes a row from memory instead of four or eight. Their
words are all integers between the least and the greatest, ascending (every hundredth, where
decimals have nothing behind the point), and a code is the place of its word: frame-of-reference
coding (Lemire and Boytsov, "Decoding billions of integers per second through vectorization", 2015)
with one frame for a whole column.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.decoded.word_test import WordTest
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.predicate.predicate_eval import have_words, is_true
from pykudu_sql.storage.common.types.arrays import fixed_view, from_fixed, validity
from pykudu_sql.storage.common.types.from_buffers import numbers_of
from pykudu_sql.storage.common.types.types import DataType, Kind

Mask = npt.NDArray[np.bool_]

_CODES = (np.dtype(np.uint8), np.dtype(np.uint16))
_SAMPLE = 1024


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """Rows of a column.

    Attributes:
        type: of the column.
        codes: the place of each cell among the words, any code where it is NULL, shape (rows,).
        words: at least the values that occur, none of them NULL.
        valid: False where a cell is NULL, bool[rows]; None when none is.
        test: of predicates over the words.
    """

    type: DataType
    codes: npt.NDArray[Any]
    words: pa.Array
    valid: Mask | None
    test: WordTest

    @property
    def nbytes(self) -> int:
        """Memory of it."""
        valid = 0 if self.valid is None else self.valid.nbytes
        return self.codes.nbytes + int(self.words.nbytes) + valid

    def slice(self, start: int, stop: int) -> "CodedColumn":
        """The rows start <= place < stop, no copy."""
        valid = None if self.valid is None else self.valid[start:stop]
        return replace(self, codes=self.codes[start:stop], valid=valid)

    def matches(self, predicate: Predicate, column_id: int) -> Mask:
        """Which rows a predicate over this column alone holds for."""
        words = self.test.matches(predicate, column_id, self.words, self.type)
        mask = have_words(self.codes, words)
        if self.valid is not None:
            mask &= self.valid
            if is_true(predicate, {column_id: None}):
                mask |= ~self.valid
        return mask


def coded_words(array: pa.DictionaryArray, column_type: DataType, test: WordTest) -> CodedColumn:
    """A decoded column of texts in codes. `test`: of its dictionary."""
    codes = numbers_of(array.indices)
    return CodedColumn(column_type, codes, array.dictionary, validity(array), test)


def coded_integers(array: pa.Array, column_type: DataType, zone_map: ZoneMap) -> CodedColumn | None:
    """A decoded column of integers in codes; None where they have no narrower ones.

    `zone_map`: of the column; no value lies outside its bounds.
    """
    if column_type.integer_range is None or column_type.width > np.dtype(np.int64).itemsize:
        return None
    low, high = zone_map.column_stats.min, zone_map.column_stats.max
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    unit = 10**column_type.scale if column_type.kind is Kind.DECIMAL else 1
    if (high - low) // unit > np.iinfo(_CODES[-1]).max:
        return None
    numbers = fixed_view(array, column_type)
    step, multiples = _steps(numbers - numbers.dtype.type(low), unit)
    for kind in _CODES:
        if kind.itemsize < column_type.width and (high - low) // step <= np.iinfo(kind).max:
            codes = multiples.astype(kind)
            # Of its own steps `arange` counts as doubles do, which may be one too few.
            places = np.arange((high - low) // step + 1, dtype=numbers.dtype)
            words = from_fixed(places * numbers.dtype.type(step) + low, column_type)
            return CodedColumn(column_type, codes, words, validity(array), WordTest())
    return None


def _steps(distances: npt.NDArray[Any], unit: int) -> tuple[int, npt.NDArray[Any]]:
    """A number that divides all distances, and how often: the unit where decimals have no digit
    behind the point, as amounts often have none."""
    if unit > 1 and not np.any(distances[:_SAMPLE] % unit):
        multiples = distances // unit
        if np.array_equal(multiples * unit, distances):
            return unit, multiples
    return 1, distances
