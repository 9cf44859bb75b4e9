"""What every environment promises, asked of all of them in the same words."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.errors import CorruptionError, DiskError, LockedError
from pykudu_sql.storage.fs.env import Env, parent_of, publish
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import FaultEnv

ENVIRONMENTS: dict[str, Callable[[], Env]] = {
    "local": LocalEnv,
    "memory": MemoryEnv,
    "fault over local": lambda: FaultEnv(LocalEnv(), lambda point: None),
    "fault over memory": lambda: FaultEnv(MemoryEnv(), lambda point: None),
}


@pytest.fixture(params=ENVIRONMENTS)
def env(request: pytest.FixtureRequest) -> Env:
    return ENVIRONMENTS[request.param]()


@pytest.fixture
def root(env: Env, tmp_path: Path) -> str:
    path = env.resolve(f"{tmp_path}/db")
    env.make_dir(path)
    return path


def write(env: Env, path: str, data: bytes) -> None:
    file = env.create(path, point="test.create")
    file.append(data, point="test.append")
    file.sync(point="test.sync")
    file.close()


def test_what_is_appended_can_be_read_anywhere(env: Env, root: str) -> None:
    file = env.create(f"{root}/a", point="t")
    file.append(b"hello ", point="t")
    file.append(memoryview(b"world"), point="t")
    assert file.size == 11
    file.close()
    file.close()
    reader = env.open_random(f"{root}/a")
    assert (reader.size, reader.path) == (11, f"{root}/a")
    assert reader.read(6, 5) == b"world"
    assert reader.read(11, 0) == b""
    memory = bytearray(b"......")
    reader.read_into(4, memoryview(memory)[1:])
    assert memory == b".o wor"
    reader.read_into(11, memoryview(bytearray()))
    assert env.read_file(f"{root}/a") == b"hello world"
    assert env.size_of(f"{root}/a") == 11
    reader.close()


def test_reading_past_the_end_is_corruption_that_names_the_file(env: Env, root: str) -> None:
    write(env, f"{root}/a", b"12345")
    reader = env.open_random(f"{root}/a")
    for offset, length in ((0, 6), (5, 1), (6, 0), (-1, 2), (0, 1 << 60)):
        with pytest.raises(CorruptionError, match=r"/db/a' ends early"):
            reader.read(offset, length)
    for offset, length in ((0, 6), (5, 1), (6, 0), (-1, 2)):
        with pytest.raises(CorruptionError, match=r"/db/a' ends early"):
            reader.read_into(offset, memoryview(bytearray(length)))
    reader.close()


def test_a_file_is_overwritten_allocated_and_cut_in_place(env: Env, root: str) -> None:
    write(env, f"{root}/a", b"abcdef")
    file = env.open_writable(f"{root}/a")
    assert file.size == 6
    file.write_at(2, b"XY", point="t")
    file.allocate(200_000, point="t")
    file.allocate(10, point="t")
    assert file.size == 200_000
    assert env.read_file(f"{root}/a") == b"abXYef" + bytes(199_994)
    file.truncate(4, point="t")
    file.write_at(3, b"longer", point="t")
    assert file.size == 9
    for offset in (-1, 10):
        with pytest.raises(ValueError, match="outside"):
            file.write_at(offset, b"x", point="t")
    with pytest.raises(ValueError, match="cannot cut"):
        file.truncate(10, point="t")
    file.close()
    assert env.read_file(f"{root}/a") == b"abXlonger"


def test_a_name_is_created_once(env: Env, root: str) -> None:
    write(env, f"{root}/a", b"1")
    with pytest.raises(DiskError, match=r"cannot create .*File exists \(EEXIST\)"):
        env.create(f"{root}/a", point="t")
    assert env.read_file(f"{root}/a") == b"1"


@pytest.mark.parametrize("path", ["missing", "missing/deeper"])
def test_what_is_not_there_is_a_disk_error(env: Env, root: str, path: str) -> None:
    missing = f"{root}/{path}"
    for action in (
        lambda: env.open_random(missing),
        lambda: env.open_writable(missing),
        lambda: env.read_file(missing),
        lambda: env.unlink(missing, point="t"),
        lambda: env.rename(missing, f"{root}/b", point="t"),
        lambda: env.list_dir(missing),
        lambda: env.sync_dir(missing, point="t"),
        lambda: env.create(f"{missing}/x", point="t"),
        lambda: env.lock(f"{missing}/x"),
    ):
        with pytest.raises(DiskError, match="No such file"):
            action()
    assert not env.exists(missing)


def test_a_directory_is_no_file_and_a_file_no_directory(env: Env, root: str) -> None:
    env.make_dir(f"{root}/d")
    write(env, f"{root}/f", b"")
    for action in (
        lambda: env.open_random(f"{root}/d"),
        lambda: env.open_writable(f"{root}/d"),
        lambda: env.unlink(f"{root}/d", point="t"),
        lambda: env.rename(f"{root}/f", f"{root}/d", point="t"),
        lambda: env.list_dir(f"{root}/f"),
        lambda: env.create(f"{root}/f/x", point="t"),
        lambda: env.make_dir(f"{root}/f"),
        lambda: env.make_dir(f"{root}/f/x"),
        lambda: env.remove_tree(f"{root}/f", point="t"),
    ):
        with pytest.raises(DiskError):
            action()
    assert env.list_dir(root) == ["d", "f"]


def test_rename_replaces_and_publish_names_a_finished_file(env: Env, root: str) -> None:
    env.make_dir(f"{root}/tmp")
    write(env, f"{root}/a", b"old")
    write(env, f"{root}/tmp/a", b"new")
    publish(env, f"{root}/tmp/a", f"{root}/a", point="t")
    assert env.read_file(f"{root}/a") == b"new"
    assert env.list_dir(f"{root}/tmp") == []


def test_a_file_unlinked_or_renamed_stays_readable_through_its_opening(env: Env, root: str) -> None:
    write(env, f"{root}/a", b"first")
    write(env, f"{root}/b", b"second")
    first, second = env.open_random(f"{root}/a"), env.open_random(f"{root}/b")
    env.rename(f"{root}/a", f"{root}/b", point="t")
    env.unlink(f"{root}/b", point="t")
    assert (first.read(0, 5), second.read(0, 6)) == (b"first", b"second")
    assert env.list_dir(root) == []
    first.close()
    second.close()


def test_directories_are_made_with_parents_listed_and_removed_as_trees(env: Env, root: str) -> None:
    env.make_dir(f"{root}/x/y/z")
    env.make_dir(f"{root}/x/y/z")
    write(env, f"{root}/x/y/f", b"1")
    write(env, f"{root}/xy", b"2")
    env.sync_dir(f"{root}/x", point="t")
    assert env.list_dir(f"{root}/x/y") == ["f", "z"]
    env.remove_tree(f"{root}/x", point="t")
    env.remove_tree(f"{root}/x", point="t")
    assert env.list_dir(root) == ["xy"]
    env.make_dir(f"{root}/x")
    assert env.list_dir(f"{root}/x") == []


def test_a_lock_is_exclusive_until_released(env: Env, root: str) -> None:
    lock = env.lock(f"{root}/LOCK")
    with pytest.raises(LockedError, match=r"/db' is open for writing by this process"):
        env.lock(f"{root}/LOCK")
    lock.release()
    lock.release()
    with env.lock(f"{root}/LOCK"):
        assert env.exists(f"{root}/LOCK")
    env.lock(f"{root}/LOCK").release()


def test_only_a_file_that_is_there_has_a_lock_that_is_taken_as_existing(
    env: Env, root: str
) -> None:
    path = f"{root}/LOCK"
    with pytest.raises(DiskError, match="LOCK"):
        env.lock_existing(path)
    assert not env.exists(path)
    env.lock(path).release()
    with env.lock_existing(path), pytest.raises(LockedError):
        env.lock_existing(path)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.binary(max_size=40)),
            st.tuples(st.just("write_at"), st.integers(0, 60), st.binary(max_size=40)),
            st.tuples(st.just("allocate"), st.integers(0, 120)),
            st.tuples(st.just("truncate"), st.integers(0, 80)),
        ),
        max_size=12,
    )
)
def test_any_sequence_of_writes_leaves_the_same_bytes_in_memory_and_on_disk(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]]
) -> None:
    directory = str(tmp_path_factory.mktemp("same"))
    results = []
    for env in (LocalEnv(), MemoryEnv()):
        env.make_dir(directory)
        file = env.create(f"{directory}/a", point="t")
        refused = 0
        for name, *arguments in steps:
            try:
                getattr(file, str(name))(*arguments, point="t")
            except ValueError:
                refused += 1
        file.close()
        results.append((env.read_file(f"{directory}/a"), file.size, refused))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("path", "parent"), [("a/b", "a"), ("/a", "/"), ("a", "."), ("/x/y/", "/x")]
)
def test_the_parent_of_a_path_is_its_directory(path: str, parent: str) -> None:
    assert parent_of(path) == parent
    assert os.path.dirname(path.rstrip("/")) in (parent, "")


def test_only_a_lock_that_is_announced_can_be_asked_for_and_that_disturbs_nobody(
    env: Env, root: str
) -> None:
    path = f"{root}/LOCK"
    assert not env.is_locked(path)
    assert not env.exists(path)
    lock = env.lock(path)
    assert not env.is_locked(path)
    lock.announce()
    assert env.is_locked(path)
    with pytest.raises(LockedError):
        env.lock(path)
    assert env.is_locked(path)
    lock.release()
    assert not env.is_locked(path)
    env.lock(path).release()
