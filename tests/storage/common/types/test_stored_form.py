"""However Arrow carries values, wrapped or encoded, they become the same cells."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.stored_form import stored_type, stored_values
from pykudu_sql.storage.common.types.type_names import parse_type

LONG = "a text that is too long to lie within a view"
COLUMNS: Sequence[tuple[str, pa.DataType, list[Any]]] = (
    ("BIGINT", pa.int64(), [1, None, 2**63 - 1, 1]),
    ("DOUBLE", pa.float64(), [0.5, None, -1.0, 0.5]),
    ("BOOLEAN", pa.bool_(), [True, None, False, True]),
    ("DATE", pa.date32(), [date(1, 1, 1), None, date(9999, 12, 31), date(1, 1, 1)]),
    ("TIMESTAMP", pa.timestamp("us"), [datetime(2020, 2, 29), None, datetime(1, 1, 1)]),
    ("DECIMAL(9,2)", pa.decimal128(9, 2), [Decimal("0.01"), None, Decimal("-7.00")]),
    ("STRING", pa.string(), ["a", None, LONG, ""]),
    ("STRING", pa.string_view(), ["a", None, LONG, ""]),
    ("BINARY", pa.binary_view(), [b"a", None, LONG.encode(), b""]),
    ("TIMESTAMP", pa.string_view(), ["2020-02-29", None, "0001-01-01 00:00:00"]),
    ("DECIMAL(9,2)", pa.string_view(), ["0.01", None, "-7"]),
)


class Named(pa.ExtensionType):
    """A type as programs declare them; Python cannot hash it."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "tests.named")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Named":
        return cls(storage)


def named(values: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(Named(values.type), values)


def coded(values: pa.Array) -> pa.Array:
    """A dictionary with NULL among its words."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), values)


def runs(values: pa.Array) -> pa.Array:
    ends = pa.array(range(1, len(values) + 1), pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, values)


def within_more(values: pa.Array) -> pa.Array:
    """Run-end encoded values with others before and behind them."""
    return runs(pa.concat_arrays([values[1:], values, values[:1]]))[len(values) - 1 :][:-1]


FORMS: Sequence[Callable[[pa.Array], pa.Array]] = (
    named,
    coded,
    runs,
    within_more,
    lambda values: named(coded(values)),
    lambda values: named(runs(values)),
    lambda values: coded(named(values)),
    lambda values: runs(coded(values)),
    lambda values: pa.chunked_array([coded(values[:1]), coded(values[1:])]),
    lambda values: pa.chunked_array([named(values[:1]), named(values[1:])]),
    lambda values: pa.chunked_array([named(runs(values))]),
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "carried", "values"), COLUMNS)
def test_values_are_the_same_in_every_form(
    name: str, carried: pa.DataType, values: list[Any], form: Callable[[pa.Array], pa.Array]
) -> None:
    column_type = parse_type(name)
    array = pa.array(values, carried)
    expected = array_to_cells(coerce(pa.array(values), column_type, "x"), column_type)
    found = array_to_cells(coerce(form(array), column_type, "x"), column_type)
    assert list(found) == list(expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "carried", "values"), COLUMNS)
def test_no_chunks_are_no_values(
    name: str, carried: pa.DataType, values: list[Any], form: Callable[[pa.Array], pa.Array]
) -> None:
    kind = form(pa.array(values, carried)).type
    assert len(coerce(pa.chunked_array([], kind), parse_type(name), "x")) == 0


def test_dictionaries_may_have_more_words_than_an_index_counts() -> None:
    words = [f"{letter}{number}" for letter in "ab" for number in range(100)]
    chunks = pa.chunked_array([coded(pa.array(words[:100])), coded(pa.array(words[100:]))])
    column_type = parse_type("STRING")
    assert list(array_to_cells(coerce(chunks, column_type, "x"), column_type)) == words


def test_bytes_that_stand_for_truth_are_booleans() -> None:
    values = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, -1, None], pa.int8()))
    assert stored_type(values.type) == pa.bool_()
    assert stored_values(values).to_pylist() == [False, True, True, None]


def test_plain_values_stay_as_they_are() -> None:
    values = pa.array(["a", None])
    assert stored_values(values) is values
