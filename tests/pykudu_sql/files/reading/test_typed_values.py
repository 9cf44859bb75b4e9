"""Values of files that have types, as those of columns: none of them loses a part."""

import pyarrow as pa
import pytest

from pykudu_sql.files.reading.typed_values import read_values
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InvalidValueError

BEYOND = [
    ("FLOAT", pa.int64(), 2**24 + 1),
    ("FLOAT", pa.int32(), -(2**24) - 1),
    ("DOUBLE", pa.int64(), 2**53 + 1),
    ("DOUBLE", pa.int64(), -(2**63)),
    ("DOUBLE", pa.uint64(), 2**64 - 1),
]


@pytest.mark.parametrize(("name", "kind", "number"), BEYOND)
def test_integers_of_more_digits_than_floats_have_are_refused(
    name: str, kind: pa.DataType, number: int
) -> None:
    column = ColumnSchema(1, "x", parse_type(name))
    with pytest.raises(InvalidValueError, match=f"'x': {number} has more digits than {name}"):
        read_values(pa.array([1, None, number], kind), column)


@pytest.mark.parametrize(("name", "number"), [("FLOAT", 2**24), ("DOUBLE", -(2**53))])
def test_the_last_integers_that_floats_all_have_are_taken(name: str, number: int) -> None:
    column = ColumnSchema(1, "x", parse_type(name))
    assert read_values(pa.array([number, None]), column).to_pylist() == [float(number), None]
