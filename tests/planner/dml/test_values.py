"""VALUES read from the text: columns converted at once are what their values are one by one."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.dml.values import Raw, column_values, read_values
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import SourceSpan, ValueOutOfRangeError

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30)
RAW = st.one_of(st.integers(-(2**31), 2**31 - 1), DECIMALS, st.floats(allow_nan=False), st.none())


def column_of(type_name: str) -> ColumnSchema:
    return ColumnSchema(0, "x", parse_type(type_name))


@pytest.mark.parametrize("type_name", ["DOUBLE", "FLOAT", "DECIMAL(38, 4)"])
@given(raw=st.one_of(st.lists(DECIMALS, min_size=1), st.lists(RAW, min_size=1)))
def test_a_column_of_numbers_is_its_values_one_by_one(type_name: str, raw: list[Raw]) -> None:
    column = column_of(type_name)
    try:
        expected = tuple(to_cell(value, column.type) for value in raw)
    except ValueOutOfRangeError:
        with pytest.raises(ValueOutOfRangeError, match="column 'x'"):
            column_values(raw, column, SourceSpan)
    else:
        assert column_values(raw, column, SourceSpan) == expected


def test_a_number_too_large_for_a_double_is_named_with_its_row() -> None:
    raw: list[Raw] = [Decimal("0.5"), Decimal("1" + "0" * 400 + ".5")]
    with pytest.raises(ValueOutOfRangeError, match="column 'x' in row 2: value 1000"):
        column_values(raw, column_of("DOUBLE"), SourceSpan)


@pytest.mark.parametrize(
    "text", ["1.5x", "1.e5x", "'a''b'c", "'a'', 'b'", "1" * 4097, "1e", "date 1", "x'0"]
)
def test_what_is_no_plain_value_is_left_to_the_parser(text: str) -> None:
    assert read_values(SourceText(f"({text}), ({text})")) is None


def test_each_value_says_where_it_stands() -> None:
    text = "VALUES (1, 'it''s, (2)'), ( -5.5 , DATE '2026-01-31'), (NULL, X'0F')"
    rows = read_values(SourceText(text, len("VALUES")))
    assert rows is not None
    spans = [rows.span_of(row, position) for row in range(3) for position in range(2)]
    assert [text[s.start : s.start + s.length] for s in spans if s is not None] == [
        "1", "'it''s, (2)'", "-5.5", "'2026-01-31'", "NULL", "0F",
    ]  # fmt: skip
