"""Texts of the program are those that Arrow makes of Python's strings."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.shell.output.columnar.literals import (
    EMPTY,
    FALSE,
    TEXT,
    flags,
    number,
    text,
    text_array,
)


@pytest.mark.parametrize(
    "values", [[], [""], [None], ["a", None, "", "ä€😀\0", None], [str(n) for n in range(100)]]
)
def test_texts_are_arrows(values: list[str | None]) -> None:
    texts = text_array(values)
    texts.validate(full=True)
    assert texts.equals(pa.array(values, TEXT))


def test_a_text_is_a_scalar() -> None:
    assert text("a").equals(pa.scalar("a", TEXT))
    assert EMPTY.as_py() == ""


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        text("\ud800")


def test_numbers_and_flags_are_arrows() -> None:
    assert number(5).equals(pa.scalar(5))
    assert number(0.5).equals(pa.scalar(0.5))
    assert FALSE.as_py() is False
    values = np.arange(20) % 3 == 0
    assert flags(values).equals(pa.array(values))
