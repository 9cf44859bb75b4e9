"""How a store is opened."""

from collections.abc import Callable

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.memory_budget import MOST_CACHED, MOST_IN_MEMSTORES
from pykudu_sql.storage.common.types.hybrid_time import wall_micros


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a store is opened.

    Attributes:
        memory_limit: bytes that the whole process may take, 0 for 80 % of the machine's.
        engine_memory_bytes: that queries may take of these, 0 for a share.
        block_cache_bytes: limit of decoded data kept in memory.
        threads: that scans and large inserts use.
        flush_bytes: inserted rows or changes of a tablet beyond this size in memory are flushed
            in the background.
        write_memory_bytes: that inserted rows and changes of all tablets may take; at 60 % of it
            flushing goes before all other maintenance, beyond it commits flush first.
        durability: "full": a commit returns once it is durable; "normal": it becomes durable
            within a second; "off": when the operating system likes.
        rowset_bytes: a rowset that grows past it on disk is closed and the next one begun.
        log_segment_bytes: a log segment as long as that is followed by a new one.
        maintenance: flush, compact and collect in the background; else only on demand.
        wall: the wall clock: microseconds since 1970, UTC.
    """

    memory_limit: int = 0
    engine_memory_bytes: int = 0
    block_cache_bytes: int = MOST_CACHED
    threads: int = 0
    flush_bytes: int = 128 << 20
    write_memory_bytes: int = MOST_IN_MEMSTORES
    durability: str = "full"
    rowset_bytes: int = 32 << 20
    log_segment_bytes: int = 16 << 20
    maintenance: bool = True
    wall: Callable[[], int] = wall_micros
