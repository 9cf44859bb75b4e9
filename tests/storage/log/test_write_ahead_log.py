"""The write-ahead log over its life: append, sync, roll, drop, reopen, replay."""

import threading
import time
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.record_log import FILE_HEADER_BYTES
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint, Mutation

DATABASE = bytes(range(16))
SMALL = 512


def open_log(env: Env, after: int = 0) -> WriteAheadLog:
    return WriteAheadLog.open(env, "/wal", DATABASE, segment_bytes=SMALL, after=after)


def fill(log: WriteAheadLog, count: int) -> dict[int, bytes]:
    """Append records until there are several segments; what was appended by sequence."""
    records = {}
    for _ in range(count):
        payload = b"payload of %d " % log.last_sequence * 3
        records[log.append(payload)] = payload
    return records


def test_the_first_sequence_ever_is_one() -> None:
    log = open_log(MemoryEnv())
    assert (log.last_sequence, log.durable_sequence) == (0, 0)
    assert log.append(b"x") == 1
    assert (log.last_sequence, log.durable_sequence) == (1, 0)
    log.sync(1)
    assert log.durable_sequence == 1


def test_records_are_replayed_over_segments_and_reopenings() -> None:
    env = MemoryEnv()
    expected: dict[int, bytes] = {}
    for _ in range(3):
        log = open_log(env)
        expected |= fill(log, 25)
        log.close()
    assert len(env.list_dir("/wal")) > 5
    log = open_log(env)
    for after in (0, 1, 20, 40, log.last_sequence):
        wanted = {s: p for s, p in expected.items() if s > after}
        assert dict(log.replay(after)) == wanted
        assert dict(WriteAheadLog.read(env, "/wal", DATABASE, after=after)) == wanted
    sequences = [sequence for sequence, _ in log.replay(0)]
    assert sequences == sorted(sequences)


def test_a_log_that_was_not_closed_goes_on_where_it_stopped() -> None:
    env = MemoryEnv()
    first = open_log(env)
    expected = fill(first, 10)
    second = open_log(env)
    assert second.durable_sequence == second.last_sequence == first.last_sequence
    assert second.append(b"next") == first.last_sequence + 1
    assert dict(second.replay(0)) == expected | {second.last_sequence: b"next"}


def test_reading_beside_a_writer_changes_nothing() -> None:
    env = MemoryEnv()
    log = open_log(env)
    expected = fill(log, 12)
    before = {name: env.read_file(f"/wal/{name}") for name in env.list_dir("/wal")}
    assert dict(WriteAheadLog.read(env, "/wal", DATABASE)) == expected
    assert {name: env.read_file(f"/wal/{name}") for name in env.list_dir("/wal")} == before
    assert log.append(b"x") == 13


def test_segments_are_dropped_whole_and_only_when_nothing_in_them_is_needed() -> None:
    env = MemoryEnv()
    log = open_log(env)
    expected = fill(log, 40)
    for sequence in range(1, 42):
        log.drop_before(sequence)
        kept = dict(log.replay(sequence - 1))
        assert kept == {s: p for s, p in expected.items() if s >= sequence}
    log.drop_before(1000)
    assert len(env.list_dir("/wal")) == 1
    assert log.append(b"goes on") == 41
    log.close()
    assert dict(open_log(env, after=40).replay(40)) == {41: b"goes on"}


def test_a_dropped_segment_that_is_needed_is_corruption() -> None:
    env = MemoryEnv()
    log = open_log(env)
    fill(log, 40)
    log.drop_before(20)
    with pytest.raises(CorruptionError, match=r"begins at record .* but record 1 is needed"):
        log.replay(0)
    with pytest.raises(CorruptionError, match="record 1 is needed"):
        open_log(env)


def test_a_missing_segment_in_the_middle_is_corruption_only_when_it_is_needed() -> None:
    env = MemoryEnv()
    log = open_log(env)
    expected = fill(log, 40)
    env.unlink("/wal/2.log", point="t")
    with pytest.raises(CorruptionError, match=r"'/wal/2\.log' is missing"):
        open_log(env)
    assert dict(open_log(env, after=30).replay(30)) == {s: p for s, p in expected.items() if s > 30}


def test_a_segment_cut_short_before_the_last_one_is_corruption() -> None:
    env = MemoryEnv()
    fill(open_log(env), 40)
    file = env.open_writable("/wal/2.log")
    for size in (file.size - 8, FILE_HEADER_BYTES):
        file.truncate(size, point="t")
        with pytest.raises(
            CorruptionError, match=r"'/wal/2\.log' is damaged .* it ends with record"
        ):
            list(open_log(env).replay(0))


def test_a_copy_of_a_segment_under_another_number_is_corruption() -> None:
    env = MemoryEnv()
    fill(open_log(env), 40)
    last = len(env.list_dir("/wal"))
    env.create(f"/wal/{last + 1}.log", point="t").append(
        env.read_file(f"/wal/{last}.log"), point="t"
    )
    with pytest.raises(CorruptionError, match=f"it is wal log number {last}, not wal log"):
        open_log(env)


@pytest.mark.parametrize("size", [0, 1, 40, FILE_HEADER_BYTES - 1])
def test_a_crash_while_a_segment_was_made_leaves_no_trace(size: int) -> None:
    env = MemoryEnv()
    log = open_log(env)
    expected = fill(log, 30)
    last = len(env.list_dir("/wal"))
    header = env.read_file(f"/wal/{last}.log")[:size]
    env.create(f"/wal/{last + 1}.log", point="t").append(header + bytes(100), point="t")
    assert dict(WriteAheadLog.read(env, "/wal", DATABASE)) == expected
    again = open_log(env)
    assert again.append(b"next") == 31
    assert dict(again.replay(0)) == expected | {31: b"next"}


def test_a_damaged_header_with_records_behind_it_is_corruption() -> None:
    env = MemoryEnv()
    open_log(env).append(b"x")
    env.open_writable("/wal/1.log").write_at(20, b"\xff", point="t")
    with pytest.raises(CorruptionError, match="no valid log header"):
        open_log(env)


def test_an_empty_directory_where_records_are_needed_is_corruption() -> None:
    with pytest.raises(CorruptionError, match="is empty, but record 8 is needed"):
        open_log(MemoryEnv(), after=7)


def test_numbers_of_flushed_records_that_the_log_lost_are_not_used_again() -> None:
    env = MemoryEnv()
    log = open_log(env)
    expected = fill(log, 3)
    # A crash took the unsynced records 4 to 9 from the log; their rows had been flushed.
    again = open_log(env, after=9)
    assert (again.last_sequence, again.durable_sequence) == (9, 9)
    assert again.append(b"ten") == 10
    assert dict(again.replay(9)) == {10: b"ten"}
    again.drop_before(10)
    assert dict(open_log(env, after=9).replay(9)) == {10: b"ten"}
    assert expected


def test_other_names_in_the_directory_are_left_alone() -> None:
    env = MemoryEnv()
    env.make_dir("/wal")
    env.create("/wal/notes.txt", point="t").append(b"mine", point="t")
    log = open_log(env)
    fill(log, 20)
    log.drop_before(20)
    assert env.read_file("/wal/notes.txt") == b"mine"


def test_only_appended_records_can_be_synced() -> None:
    log = open_log(MemoryEnv())
    with pytest.raises(ValueError, match="never appended"):
        log.sync(1)


def test_a_record_appended_while_a_sync_runs_does_not_count_as_durable() -> None:
    def append_once(point: FaultPoint) -> FaultAction:
        if point.point == "wal.sync" and log.last_sequence == 1:
            log.append(b"late")
        return None

    log = open_log(FaultEnv(MemoryEnv(), append_once))
    log.sync(log.append(b"first"))
    assert (log.last_sequence, log.durable_sequence) == (2, 1)


def test_one_sync_serves_all_who_wait_and_loses_nobody(tmp_path: Path) -> None:
    syncs: list[FaultPoint] = []

    def count(point: FaultPoint) -> FaultAction:
        if point.operation is Mutation.SYNC and point.point == "wal.sync":
            syncs.append(point)
            time.sleep(0.001)  # a disk's sync; one in memory is over before others append
        return None

    env = FaultEnv(LocalEnv(), count)
    directory = str(tmp_path / "wal")
    log = WriteAheadLog.open(env, directory, DATABASE, segment_bytes=8192)
    commit_lock = threading.Lock()
    committed: list[tuple[int, bytes]] = []
    not_durable: list[int] = []
    ready = threading.Barrier(8)

    def commit(worker: int) -> None:
        ready.wait()
        for i in range(60):
            payload = b"%d of %d" % (i, worker)
            with commit_lock:
                sequence = log.append(payload)
            log.sync(sequence)
            if log.durable_sequence < sequence:
                not_durable.append(sequence)
            committed.append((sequence, payload))

    threads = [threading.Thread(target=commit, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not_durable == []
    assert len(syncs) < len(committed) == 480
    assert sorted(committed) == list(log.replay(0))
    log.close()
    assert sorted(committed) == list(WriteAheadLog.read(LocalEnv(), directory, DATABASE))
