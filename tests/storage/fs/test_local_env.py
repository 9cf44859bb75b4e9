"""What only real files can show: links, pipes, permissions, short writes, durable directories."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import CorruptionError, DiskError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.os_error import disk_error

env = LocalEnv()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "target"
    path.write_bytes(b"precious")
    return path


def test_a_planted_link_is_never_followed(tmp_path: Path, target: Path) -> None:
    link = str(tmp_path / "link")
    os.symlink(target, link)
    for action in (
        lambda: env.open_random(link),
        lambda: env.open_writable(link),
        lambda: env.read_file(link),
        lambda: env.create(link, point="t"),
        lambda: env.lock(link),
    ):
        with pytest.raises(DiskError):
            action()
    assert target.read_bytes() == b"precious"


def test_unlink_and_rename_touch_the_link_and_not_its_target(tmp_path: Path, target: Path) -> None:
    os.symlink(target, tmp_path / "link")
    new = tmp_path / "new"
    new.write_bytes(b"new")
    env.rename(str(new), str(tmp_path / "link"), point="t")
    assert (tmp_path / "link").read_bytes() == b"new"
    os.symlink(target, tmp_path / "other")
    env.unlink(str(tmp_path / "other"), point="t")
    assert target.read_bytes() == b"precious"


def test_a_link_in_the_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "f").write_bytes(b"precious")
    link = str(tmp_path / "wal")
    os.symlink(elsewhere, link)
    for action in (
        lambda: env.make_dir(link),
        lambda: env.list_dir(link),
        lambda: env.sync_dir(link, point="t"),
        lambda: env.open_random(f"{link}/f"),
        lambda: env.create(f"{link}/g", point="t"),
        lambda: env.remove_tree(link, point="t"),
    ):
        with pytest.raises(DiskError):
            action()
    assert sorted(os.listdir(elsewhere)) == ["f"]


def test_names_behind_a_linked_directory_are_neither_moved_nor_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "f").write_bytes(b"precious")
    (tmp_path / "own").write_bytes(b"own")
    link = str(tmp_path / "tablet")
    os.symlink(elsewhere, link)
    for action in (
        lambda: env.unlink(f"{link}/f", point="t"),
        lambda: env.rename(str(tmp_path / "own"), f"{link}/f", point="t"),
        lambda: env.rename(f"{link}/f", str(tmp_path / "own"), point="t"),
    ):
        with pytest.raises(DiskError):
            action()
    assert (elsewhere / "f").read_bytes() == b"precious"
    assert (tmp_path / "own").read_bytes() == b"own"


def test_a_hard_link_is_read_and_never_written(tmp_path: Path, target: Path) -> None:
    link = str(tmp_path / "link")
    os.link(target, link)
    assert env.read_file(link) == b"precious"
    for action in (lambda: env.open_writable(link), lambda: env.lock(link)):
        with pytest.raises(DiskError, match="2 names"):
            action()
    assert target.read_bytes() == b"precious"


def test_removing_a_tree_leaves_what_its_links_point_to(tmp_path: Path, target: Path) -> None:
    (tmp_path / "tree").mkdir()
    os.symlink(target, tmp_path / "tree" / "link")
    env.remove_tree(str(tmp_path / "tree"), point="t")
    assert target.read_bytes() == b"precious"


def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    with pytest.raises(DiskError, match="not a plain file"):
        env.open_random(pipe)
    with pytest.raises(DiskError, match="not a plain file"):
        env.open_writable(pipe)


def test_a_device_is_refused() -> None:
    with pytest.raises(DiskError, match="not a plain file but a device"):
        env.open_random("/dev/zero")


@pytest.mark.parametrize("look", [env.list_dir, env.open_random, env.names_of])
def test_a_link_is_refused_as_one_with_what_it_names(
    tmp_path: Path, target: Path, look: Callable[[str], object]
) -> None:
    for name, shown in ((target, f"'{target}'"), ("none", "'none', which is not there")):
        link = tmp_path / f"link to {Path(name).name}"
        link.symlink_to(name)
        with pytest.raises(DiskError, match=f" but a symbolic link to {shown}") as caught:
            look(str(link))
        assert "in place of the link" in str(caught.value.hint)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_files_and_directories_belong_to_their_owner_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        env.make_dir(str(tmp_path / "d" / "e"))
        env.create(str(tmp_path / "d" / "f"), point="t").close()
        env.lock(str(tmp_path / "d" / "LOCK")).release()
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("d", "d/e")}
    modes |= {name: stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("d/f", "d/LOCK")}
    assert modes == {"d": 0o700, "d/e": 0o700, "d/f": 0o600, "d/LOCK": 0o600}


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, memoryview(data)[:3], at))
    file = env.create(str(tmp_path / "a"), point="t")
    file.append(b"0123456789", point="t")
    assert file.size == 10
    assert env.read_file(str(tmp_path / "a")) == b"0123456789"


def test_a_full_disk_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes, at: int) -> int:
        raise OSError(errno.ENOSPC, "")

    file = env.create(str(tmp_path / "a"), point="t")
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DiskError, match=r"cannot write .*No space left") as caught:
        file.append(b"x", point="t")
    assert caught.value.hint is not None
    assert "Free space" in caught.value.hint
    assert isinstance(caught.value.__cause__, OSError)
    assert file.size == 0


def test_a_file_cut_by_somebody_while_open_is_corruption(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(100))
    reader = env.open_random(str(path))
    os.truncate(path, 50)
    with pytest.raises(CorruptionError, match="cut to 50 bytes while 100"):
        reader.read(0, 100)


def test_a_closed_file_refuses_and_never_reads_another(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    first = env.open_random(str(tmp_path / "a"))
    first.close()
    second = env.open_random(str(tmp_path / "b"))
    with pytest.raises(DiskError, match="Bad file descriptor"):
        first.read(0, 1)
    assert second.read(0, 1) == b"b"


def test_a_forgotten_file_gives_its_descriptor_back(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"a")
    held = env.open_random(path)
    for _ in range(20):
        env.open_random(path)
        env.open_writable(path)
    # Of this file alone: what other tests forgot may be given back at any time.
    descriptors = Path("/proc/self/fd").iterdir()
    assert [os.path.realpath(one) for one in descriptors].count(os.path.realpath(path)) == 1
    held.close()


def test_a_root_behind_a_link_is_resolved_once(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    root = env.resolve(str(tmp_path / "link"))
    assert root == os.path.realpath(tmp_path / "real")
    env.make_dir(root)


def test_what_cannot_be_looked_at_is_not_taken_for_missing(tmp_path: Path) -> None:
    assert not env.exists(str(tmp_path / "nothing"))
    (tmp_path / "file").touch()
    assert not env.exists(str(tmp_path / "file" / "below"))
    with pytest.raises(DiskError, match=r"cannot look at .*ENAMETOOLONG"):
        env.exists(str(tmp_path / ("x" * 300)))


def test_a_rename_to_another_file_system_says_what_to_do() -> None:
    error = disk_error(
        "rename", "/db/tmp/1.base", OSError(errno.EXDEV, "Invalid cross-device link")
    )
    assert "EXDEV" in error.message and "unmount" in (error.hint or "")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The calls that bring something to the disk, each with the inode that it is about."""
    calls: list[tuple[str, int]] = []
    for name in ("fsync", "fdatasync"):
        call = getattr(os, name)

        def note(descriptor: int, name: str = name, call: Callable[[int], None] = call) -> None:
            calls.append((name, os.fstat(descriptor).st_ino))
            call(descriptor)

        monkeypatch.setattr(os, name, note)
    return calls


def test_a_sync_of_a_file_asks_the_system_for_it(
    tmp_path: Path, synced: list[tuple[str, int]]
) -> None:
    path = tmp_path / "file"
    file = env.create(str(path), point="t")
    file.append(b"data", point="t")
    assert synced == []
    file.sync(point="t")
    assert synced == [("fdatasync", path.stat().st_ino)]
    file.close()


def test_a_sync_of_a_directory_asks_the_system_for_it(
    tmp_path: Path, synced: list[tuple[str, int]]
) -> None:
    env.sync_dir(str(tmp_path), point="t")
    assert synced == [("fsync", tmp_path.stat().st_ino)]


def test_the_parent_of_each_directory_that_is_made_is_synced(
    tmp_path: Path, synced: list[tuple[str, int]]
) -> None:
    env.make_dir(str(tmp_path / "a" / "b" / "c"))
    parents = [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    assert synced == [("fsync", parent.stat().st_ino) for parent in parents]
    synced.clear()
    env.make_dir(str(tmp_path / "a" / "b" / "c"))
    assert synced == []


def test_what_a_sync_of_the_system_refuses_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = env.create(str(tmp_path / "file"), point="t")
    monkeypatch.setattr(os, "fdatasync", refuse)
    monkeypatch.setattr(os, "fsync", refuse)
    for action in (
        lambda: file.sync(point="t"),
        lambda: env.sync_dir(str(tmp_path), point="t"),
        lambda: env.make_dir(str(tmp_path / "new")),
    ):
        with pytest.raises(DiskError, match="Input/output error"):
            action()
    assert not (tmp_path / "new").exists(), "a second attempt would take it for durable"
    file.close()
