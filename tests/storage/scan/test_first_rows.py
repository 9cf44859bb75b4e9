"""No more blocks are read than a limit takes."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from pykudu_sql.storage.scan.first_rows import first_rows
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock


@pytest.mark.parametrize(
    ("limit", "lengths", "blocks_read"),
    [(None, [4, 4, 4], 3), (0, [], 0), (3, [3], 1), (4, [4], 1), (5, [4, 1], 2), (99, [4] * 3, 3)],
)
def test_blocks_are_read_until_a_limit_is_reached(
    limit: int | None, lengths: list[int], blocks_read: int
) -> None:
    read: list[int] = []

    def blocks() -> Iterator[RowBlock]:
        for number in range(3):
            read.append(number)
            yield RowBlock([pa.array([number] * 4)], 4)

    rows = list(first_rows(blocks(), limit))
    assert [block.length for block in rows] == lengths
    assert [len(block.columns[0]) for block in rows] == lengths
    assert len(read) == blocks_read
