"""Files and folders that appear under their names when they are complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A name beside `target` to write to, which becomes `target` at the end or disappears.

    Whoever stops the job, there is never half of a result under the requested name.
    """
    unfinished = target.with_name(f".{target.name:.100}.{os.getpid()}-{uuid4().hex:.8}.unfinished")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        remove(unfinished)


def remove(path: Path) -> None:
    """Remove a file or a folder with all in it, if it is there."""
    if path.is_dir():
        for entry in path.iterdir():
            remove(entry)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
