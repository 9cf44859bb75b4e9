"""Atomic output: files and folders get their names when they are complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def atomic_output(target: Path) -> Iterator[Path]:
    """A path beside `target` to write to, which is renamed to `target` at the end, or removed.

    Whoever stops the job, there is never half of a result under the requested name.
    """
    unfinished = target.with_name(f".{target.name:.100}.{os.getpid()}-{uuid4().hex:.8}.unfinished")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        remove(unfinished)


@contextmanager
def atomic_replacement(target: Path) -> Iterator[Path]:
    """The same for a folder that may replace another.

    The old one is removed when the new one is complete; a crash between the two leaves the old one
    beside it, under a hidden name.
    """
    old: Path | None = None
    with atomic_output(target) as unfinished:
        yield unfinished
        if target.is_dir() and not target.is_symlink():
            old = target.with_name(f"{unfinished.name}.old")
            target.replace(old)
    if old is not None:
        remove(old)


def remove(path: Path) -> None:
    """Remove a file or a folder with all in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        for entry in path.iterdir():
            remove(entry)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
