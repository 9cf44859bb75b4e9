"""Data of Python's tools become columns by name, or the error says what could be given."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.executor.data_columns import columns_by_name, columns_of_data, is_stream
from pykudu_sql.storage.errors import InterfaceError, ProgrammingError


def test_arrays_stay_and_other_values_are_listed() -> None:
    array = pa.array([1, 2])
    columns = columns_of_data({"a": array, "b": (3, None), "c": np.array([5, 6])})
    assert columns["a"] is array
    assert columns["b"] == [3, None]
    assert columns["c"].to_pylist() == [5, 6]  # type: ignore[union-attr]
    table = pa.table({"a": array})
    assert list(columns_of_data(table)) == list(columns_of_data(table.to_batches()[0])) == ["a"]


def test_a_table_is_no_stream_and_a_reader_is() -> None:
    table = pa.table({"a": [1]})
    assert not is_stream(table) and not is_stream({"a": [1]})
    assert is_stream(table.to_reader())


def test_what_has_no_columns_is_refused() -> None:
    with pytest.raises(InterfaceError, match="cannot append an int"):
        columns_of_data(5)
    with pytest.raises(InterfaceError, match="column 'a' needs a sequence of values, not str"):
        columns_of_data({"a": "text"})
    with pytest.raises(ProgrammingError, match="column 'a' is given twice"):
        columns_by_name(["a", "a"], [[1], [2]])
