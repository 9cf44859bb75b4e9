"""Arrays and scalars over numpy's memory are those that Arrow makes itself."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types import from_buffers


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 20))
def test_flags_come_back_from_any_offset(values: list[bool], start: int) -> None:
    array = from_buffers.flags(np.array(values, np.bool_))
    assert array.equals(pa.array(values, pa.bool_()))
    assert from_buffers.flags_of(array.slice(start)).tolist() == values[start:]


def test_integers_are_of_the_type_of_the_numbers() -> None:
    for kind in ("i1", "i4", "i8", "u4", "u8"):
        numbers = np.arange(10).astype(kind)[::3]
        assert from_buffers.integers(numbers).equals(pa.array(numbers))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_texts_are_strings_of_utf8(values: list[str]) -> None:
    assert from_buffers.texts(values).equals(pa.array(values, pa.string()))
    for value in values:
        assert from_buffers.text(value).equals(pa.scalar(value, pa.string()))


def test_pandas_is_not_loaded_for_any_of_them() -> None:
    program = (
        "import sys, numpy as np;"
        "from pykudu_sql.storage.common.types import from_buffers as made;"
        "made.flags_of(made.flags(np.ones(3, bool))), made.integers(np.arange(3)), made.text('a');"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
