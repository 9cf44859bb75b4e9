"""What DuckDB's allocator does with memory that nobody uses any more.

DuckDB brings an allocator of its own (jemalloc), which keeps what was freed for its next
allocations: up to 90 MB within a statement and 150 MB behind it, of which DuckDB's settings give
nothing back and its own counting knows nothing. Of builds with another allocator nothing changes.
"""

import ctypes
from contextlib import suppress

_DEFAULT = b"arenas.dirty_decay_ms"
_OF_FIRST = b"arena.0.dirty_decay_ms"  # the one that is there before DuckDB has threads


def give_back_freed_memory() -> bool:
    """Let DuckDB give memory back to the system as soon as it is free, in the whole process.

    To be called before its first thread runs: threads that have their memory already keep it.

    Returns:
        Whether its allocator takes the order.
    """
    import _duckdb

    with suppress(OSError, AttributeError, TypeError):
        control = ctypes.CDLL(_duckdb.__file__).duckdb_je_mallctl
        control.argtypes = (
            ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
        )  # fmt: skip
        at_once = ctypes.c_ssize_t(0)
        size = ctypes.sizeof(at_once)
        orders = (
            control(name, None, None, ctypes.byref(at_once), size) for name in (_DEFAULT, _OF_FIRST)
        )
        return not any(orders)
    return False
