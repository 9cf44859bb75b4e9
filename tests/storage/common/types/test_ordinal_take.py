"""Values at positions are those that Arrow's `take` gives, by whichever way they are copied."""

import datetime as dt
from decimal import Decimal
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types import compute
from pykudu_sql.storage.common.types.ordinal_take import ordinals_of_spans, take_ordinals

NUMBERS = list(range(-50, 50))
WORDS = pa.array([f"w{n}" for n in NUMBERS])
ARRAYS = [
    *(pa.array(NUMBERS, kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *(pa.array(np.array(NUMBERS, kind)) for kind in (np.float32, np.float64)),
    pa.array([None, *NUMBERS[1:]], pa.int64()),
    pa.array([dt.date(2026, 1, 1)] * 50 + [dt.date(1999, 1, 1)] * 50),
    pa.array(NUMBERS, pa.timestamp("us")),
    pa.array(NUMBERS, pa.timestamp("us", "UTC")),
    *(
        pa.array([Decimal(n) / 4 for n in NUMBERS], kind)
        for kind in (pa.decimal32(6, 2), pa.decimal64(12, 2), pa.decimal128(30, 2))
    ),
    pa.array([n % 3 == 0 for n in NUMBERS]),
    WORDS,
    WORDS.dictionary_encode(),
    pa.array([None, "", "\N{LATIN SMALL LETTER E WITH ACUTE}" * 9] * 33 + ["x"]),
    pa.array([None, "a", ""] * 33 + ["x"]).dictionary_encode(),
    pa.array([b"", b"\0\xff", b"abc"] * 33 + [b"x"]),
    pa.array([""] * 100),
    pa.nulls(100),
]


@pytest.mark.parametrize("values", ARRAYS, ids=lambda values: str(values.type))
def test_values_at_positions_are_those_of_arrow(values: pa.Array) -> None:
    for part in (values, values.slice(7, 60)):
        for count in (0, 1, 31, 37, 5000):
            ordinals = np.random.default_rng(count).integers(0, len(part), count)
            taken = take_ordinals(part, ordinals)
            taken.validate(full=True)
            assert taken.equals(part.take(pa.array(ordinals)))


def test_positions_with_a_stride_are_read_as_they_are() -> None:
    ordinals = np.arange(20)[::4]
    assert take_ordinals(pa.array(NUMBERS), ordinals).to_pylist() == [-50, -46, -42, -38, -34]
    assert take_ordinals(WORDS, ordinals).to_pylist() == ["w-50", "w-46", "w-42", "w-38", "w-34"]


def test_few_numbers_need_no_kernel_which_would_give_the_interpreter_away() -> None:
    with patch.object(compute, "pick", side_effect=AssertionError):
        for values in ARRAYS[:6]:
            assert len(take_ordinals(values, np.arange(50, dtype=np.int64))) == 50
        for texts in (WORDS, WORDS.dictionary_encode()):
            assert len(take_ordinals(texts, np.arange(30, dtype=np.int64))) == 30


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 5))))
def test_positions_of_spans_come_one_span_after_the_other(spans: list[tuple[int, int]]) -> None:
    starts, counts = np.array(spans, np.int64).reshape(-1, 2).T
    expected = [start + place for start, count in spans for place in range(count)]
    assert ordinals_of_spans(starts, counts).tolist() == expected
