"""Cutting rowsets into slices of keys: every row once, narrow rows in long slices."""

from bisect import bisect_left
from dataclasses import dataclass

from pykudu_sql.storage.tablet.maintenance.key_slices import key_slices


@dataclass(frozen=True)
class _Keys:
    """A rowset of nothing but keys."""

    keys: tuple[bytes, ...]
    stored_bytes: int
    decoded_bytes: int

    @property
    def rows(self) -> int:
        return len(self.keys)

    def sample(self, rows: int) -> list[bytes]:
        return list(self.keys[::rows])

    def lower_bound(self, key: bytes) -> int:
        return bisect_left(self.keys, key)


def _rowset(first: int, step: int, count: int, row_bytes: int, packed: int = 1) -> _Keys:
    keys = tuple((first + step * n).to_bytes(8, "big") for n in range(count))
    return _Keys(keys, count * row_bytes // packed, count * row_bytes)


def test_slices_hold_every_row_once_and_keys_do_not_cross_them() -> None:
    inputs = [_rowset(0, 3, 100_000, 20), _rowset(1, 7, 60_000, 20), _rowset(10**9, 1, 5, 20)]
    ends = [0, 0, 0]
    highest = b""
    for ranges in key_slices(inputs, 32 * 1024, 64 << 20):
        assert [start for start, _ in ranges] == ends
        ends = [stop for _, stop in ranges]
        taken = [
            key for (start, stop), one in zip(ranges, inputs, strict=True)
            for key in one.keys[start:stop]
        ]  # fmt: skip
        assert min(taken) > highest
        highest = max(taken)
    assert ends == [100_000, 60_000, 5]


def test_slices_of_wide_rows_have_fewer_rows() -> None:
    def longest(row_bytes: int) -> int:
        inputs = [_rowset(n, 4, 100_000, row_bytes) for n in range(4)]
        return max(
            sum(b - a for a, b in ranges) for ranges in key_slices(inputs, 256 * 1024, 64 << 20)
        )

    assert longest(30) > 200_000
    assert longest(1_000) < 80_000


def test_a_slice_of_rows_that_are_packed_well_is_sized_by_what_they_take_in_memory() -> None:
    inputs = [_rowset(n, 2, 20_000, 60_000, packed=200) for n in range(2)]
    for ranges in key_slices(inputs, 1 << 20, 64 << 20):
        assert sum(stop - start for start, stop in ranges) * 60_000 <= 2 * (64 << 20)
