"""A disk that refuses calls at random while it is ill, and forgets what was not synced."""

import errno
import random
import threading

from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import Fail, FaultAction, FaultPoint, Mutation, ShortWrite
from tests.storage.model_disk import ModelDisk, copy_of

# Bytes of a write that are there when it is refused; the last is all of it.
_WRITTEN = (0, 8, 33, 100, 1 << 30)
_ILLS = ("wal.", "manifest.", "durable.", "current.", "")


class SickDisk(ModelDisk):
    """A disk that knows what is durable and, while it is ill, refuses some calls."""

    def __init__(self, chance: random.Random, cache: MemoryEnv | None = None) -> None:
        """Healthy."""
        super().__init__(1 << 60, cache)
        self.refused: list[str] = []
        self._chance = chance
        self._prefix, self._share, self._is_full = "", 0.0, False

    def fall_ill(self) -> None:
        """Refuse a share of some calls, all of them perhaps, from here on."""
        self._prefix = self._chance.choice(_ILLS)
        self._share = self._chance.choice((0.1, 0.5, 1.0))
        self._is_full = self._chance.random() < 0.4

    def heal(self) -> None:
        """Refuse nothing."""
        self._share = 0.0

    @property
    def is_ill(self) -> bool:
        """Whether it may refuse."""
        return self._share > 0

    @property
    def sort(self) -> str:
        """Of calls that it refuses, by the beginning of their names."""
        return self._prefix

    @property
    def refuses_all(self) -> bool:
        """Whether it takes nothing at all."""
        return self._share == 1.0 and not self._is_full

    def _before(self, point: FaultPoint) -> FaultAction:
        action = self._answer(point)
        if action is None:
            return super()._before(point)
        self.refused.append(point.point)
        return action

    def _answer(self, point: FaultPoint) -> FaultAction:
        if threading.current_thread().name == "pykudu-maintenance":
            return None  # it comes when it likes
        if not point.point.startswith(self._prefix) or self._chance.random() >= self._share:
            return None
        if not self._is_full:
            return Fail(errno.EIO)
        if point.operation is Mutation.CREATE:
            return Fail(errno.ENOSPC)
        if point.operation in (Mutation.WRITE, Mutation.ALLOCATE):
            return ShortWrite(self._chance.choice(_WRITTEN))
        return None

    def after_kill(self) -> MemoryEnv:
        """What a process finds after this one was killed."""
        return copy_of(self.cache)
