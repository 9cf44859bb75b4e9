"""The manifest and CURRENT: edits in order, replaced atomically, damage named."""

import struct
from typing import Any

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.errors import (
    CorruptionError,
    DiskError,
    FormatVersionError,
    OperationalError,
)
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.current import Current, read_current
from pykudu_sql.storage.log.manifest import Manifest, no_database

DATABASE = bytes(range(16))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "inf" not in repr(value))
edit_lists = st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=6)


def snapshot(env: MemoryEnv) -> dict[str, bytes]:
    files = {f"/db/manifest/{name}": b"" for name in env.list_dir("/db/manifest")}
    return {path: env.read_file(path) for path in [*files, "/db/CURRENT"]}


@settings(max_examples=30)
@given(edit_lists, edit_lists, edit_lists)
def test_edits_come_back_in_order_over_appends_rewrites_and_reopenings(
    first: list[dict[str, Any]], second: list[dict[str, Any]], third: list[dict[str, Any]]
) -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, first)
    for edit in second:
        manifest.append(edit)
    manifest.close()
    manifest = Manifest.open(env, "/db")
    assert manifest.database_id == DATABASE
    assert manifest.edits == first + second
    manifest.rewrite(third)
    for edit in first:
        manifest.append(edit)
    assert Manifest.read(env, "/db") == (DATABASE, third + first)


def test_an_edit_has_one_text() -> None:
    images = []
    for edit in ({"b": 1, "a": "ä"}, {"a": "ä", "b": 1}):
        env = MemoryEnv()
        Manifest.create(env, "/db", DATABASE, [edit]).close()
        images.append(env.read_file("/db/manifest/1.log"))
    assert images[0] == images[1]
    assert '{"a":"ä","b":1}'.encode() in images[0]


def test_what_is_not_json_changes_nothing() -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [{"a": 1}])
    for bad in (float("nan"), object(), b"bytes"):
        with pytest.raises((ValueError, TypeError)):
            manifest.append({"a": bad})
        with pytest.raises((ValueError, TypeError)):
            manifest.rewrite([{"a": bad}])
    manifest.append({"b": 2})
    assert Manifest.read(env, "/db")[1] == [{"a": 1}, {"b": 2}]


def test_a_rewrite_shortens_the_log_and_leaves_one_file() -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [])
    for i in range(50):
        manifest.append({"i": i})
    before = manifest.size
    manifest.rewrite([{"all": 50}])
    assert manifest.size < before
    assert env.list_dir("/db/manifest") == ["2.log"]
    assert read_current(env, "/db") == Current(DATABASE, 2)


def test_files_that_current_does_not_name_are_removed_by_the_next_writer_only() -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [{"a": 1}])
    for name in ("7.log", "notes.txt"):
        env.create(f"/db/manifest/{name}", point="t").append(b"half written", point="t")
    before = snapshot(env)
    assert Manifest.read(env, "/db")[1] == [{"a": 1}]
    assert snapshot(env) == before
    manifest.close()
    Manifest.open(env, "/db")
    assert env.list_dir("/db/manifest") == ["1.log", "notes.txt"]


def test_no_flipped_bit_of_a_manifest_is_ever_read_as_data() -> None:
    env = MemoryEnv()
    edits = [{"a": 1}, {"b": "two"}]
    manifest = Manifest.create(env, "/db", DATABASE, edits[:1])
    manifest.append(edits[1])
    path = "/db/manifest/1.log"
    image = env.read_file(path)[: manifest.size]
    for position in range(len(image)):
        for bit in range(8):
            damaged = bytes([image[position] ^ (1 << bit)])
            file = env.open_writable(path)
            file.write_at(position, damaged, point="t")
            if position < len(image) - 24:
                with pytest.raises(CorruptionError, match=path):
                    Manifest.read(env, "/db")
            else:
                assert Manifest.read(env, "/db") == (DATABASE, edits)
            file.write_at(position, image[position : position + 1], point="t")


def test_damage_to_the_last_edit_is_found_without_a_clean_close() -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [{"a": 1}])
    damage = env.read_file("/db/manifest/1.log").index(b'{"a":1}')
    env.open_writable("/db/manifest/1.log").write_at(damage, b"[", point="t")
    with pytest.raises(CorruptionError, match="at offset 64"):
        Manifest.read(env, "/db")
    manifest.rewrite([{"b": 2}])
    damage = env.read_file("/db/manifest/2.log").index(b'{"b":2}')
    env.open_writable("/db/manifest/2.log").write_at(damage, b"[", point="t")
    with pytest.raises(CorruptionError, match="at offset 64"):
        Manifest.read(env, "/db")


def test_every_flipped_bit_and_every_cut_of_current_is_found() -> None:
    env = MemoryEnv()
    Manifest.create(env, "/db", DATABASE, [])
    image = env.read_file("/db/CURRENT")
    file = env.open_writable("/db/CURRENT")
    for position in range(len(image)):
        for bit in range(8):
            file.write_at(position, bytes([image[position] ^ (1 << bit)]), point="t")
            with pytest.raises(CorruptionError, match="/db/CURRENT"):
                Manifest.open(env, "/db")
        file.write_at(position, image[position : position + 1], point="t")
    file.append(b"x", point="t")
    for size in range(len(image) + 1, -1, -1):
        file.truncate(size, point="t")
        if size == len(image):
            assert read_current(env, "/db") == Current(DATABASE, 1)
        else:
            with pytest.raises(CorruptionError, match="/db/CURRENT"):
                read_current(env, "/db")


def rewrite_file(env: MemoryEnv, path: str, data: bytes) -> None:
    file = env.open_writable(path)
    file.truncate(0, point="t")
    file.append(data, point="t")


def test_a_database_of_a_newer_format_is_refused_with_both_versions() -> None:
    env = MemoryEnv()
    Manifest.create(env, "/db", DATABASE, [])
    text = env.read_file("/db/CURRENT").replace(b"format 1", b"format 9").rpartition(b"crc32c ")[0]
    line = f"crc32c {google_crc32c.value(text):08x}\n".encode()
    rewrite_file(env, "/db/CURRENT", text + line)
    with pytest.raises(FormatVersionError, match="format version 9; this program reads up to 1"):
        Manifest.open(env, "/db")


def test_a_manifest_of_another_database_is_refused() -> None:
    env = MemoryEnv()
    Manifest.create(env, "/db", DATABASE, [])
    Manifest.create(env, "/other", bytes(16), [])
    rewrite_file(env, "/db/manifest/1.log", env.read_file("/other/manifest/1.log"))
    with pytest.raises(CorruptionError, match="belongs to database 00000000"):
        Manifest.open(env, "/db")


def test_a_missing_manifest_is_corruption_and_a_missing_database_is_not() -> None:
    env = MemoryEnv()
    Manifest.create(env, "/db", DATABASE, []).close()
    env.unlink("/db/manifest/1.log", point="t")
    with pytest.raises(CorruptionError, match=r"manifest/1\.log' is missing"):
        Manifest.open(env, "/db")
    with pytest.raises(DiskError, match="No such file"):
        Manifest.open(env, "/nowhere")


@pytest.mark.parametrize("sign", ["wal/1.log", "tablets/x", "manifest/2.log"])
def test_no_database_is_started_over_one_that_lost_its_current(sign: str) -> None:
    env = MemoryEnv()
    env.make_dir(f"/db/{sign.partition('/')[0]}")
    env.create(f"/db/{sign}", point="t").append(b"data", point="t")
    with pytest.raises(CorruptionError, match="CURRENT' is missing, but"):
        Manifest.create(env, "/db", DATABASE, [])
    assert env.read_file(f"/db/{sign}") == b"data"


def test_a_folder_that_lost_its_current_is_told_from_one_without_a_database() -> None:
    env = MemoryEnv()
    assert isinstance(no_database(env, "/db", "db"), OperationalError)
    env.make_dir("/db/wal")
    env.create("/db/wal/1.log", point="t")
    assert no_database(env, "/db", "db", "a hint").hint == "a hint"
    env.make_dir("/db/manifest")
    env.create("/db/manifest/1.log", point="t")
    error = no_database(env, "/db", "db")
    assert isinstance(error, CorruptionError) and "CURRENT' is missing" in error.message


@pytest.mark.parametrize("payload", [b"{", b"[]", b"[" * 100_000, b"\xff", b"null"])
def test_an_edit_that_is_not_a_json_object_is_corruption(payload: bytes) -> None:
    env = MemoryEnv()
    manifest = Manifest.create(env, "/db", DATABASE, [])
    manifest._writer.append(payload)
    with pytest.raises(CorruptionError, match=r"edit 1 of '/db/manifest/1\.log' is not"):
        Manifest.open(env, "/db")


def test_format_bytes_are_where_the_documentation_says() -> None:
    env = MemoryEnv()
    Manifest.create(env, "/db", DATABASE, [{"a": 1}]).close()
    image = env.read_file("/db/manifest/1.log")
    magic, version, kind, number, first, database = struct.unpack_from("<8sI8sQQ16s", image)
    assert (magic, version, kind) == (b"PYKUDUL\n", 1, b"manifest")
    assert (number, first, database) == (1, 1, DATABASE)
    length, _, sequence, lag, mark = struct.unpack_from("<IIQII", image, 64)
    assert (length, sequence, lag) == (7, 1, 1)
    assert image[88:96] == b'{"a":1}\0'
    assert struct.unpack_from("<I", image, 60)[0] == mark
    assert struct.unpack_from("<IIQII", image, 96)[::2] == (0, 2, mark)
