"""Damage: torn tails are cut, everything else is named, and nothing false is ever read."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.log_writer import LogWriter
from pykudu_sql.storage.log.record_log import (
    FILE_HEADER_BYTES,
    RECORD_HEADER_BYTES,
    LogIdentity,
    LogKind,
)

DATABASE = bytes(range(16))
IDENTITY = LogIdentity(LogKind.WAL, 1, 1, DATABASE)
PAYLOADS = [b"a", b"second", b"x" * 40, b"12345678", b"the last"]
Records = list[tuple[int, bytes]]
ALL = list(enumerate(PAYLOADS, start=1))


def image_of(payloads: list[bytes], *, synced: bool, closed: bool = False) -> bytes:
    """The bytes of a log, each record synced before the next or none of them."""
    env = MemoryEnv()
    writer = LogWriter.create(env, "/1.log", IDENTITY)
    for payload in payloads:
        writer.append(payload)
        if synced:
            writer.sync()
    if closed:
        writer.close()
    return env.read_file("/1.log")[: writer.size]


def offsets_of(payloads: list[bytes]) -> list[int]:
    """Where each record starts, and where the last one ends."""
    offsets = [FILE_HEADER_BYTES]
    for payload in payloads:
        offsets.append(offsets[-1] + RECORD_HEADER_BYTES + -(-len(payload) // 8) * 8)
    return offsets


def read(image: bytes) -> tuple[Records, LogEnd]:
    env = MemoryEnv()
    env.create("/1.log", point="t").append(image, point="t")
    reader = LogReader.open(env, "/1.log", LogKind.WAL, 1, DATABASE)
    return list(reader.records()), reader.end


def resume_and_read(image: bytes, payload: bytes) -> Records:
    """What a log holds after it was opened for writing and one more record was appended."""
    env = MemoryEnv()
    env.create("/1.log", point="t").append(image, point="t")
    reader = LogReader.open(env, "/1.log", LogKind.WAL, 1, DATABASE)
    list(reader.records())
    LogWriter.resume(env, "/1.log", reader.identity, reader.end).append(payload)
    return list(LogReader.open(env, "/1.log", LogKind.WAL, 1, DATABASE).records())


OFFSETS = offsets_of(PAYLOADS)


@pytest.mark.parametrize("zeros_behind", [0, 4096])
def test_a_tail_torn_at_any_byte_leaves_the_whole_records_before_it(zeros_behind: int) -> None:
    image = image_of(PAYLOADS, synced=True)
    assert len(image) == OFFSETS[-1]
    for size in range(FILE_HEADER_BYTES, len(image)):
        # A cut through the middle of the log stands for a crash at that moment.
        records, end = read(image[:size] + bytes(zeros_behind))
        whole = sum(offset <= size for offset in OFFSETS[1:])
        if records != ALL[:whole]:
            # The missing bytes were zeros anyway, so the record is whole all the same.
            assert not any(image[size : OFFSETS[whole + 1]])
            assert zeros_behind
            assert records == ALL[: whole + 1]
            continue
        assert end.offset == OFFSETS[whole]
        assert end.cut == any(image[OFFSETS[whole] : size])


def test_a_torn_record_is_overwritten_and_does_not_come_back() -> None:
    image = image_of(PAYLOADS, synced=False)
    for size in range(FILE_HEADER_BYTES, len(image)):
        whole = sum(offset <= size for offset in OFFSETS[1:])
        after = resume_and_read(image[:size], b"new")
        assert after == [*ALL[:whole], (whole + 1, b"new")]


@pytest.mark.parametrize("closed", [False, True])
def test_no_flipped_bit_is_ever_read_as_data(closed: bool) -> None:
    image = image_of(PAYLOADS, synced=True, closed=closed)
    confirmed_until = OFFSETS[-1] if closed else OFFSETS[-2]
    for position in range(len(image)):
        for bit in range(8):
            damaged = bytearray(image)
            damaged[position] ^= 1 << bit
            try:
                records, end = read(bytes(damaged))
            except CorruptionError as error:
                assert "/1.log" in error.message
                assert position < confirmed_until
                assert f"at offset {max(o for o in [0, *OFFSETS] if o <= position)}" in str(error)
            else:
                assert position >= confirmed_until
                assert records == (ALL if closed else ALL[:-1])
                assert end.cut


def test_a_flipped_bit_in_the_space_ahead_costs_no_record() -> None:
    image = image_of(PAYLOADS, synced=True) + bytes(200)
    for position in range(OFFSETS[-1], len(image)):
        damaged = bytearray(image)
        damaged[position] ^= 0x10
        records, end = read(bytes(damaged))
        assert records == ALL
        assert end.cut


def test_an_unsynced_tail_that_reached_the_disk_out_of_order_is_cut() -> None:
    image = image_of(PAYLOADS, synced=False)
    for lost, (begin, end_of_record) in enumerate(pairwise(OFFSETS)):
        damaged = bytearray(image)
        damaged[begin:end_of_record] = bytes(end_of_record - begin)
        records, end = read(bytes(damaged))
        assert records == ALL[:lost]
        assert end.offset == begin
        assert end.cut == (lost < len(PAYLOADS) - 1)


def test_a_stale_record_behind_a_cut_does_not_line_up_with_new_ones() -> None:
    equal = [b"equal %d" % i for i in range(6)]
    image = bytearray(image_of(equal, synced=False))
    second = offsets_of(equal)[1]
    image[second + RECORD_HEADER_BYTES] ^= 1
    assert resume_and_read(bytes(image), b"renew 1") == [(1, b"equal 0"), (2, b"renew 1")]


def test_a_lost_record_that_a_later_one_confirms_is_corruption() -> None:
    image = image_of(PAYLOADS, synced=True)
    for begin, end_of_record in list(pairwise(OFFSETS))[:-1]:
        damaged = bytearray(image)
        damaged[begin:end_of_record] = bytes(end_of_record - begin)
        with pytest.raises(
            CorruptionError, match=f"at offset {begin}: .* safely on disk"
        ) as caught:
            read(bytes(damaged))
        assert caught.value.hint is not None


def test_swapped_records_are_found() -> None:
    equal = [b"equal %d" % i for i in range(4)]
    image = image_of(equal, synced=True)
    offsets = offsets_of(equal)
    a, b, c = offsets[1], offsets[2], offsets[3]
    with pytest.raises(CorruptionError, match=f"at offset {a}"):
        read(image[:a] + image[b:c] + image[a:b] + image[c:])


def test_a_record_left_out_or_repeated_is_found() -> None:
    equal = [b"equal %d" % i for i in range(4)]
    image = image_of(equal, synced=True)
    offsets = offsets_of(equal)
    a, b = offsets[1], offsets[2]
    # Without it, everything behind stands in the wrong place and confirms nothing.
    assert read(image[:a] + image[b:])[0] == [(1, b"equal 0")]
    assert read(image[:b] + image[a:b] + image[b:])[0] == [(1, b"equal 0"), (2, b"equal 1")]


def test_a_zeroed_page_in_the_middle_is_corruption() -> None:
    payloads = [bytes([i % 251 + 1]) * 100 for i in range(400)]
    image = bytearray(image_of(payloads, synced=True))
    for page in range(4096, len(image) - 8192, 4096):
        damaged = bytearray(image)
        damaged[page : page + 4096] = bytes(4096)
        with pytest.raises(CorruptionError):
            read(bytes(damaged))


def test_a_record_of_another_file_in_the_same_place_is_not_read() -> None:
    for other in (
        LogIdentity(LogKind.MANIFEST, 1, 1, DATABASE),
        LogIdentity(LogKind.WAL, 2, 1, DATABASE),
        LogIdentity(LogKind.WAL, 1, 1, bytes(16)),
    ):
        env = MemoryEnv()
        foreign = LogWriter.create(env, "/x.log", other)
        for payload in PAYLOADS:
            foreign.append(payload)
        body = env.read_file("/x.log")[FILE_HEADER_BYTES : foreign.size]
        records, end = read(IDENTITY.encode() + body)
        assert records == []
        assert end.cut


@pytest.mark.parametrize("distance", [8, 16, 24])
def test_a_confirming_record_is_found_wherever_the_search_reads_in_pieces(distance: int) -> None:
    header_of_next = FILE_HEADER_BYTES + (8 << 20) - distance
    length = header_of_next - FILE_HEADER_BYTES - RECORD_HEADER_BYTES
    image = bytearray(image_of([bytes(length), b"confirms"], synced=True))
    assert offsets_of([bytes(length)])[-1] == header_of_next
    image[1000] ^= 1
    with pytest.raises(CorruptionError, match="at offset 64"):
        read(bytes(image))


class HalfWritten:
    """A file whose record at `offset` is whole only from the second reading on."""

    def __init__(self, image: bytes, offset: int) -> None:
        env = MemoryEnv()
        env.create("/1.log", point="t").append(image, point="t")
        self._file = env.open_random("/1.log")
        self._offset = offset
        self.path = self._file.path
        self.size = self._file.size
        self.readings = 0

    def read(self, offset: int, length: int) -> bytes:
        data = bytearray(self._file.read(offset, length))
        if offset <= self._offset < offset + length:
            self.readings += 1
            if self.readings == 1:
                data[self._offset - offset] ^= 1
        return bytes(data)

    def close(self) -> None:
        self._file.close()


def test_a_record_met_half_written_by_a_live_writer_is_read_again() -> None:
    file = HalfWritten(image_of(PAYLOADS, synced=True), OFFSETS[2] + RECORD_HEADER_BYTES)
    assert list(LogReader(file, IDENTITY).records()) == ALL
    assert file.readings > 1


@given(st.data())
def test_random_damage_yields_a_prefix_or_a_named_error(data: st.DataObject) -> None:
    payloads = data.draw(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=8))
    image = bytearray(image_of(payloads, synced=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(image) - 1))
        garbage = data.draw(st.binary(min_size=1, max_size=40))
        image[position : position + len(garbage)] = garbage
    try:
        records, _ = read(bytes(image))
    except CorruptionError as error:
        assert "/1.log" in error.message
    else:
        assert records == list(enumerate(payloads, start=1))[: len(records)]
