"""Following logs that somebody else writes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.manifest_tail import ManifestTail
from pykudu_sql.storage.log.wal_tail import WalTail
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog

DATABASE = bytes(range(16))
SEGMENT = 300


def open_log(env: MemoryEnv, after: int = 0) -> WriteAheadLog:
    return WriteAheadLog.open(env, "/wal", DATABASE, segment_bytes=SEGMENT, after=after)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["append", "long", "sync", "reopen", "read"]), max_size=60))
def test_a_tail_reads_each_record_once_across_segments(steps: list[str]) -> None:
    env = MemoryEnv()
    log = open_log(env)
    tail = WalTail(env, "/wal", DATABASE, 0)
    written: list[tuple[int, bytes]] = []
    read: list[tuple[int, bytes]] = []
    for step in steps:
        match step:
            case "append" | "long":
                payload = f"{step} {len(written)}".encode() * (40 if step == "long" else 1)
                written.append((log.append(payload), payload))
            case "sync":
                log.sync(log.last_sequence)
            case "reopen":
                log.close()
                log = open_log(env)
            case "read":
                grown = tail.has_grown()
                fresh = list(tail.read())
                read += fresh
                assert grown or not fresh
                assert read == written
                assert list(tail.read()) == []
    assert read + list(tail.read()) == written


def test_a_tail_begins_behind_what_is_not_needed_any_more() -> None:
    env = MemoryEnv()
    log = open_log(env)
    for number in range(40):
        log.append(f"record {number}".encode())
    log.sync(log.last_sequence)
    log.drop_before(20)
    tail = WalTail(env, "/wal", DATABASE, 20)
    assert [sequence for sequence, _ in tail.read()] == list(range(21, 41))
    log.append(b"more")
    assert [payload for _, payload in tail.read()] == [b"more"]


def test_a_tail_of_a_log_that_does_not_exist_yet_finds_its_first_records() -> None:
    env = MemoryEnv()
    tail = WalTail(env, "/wal", DATABASE, 0)
    assert list(tail.read()) == [] and not tail.has_grown()
    log = open_log(env)
    log.append(b"first")
    assert tail.has_grown()
    assert list(tail.read()) == [(1, b"first")]


def test_a_manifest_that_was_replaced_is_noticed_and_read_anew() -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [{"a": 1}])
    tail = ManifestTail.open(env, "/db")
    assert tail.edits == [{"a": 1}] and not tail.has_changed()
    manifest.append({"b": 2})
    assert tail.has_changed() and not tail.was_replaced()
    assert tail.read_more() == [{"b": 2}] and not tail.has_changed()
    before = tail.position
    manifest.rewrite([{"c": 3}])
    assert tail.has_changed() and tail.was_replaced()
    latest = ManifestTail.open(env, "/db")
    assert latest.edits == [{"c": 3}] and latest.position > before
    assert latest.position >= manifest.position
