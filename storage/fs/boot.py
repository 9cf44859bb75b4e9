"""Which boot of the machine this is: what the page cache of two processes must have in common."""

from contextlib import suppress
from uuid import UUID

_PATH = "/proc/sys/kernel/random/boot_id"


def boot_id() -> bytes:
    """The 16 bytes of the boot's UUID; zeros where the system has none."""
    with suppress(OSError, ValueError), open(_PATH, encoding="ascii") as file:
        return UUID(file.read().strip()).bytes
    return bytes(16)
