"""Texts of arrays, most of them read by Arrow and the others alone.

That all are read as `to_cell` reads them is said by `test_single_values`.
"""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.coercion.text_arrays import read_texts
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidValueError

NOON = dt.datetime(2026, 1, 31, 12)


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        (Kind.INT32, ["5", None, " +5 ", "-007"], [5, None, 5, -7]),
        (Kind.INT64, [str(2**63 - 1), "+" + "0" * 30 + "1"], [2**63 - 1, 1]),
        (Kind.DOUBLE, ["1.5", "", "1e3"][::2], [1.5, 1000.0]),
        (Kind.BOOL, ["t", "FALSE", "1", None], [True, False, True, None]),
        (Kind.DATE, ["2026-01-31", "2026-01-31 12:00:00", None], [NOON.date()] * 2 + [None]),
        (
            Kind.UNIXTIME_MICROS,
            ["2026-01-31 12", "2026-01-31T14:00 +02", "2026-01-31 12:00:00+00:00:00", None],
            [NOON, NOON, NOON, None],
        ),
    ],
)
def test_usual_and_rare_words_stand_side_by_side(
    kind: Kind, texts: list[str | None], values: list[Any]
) -> None:
    for text_type in (pa.string(), pa.large_string()):
        array = pa.array(["x", *texts], text_type).slice(1)
        assert read_texts(array, DataType(kind)).to_pylist() == values


def test_letters_of_other_rows_decide_nothing() -> None:
    array = pa.array(["0x10", "5", "0x10"]).slice(1, 1)
    assert read_texts(array, DataType(Kind.INT32)).to_pylist() == [5]


def test_a_rare_word_that_is_no_value_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="cannot read '0x10' as INT"):
        read_texts(pa.array(["5", "0x10"]), DataType(Kind.INT32))


def test_no_texts_are_no_values() -> None:
    assert len(read_texts(pa.array([], pa.string()), DataType(Kind.INT32))) == 0
