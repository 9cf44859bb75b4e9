"""Values that share the beginning of the one before: chains, their restarts, their bounds."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import prefix
from pykudu_sql.storage.errors import CorruptionError


def encoded(words: list[bytes]) -> np.ndarray:
    lengths = np.array([len(word) for word in words], np.uint32)
    data = np.frombuffer(b"".join(words), np.uint8)
    return np.frombuffer(prefix.encode(lengths, data, compressed=False), np.uint8)


def decoded(payload: np.ndarray, rows: int) -> list[bytes]:
    block = prefix.open_block(payload, rows, limit=1 << 20)
    lengths, data = np.empty(rows, np.uint32), np.empty(block.data_length, np.uint8)
    block.decode_into(lengths, data)
    ends = np.cumsum(lengths)
    return [data[end - size : end].tobytes() for end, size in zip(ends, lengths, strict=True)]


@pytest.mark.parametrize(
    "words",
    [
        [b"user:%04d" % number for number in range(3 * prefix.RESTART_INTERVAL + 1)],
        [b"", b"", b"a", b"", b"ab", b"abc", b"b"],
        [b"x" * (prefix.MAX_SHARED + 9)] * 5,
        [b"only"],
    ],
)
def test_words_come_back(words: list[bytes]) -> None:
    assert decoded(encoded(words), len(words)) == words


def test_what_is_shared_is_stored_once_and_again_at_each_restart() -> None:
    rows = 2 * prefix.RESTART_INTERVAL
    block = prefix.open_block(encoded([b"same"] * rows), rows, limit=4 * rows)
    assert (block.data_length, block.suffix_length) == (4 * rows, 2 * 4)


def test_a_value_shares_no_more_than_an_index_is_made_for() -> None:
    word = b"x" * (prefix.MAX_SHARED + 9)
    assert prefix.open_block(encoded([word] * 2), 2, limit=1 << 20).suffix_length == len(word) + 9


def test_a_block_of_more_bytes_than_the_limit_is_refused() -> None:
    with pytest.raises(CorruptionError, match="claims 8 bytes of values"):
        prefix.open_block(encoded([b"same", b"same"]), 2, limit=7)
