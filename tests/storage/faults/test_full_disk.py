"""A real file system without space: what was refused was undone, and all goes on when there is
space again."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykudu_sql

SIZE = 8 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system of a few MiB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_refuses_and_goes_on_by_itself_when_there_is_space(small_disk: Path) -> None:
    path = str(small_disk / "my.db")
    conn = pykudu_sql.connect(path, autocommit=True)
    conn.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
    kept = 0
    for _ in range(2):
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file:
            space = os.statvfs(small_disk)
            file.write(bytes(max(0, (space.f_bavail - 64) * space.f_frsize)))
        with pytest.raises(pykudu_sql.Error, match="nothing was changed") as caught:
            for key in range(kept, kept + 10_000):
                conn.execute("INSERT INTO t VALUES (?, ?)", (key, "x" * 1000))
                kept = key + 1
        assert caught.value.sqlstate == "58030"
        with pytest.raises(pykudu_sql.Error, match="nothing was changed"):
            conn.execute(
                "CREATE TABLE other (id INT PRIMARY KEY, v STRING COMMENT '" + "y" * 250 + "')"
            )
            for key in range(kept, kept + 200):
                conn.execute("INSERT INTO t VALUES (?, ?)", (key, "x" * 1000))
                kept = key + 1
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (kept,)
        ballast.unlink()
        conn.execute("DROP TABLE IF EXISTS other")
        conn.execute("INSERT INTO t VALUES (?, ?)", (kept, "after"))
        kept += 1
        assert conn.execute("SELECT count(*), max(id) FROM t").fetchone() == (kept, kept - 1)
    conn.close()
    with pykudu_sql.connect(path) as again:
        assert again.execute("SELECT count(*), max(id) FROM t").fetchone() == (kept, kept - 1)
