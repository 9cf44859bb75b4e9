"""Memory of the machine and of this process, as the operating system tells."""

import os
import resource
import sys
from contextlib import suppress

from pykudu_sql.dataclass import dataclass

_CGROUP_LIMIT = "/sys/fs/cgroup/memory.max"
_STATUS = "/proc/self/status"
_FALLBACK = 4 << 30
_USABLE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Bytes of this process in memory, now and at most so far; now is None where nobody tells."""

    now: int | None
    peak: int


def usable_memory() -> int:
    """80 % of the memory of the machine, or of the control group that this process is in."""
    limits = [_physical_memory()]
    with suppress(OSError, ValueError), open(_CGROUP_LIMIT, encoding="ascii") as file:
        limits.append(int(file.read()))
    return int(min(limits) * _USABLE_SHARE)


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return _FALLBACK


def process_memory() -> ProcessMemory:
    """What this process takes."""
    with suppress(OSError, KeyError, ValueError), open(_STATUS, encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
        now, peak = (int(fields[name].split()[0]) << 10 for name in ("VmRSS", "VmHWM"))
        return ProcessMemory(now, peak)
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return ProcessMemory(None, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
