"""Rows by bytes."""

from pykudu_sql.storage.common.row_allowance import rows_within, text_bytes


def test_rows_are_as_many_as_fit_but_one_at_least() -> None:
    assert rows_within(1 << 20, 8, 1000) == 1000
    assert rows_within(1 << 20, 60_000, 1000) == 17
    assert rows_within(1 << 20, 2 << 20, 1000) == 1
    assert rows_within(0, 0.0, 1000) == 1000


def test_texts_count_with_their_length() -> None:
    assert text_bytes([1, None, "abc", b"de", 2.5]) == 5
