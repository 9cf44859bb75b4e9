"""The batches of a cursor's rows, as long as it is open."""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class OpenBatches(Iterator["pa.RecordBatch"]):
    """An iterator over the batches of a reader. Safe for threads: each batch goes to one.

    An Arrow reader made of it drops its only reference at the end, and until that is done lets
    other threads call it. So the end lets go of everything first: nothing that is left to be freed
    runs code or waits, which would let such a thread in.
    """

    __slots__ = ("_check", "_lock", "_reader")

    def __init__(self, reader: "pa.RecordBatchReader", check: Callable[[], object]) -> None:
        """`check`: raises InterfaceError once there is nothing to be read any more."""
        self._reader: pa.RecordBatchReader | None = reader
        self._check: Callable[[], object] | None = check
        self._lock = Lock()

    def __next__(self) -> "pa.RecordBatch":
        if (check := self._check) is not None:
            check()  # before the lock, which a thread may have held at a fork
        with self._lock:
            if self._reader is None:
                raise StopIteration
            try:
                return self._reader.read_next_batch()
            except StopIteration:
                self._reader = self._check = None
                raise
