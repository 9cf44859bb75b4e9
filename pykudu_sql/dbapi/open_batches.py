"""The batches of a cursor's rows, as long as it is open."""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class OpenBatches(Iterator["pa.RecordBatch"]):
    """An iterator over the batches of a reader. Safe for threads: each batch goes to one."""

    __slots__ = ("_check", "_lock", "_reader")

    def __init__(self, reader: "pa.RecordBatchReader", check: Callable[[], object]) -> None:
        """`check`: raises InterfaceError once there is nothing to be read any more."""
        self._reader = reader
        self._check = check
        self._lock = Lock()

    def __next__(self) -> "pa.RecordBatch":
        self._check()  # before the lock, which a thread may have held at a fork
        with self._lock:
            return self._reader.read_next_batch()
