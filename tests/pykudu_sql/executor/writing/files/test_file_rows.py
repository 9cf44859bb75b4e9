"""Rows of files that do not fit, shown as they came."""

import pytest

from pykudu_sql.executor.writing.files.file_rows import UnfitRow, json_row
from pykudu_sql.storage.errors import DataError


@pytest.mark.parametrize(
    ("unfit", "reject_text"),
    [
        (UnfitRow(0, DataError("x"), None, "a,b,c"), "a,b,c"),
        (UnfitRow(0, DataError("x"), {"id": b"1", "v": None}), '{"id":"1","v":null}'),
        (UnfitRow(0, DataError("x"), {"v": b"\xff\xe4"}), '{"v":"\ufffd\ufffd"}'),
    ],
)
def test_a_row_is_shown_as_it_came(unfit: UnfitRow, reject_text: str) -> None:
    assert unfit.reject_text() == reject_text


def test_values_that_json_has_not_are_texts() -> None:
    assert json_row({"v": complex(1, 2)}) == '{"v":"(1+2j)"}'
