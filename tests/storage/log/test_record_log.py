"""A log gives back what was appended, and only that."""

import struct
import tracemalloc
from pathlib import Path

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.errors import (
    CorruptionError,
    FormatVersionError,
    InternalError,
    ValueTooLargeError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.log_reader import LogReader
from pykudu_sql.storage.log.log_writer import LogWriter
from pykudu_sql.storage.log.record_log import (
    FILE_HEADER_BYTES,
    FORMAT_VERSION,
    RECORD_HEADER_BYTES,
    LogIdentity,
    LogKind,
)

DATABASE = bytes(range(16))
IDENTITY = LogIdentity(LogKind.WAL, 3, 11, DATABASE)


def new_log() -> tuple[MemoryEnv, LogWriter]:
    env = MemoryEnv()
    return env, LogWriter.create(env, "/3.log", IDENTITY)


def read_back(env: MemoryEnv) -> tuple[list[tuple[int, bytes]], LogReader]:
    reader = LogReader.open(env, "/3.log", LogKind.WAL, 3, DATABASE)
    return list(reader.records()), reader


def overwrite(env: MemoryEnv, offset: int, data: bytes) -> None:
    env.open_writable("/3.log").write_at(offset, data, point="t")


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=30), st.booleans())
def test_payloads_come_back_in_order_with_contiguous_sequences(
    payloads: list[bytes], closed: bool
) -> None:
    env, writer = new_log()
    for payload in payloads:
        writer.append(payload)
    if closed:
        writer.close()
    records, reader = read_back(env)
    assert records == list(enumerate(payloads, start=11))
    assert not reader.end.cut
    assert reader.end.offset % 8 == 0
    assert reader.end.confirmed == (closed or not payloads)


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1, 1 << 20, (1 << 20) + 7, 3 << 20])
def test_payloads_longer_than_the_space_ahead_and_the_window_come_back(size: int) -> None:
    env, writer = new_log()
    payloads = [b"small", bytes(range(256)) * (size // 256) + b"x" * (size % 256), b"tail"]
    for payload in payloads:
        writer.append(payload)
    assert [payload for _, payload in read_back(env)[0]] == payloads


@pytest.mark.parametrize("size", [(1 << 20) + rest for rest in range(-1, 9)])
def test_a_payload_that_is_written_by_itself_has_the_bytes_of_one_that_is_not(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for least_large in (1 << 20, 1 << 30):
        monkeypatch.setattr("pykudu_sql.storage.log.log_writer._LARGE_BYTES", least_large)
        env, writer = new_log()
        for payload in (b"before", bytes(range(256)) * (size // 256) + bytes(size % 256), b"after"):
            writer.append(payload)
        images.append(env.read_file("/3.log"))
    assert images[0] == images[1]


def test_a_large_payload_is_appended_without_a_copy(tmp_path: Path) -> None:
    writer = LogWriter.create(LocalEnv(), str(tmp_path / "3.log"), IDENTITY)
    payload = bytes(8 << 20)
    tracemalloc.start()
    writer.append(payload)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    writer.close()
    assert peak < 1 << 20


def test_a_writer_resumes_where_the_reader_stopped() -> None:
    env, writer = new_log()
    for round_number in range(4):
        writer.append(b"round %d" % round_number)
        writer.close()
        writer.close()
        _, reader = read_back(env)
        writer = LogWriter.resume(env, "/3.log", reader.identity, reader.end)
    records, _ = read_back(env)
    assert [payload for _, payload in records] == [b"round %d" % i for i in range(4)]
    assert [sequence for sequence, _ in records] == [11, 13, 15, 17]


def test_a_clean_close_gives_the_space_ahead_back_and_confirms_once() -> None:
    env, writer = new_log()
    writer.append(b"12345678")
    assert env.open_random("/3.log").size == 1 << 16
    writer.close()
    size = FILE_HEADER_BYTES + RECORD_HEADER_BYTES + 8 + RECORD_HEADER_BYTES
    assert env.open_random("/3.log").size == size
    _, reader = read_back(env)
    LogWriter.resume(env, "/3.log", reader.identity, reader.end).close()
    assert env.open_random("/3.log").size == size


def test_a_payload_must_have_a_size_between_one_byte_and_one_gibibyte() -> None:
    env, writer = new_log()
    with pytest.raises(ValueError, match="needs a payload"):
        writer.append(b"")
    with pytest.raises(ValueTooLargeError, match="over the limit of 1073741824 bytes"):
        writer.append(bytes((1 << 30) + 1))
    writer.append(b"still usable")
    assert read_back(env)[0] == [(11, b"still usable")]


def test_the_end_is_known_only_after_reading_to_it() -> None:
    env, writer = new_log()
    writer.append(b"x")
    reader = LogReader.open(env, "/3.log", LogKind.WAL, 3, DATABASE)
    with pytest.raises(InternalError, match="not read to its end"):
        _ = reader.end


@pytest.mark.parametrize(
    ("kind", "number", "database_id", "message"),
    [
        (LogKind.MANIFEST, 3, DATABASE, "not manifest log number 3"),
        (LogKind.WAL, 4, DATABASE, "not wal log number 4"),
        (LogKind.WAL, 3, bytes(16), "belongs to database 00010203-0405"),
    ],
)
def test_a_log_in_the_wrong_place_is_refused(
    kind: LogKind, number: int, database_id: bytes, message: str
) -> None:
    env, _ = new_log()
    with pytest.raises(CorruptionError, match=message):
        LogReader.open(env, "/3.log", kind, number, database_id)


def test_a_newer_format_is_refused_with_both_versions() -> None:
    env, _ = new_log()
    header = bytearray(IDENTITY.encode())
    struct.pack_into("<I", header, 8, 7)
    struct.pack_into("<I", header, 60, google_crc32c.value(bytes(header[:60])))
    overwrite(env, 0, bytes(header))
    with pytest.raises(FormatVersionError, match=f"version 7; .* up to {FORMAT_VERSION}"):
        LogReader.open(env, "/3.log", LogKind.WAL, 3, DATABASE)


def test_a_log_of_an_unknown_kind_is_refused() -> None:
    env, _ = new_log()
    header = bytearray(IDENTITY.encode())
    header[12:20] = b"other\xff\0\0"
    struct.pack_into("<I", header, 60, google_crc32c.value(bytes(header[:60])))
    overwrite(env, 0, bytes(header))
    with pytest.raises(CorruptionError, match="unknown kind"):
        LogReader.open(env, "/3.log", LogKind.WAL, 3, DATABASE)


@pytest.mark.parametrize("size", [0, 1, FILE_HEADER_BYTES - 1])
def test_a_file_without_a_whole_header_is_corruption(size: int) -> None:
    env, _ = new_log()
    env.open_writable("/3.log").truncate(size, point="t")
    with pytest.raises(CorruptionError, match="no valid log header"):
        LogReader.open(env, "/3.log", LogKind.WAL, 3, DATABASE)


def test_a_length_that_claims_gigabytes_takes_no_memory() -> None:
    env, writer = new_log()
    writer.append(b"payload")
    overwrite(env, FILE_HEADER_BYTES, struct.pack("<I", 0xFFFFFFF0))
    records, reader = read_back(env)
    assert records == []
    assert reader.end.cut
