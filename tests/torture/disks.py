"""Disks that lose what nobody synced, in every way that they may."""

import random
from enum import StrEnum
from typing import Any

from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import Drop, FaultAction, FaultEnv, FaultPoint, Mutation
from tests.storage.model_disk import Left, ModelDisk, PowerLoss, mixed


class Loss(StrEnum):
    """What is left of the unsynced when the power is back."""

    ALL_LOST = "unsynced bytes and names are lost"
    TORN = "unsynced bytes are torn, names are lost"
    REORDERED = "some files and names kept, others lost or torn"
    DEATH = "nothing is lost: only the process died"


class TortureDisk(ModelDisk):
    """A disk that can come back in each of the ways."""

    def after(self, loss: Loss, seed: int) -> MemoryEnv:
        """What is there after the power was lost; the seed chooses where there is a choice."""
        match loss:
            case Loss.ALL_LOST:
                return self.after_restart(Left.NONE)
            case Loss.TORN:
                return self.after_restart(Left.TORN)
            case Loss.DEATH:
                return self._rebuilt({d: self._names_now(d) for d in self._names_known()}, None)
            case Loss.REORDERED:
                rng = random.Random(seed)
                names = {d: self._some_names(d, rng) for d in self._names_known()}
                return self._rebuilt(names, rng)

    def _names_known(self) -> list[str]:
        return sorted(self.cache._directories)

    def _names_now(self, directory: str) -> dict[str, int]:
        paths = {name: f"{directory}/{name}" for name in self.cache.list_dir(directory)}
        files = self.cache._files
        return {name: id(files[path]) for name, path in paths.items() if path in files}

    def _some_names(self, directory: str, rng: random.Random) -> dict[str, int]:
        """For each name, what it stands for now or what it stood for at the last sync."""
        durable, now = self._names.get(directory, {}), self._names_now(directory)
        chosen: dict[str, int] = {}
        for name in sorted({*durable, *now}):
            content = rng.choice((durable, now)).get(name)
            if content is not None:
                chosen[name] = content
        return chosen

    def _rebuilt(self, names: dict[str, dict[str, int]], rng: random.Random | None) -> MemoryEnv:
        known: list[Any] = [*self.cache._files.values(), *self._alive]
        alive = {id(content): bytes(content.data) for content in known}
        disk = MemoryEnv()
        for directory, files in names.items():
            disk.make_dir(directory)
            for name, content in files.items():
                current = alive[content]
                kept = current if rng is None else self._kept(content, current, rng)
                disk.create(f"{directory}/{name}", point="t").append(kept, point="t")
        return disk

    def _kept(self, content: int, current: bytes, rng: random.Random) -> bytes:
        durable = self._bytes.get(content, b"")
        return rng.choice(
            (durable, current, mixed(durable, current), self._written(content, current))
        )


class ForgetfulEnv:
    """Makes an environment that claims to sync at one point and does not."""

    def __init__(self, point: str) -> None:
        """Leave out the syncs of files and directories at this point."""
        self.point = point
        self.left_out = 0

    def __call__(self, env: Env) -> Env:
        """The environment, less reliable."""

        def hook(point: FaultPoint) -> FaultAction:
            if point.point == self.point and point.operation in (
                Mutation.SYNC,
                Mutation.SYNC_DIR,
            ):
                self.left_out += 1
                return Drop()
            return None

        return FaultEnv(env, hook)


__all__ = ["ForgetfulEnv", "Loss", "PowerLoss", "TortureDisk"]
