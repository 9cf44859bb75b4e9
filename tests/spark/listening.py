"""Where processes listen, as the kernel tells it: what `ss -ltnp` shows."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
_LISTENING = "0A"
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Listeners:
    """What was seen, as `ADDRESS:PORT` in the kernel's hexadecimal.

    Attributes:
        within: on loopback.
        outside: anywhere else.
    """

    within: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)

    def look(self, root: int) -> None:
        """Add where a process and all that it started listen now."""
        inodes = {inode for pid in descendants(root) for inode in _sockets(pid)}
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and f"socket:[{fields[9]}]" in inodes:
                    inside = fields[1].partition(":")[0] in _LOOPBACK
                    (self.within if inside else self.outside).add(fields[1])


def descendants(root: int) -> set[int]:
    """A process and all that it, or those, started."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                parents[int(entry)] = int(fields[1])
    found, newer = {root}, {root}
    while newer:
        newer = {pid for pid, parent in parents.items() if parent in newer} - found
        found |= newer
    return found


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for entry in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                yield os.readlink(f"/proc/{pid}/fd/{entry}")


@contextmanager
def watched(root: int) -> Iterator[Listeners]:
    """Look at a process and all that it starts, over and over, until the end."""
    seen, ended = Listeners(), threading.Event()

    def watch() -> None:
        while not ended.wait(_PAUSE):
            seen.look(root)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()
        seen.look(root)
