"""Facts about the machine and the libraries, so that a figure can be read later."""

import os
import platform
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("pykudu-sql", "duckdb", "deltalake", "pyarrow", "numpy", "numcodecs", "sqlglot")


def machine_facts(scratch: Path) -> dict[str, str]:
    """What the run ran on. `scratch` is where the databases lie: its file system counts."""
    facts = {
        "cpu": _cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": _file_system(scratch),
        "load average": load_average(),
        "python": sys.version.split()[0],
        "sqlite3": sqlite3.sqlite_version,
    }
    for library in LIBRARIES:
        try:
            facts[library] = version(library)
        except PackageNotFoundError:
            facts[library] = "not installed"
    return facts


def load_average() -> str:
    """The load of the last minute, of five and of fifteen."""
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GiB"


def _file_system(path: Path) -> str:
    """Type and device of the mount that holds `path`, from /proc/mounts."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    best = ("", "unknown")
    target = path.resolve()
    for line in mounts.read_text().splitlines():
        device, mount, kind = line.split()[:3]
        if target.is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, f"{kind} on {device}")
    return best[1]
