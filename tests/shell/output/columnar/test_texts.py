"""Texts of columns by kernels against the texts of their values one by one."""

import datetime as dt
import json
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql import DataError
from pykudu_sql.shell.output.columnar.exports import COLUMN_EXPORTS
from pykudu_sql.shell.output.columnar.formula_guard import guard_batches
from pykudu_sql.shell.output.values import to_json, to_text

_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$|^$')
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def csv_cell(value: object) -> str:
    text = to_text(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


CELLS: dict[str, Callable[[Any], str]] = {
    "csv": csv_cell,
    "tsv": lambda value: to_text(value).translate(_ESCAPES),
    "jsonlines": lambda value: f'{{"c": {to_json(value)}}}',
}


def _double(bits: int) -> float:
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return math.nan if math.isnan(value) else value


texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from('",\n\r\t\\ \x7f\x85\xa0\u202e\u2066\u3000\x1c=+@'),
    )
)
doubles = st.one_of(
    st.floats(),
    st.integers(0, 2**64 - 1).map(_double),
    st.integers(-(10**17), 10**17).map(float),
    st.builds(lambda n, e: n * 10.0**e, st.integers(-9999, 9999), st.integers(-12, 20)),
)
TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.string(), texts),
    (pa.large_string(), texts),
    (pa.dictionary(pa.int8(), pa.string()), texts),
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), doubles),
    (pa.decimal128(38, 0), st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)),
    (
        pa.decimal128(18, 6),
        st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n).scaleb(-6)),
    ),
    (pa.decimal128(18, 9), st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-9))),
    (pa.date32(), st.dates()),
    (pa.time64("us"), st.times()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("s"), st.datetimes().map(lambda t: t.replace(microsecond=0))),
    (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    (pa.binary(), st.binary()),
    (pa.list_(pa.string()), st.lists(st.one_of(st.none(), texts))),
    (pa.map_(pa.string(), pa.int32()), st.lists(st.tuples(texts, st.integers(0, 9)), max_size=2)),
    (
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
        st.fixed_dictionaries({"a": st.integers(0, 9), "b": texts}),
    ),
    (pa.null(), st.none()),
]


@pytest.mark.parametrize(("kind", "values"), TYPES, ids=lambda value: str(value)[:24])
def test_a_column_is_written_as_its_values_are_one_by_one(
    kind: pa.DataType, values: st.SearchStrategy[Any]
) -> None:
    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.one_of(st.none(), values), min_size=1, max_size=20), st.integers(0, 2))
    def check(cells: list[Any], start: int) -> None:
        column = pa.array(cells, kind).slice(start)
        for name, cell in CELLS.items():
            null = '{"c": null}' if name == "jsonlines" else "\\N"
            expected = [null if v is None else cell(v) for v in column.to_pylist()]
            written = "".join(COLUMN_EXPORTS[name](["c"], [[column]], "\\N"))
            head = "" if name == "jsonlines" else "c\n"
            assert written == head + "".join(f"{text}\n" for text in expected)

    check()


@given(st.lists(st.one_of(st.none(), texts), min_size=1))
def test_the_guard_puts_a_quote_before_texts_that_are_formulas(cells: list[str | None]) -> None:
    formulas = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    (guarded,) = guard_batches([[pa.array(cells, pa.string())]])
    column = guarded[0]
    assert isinstance(column, pa.Array)
    assert column.to_pylist() == [
        "'" + text if text is not None and text.startswith(formulas) else text for text in cells
    ]


def test_the_guard_leaves_negative_numbers_as_they_are() -> None:
    column = pa.array([-1, 2])
    assert list(guard_batches([[column]])) == [[column]]


def test_a_json_array_is_whole_over_batches_of_no_rows() -> None:
    batches = [[pa.array(values, pa.int64())] for values in ([], [1, None], [], [3])]
    written = "".join(COLUMN_EXPORTS["json"](["c"], batches, ""))
    assert json.loads(written) == [{"c": 1}, {"c": None}, {"c": 3}]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s")], ids=str)
def test_a_time_outside_the_calendar_is_an_error_that_names_it(kind: pa.DataType) -> None:
    count = pa.array([5_000_000 * (1 if kind == pa.date32() else 86_400)])
    column = count.cast(pa.int32()).cast(kind) if kind == pa.date32() else count.cast(kind)
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        list(COLUMN_EXPORTS["csv"](["c"], [[column]], ""))
