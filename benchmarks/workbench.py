"""Where a run happens: opens the engines asked for, in scratch folders that go away afterwards."""

import functools
import importlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from benchmarks import data
from benchmarks.peers.peer import OpenPeer, Peer
from benchmarks.tables import LINEITEM, POINTS, USERS, BenchTable

PEERS: Mapping[str, tuple[str, str]] = {
    "pykudu": ("benchmarks.peers.pykudu", "PykuduPeer"),
    "duckdb": ("benchmarks.peers.duckdb", "DuckdbPeer"),
    "sqlite": ("benchmarks.peers.sqlite", "SqlitePeer"),
    "deltalake": ("benchmarks.peers.deltalake", "DeltalakePeer"),
}


class Workbench:
    """Engines and data for the workloads of one run.

    Attributes:
        scale: TPC-H scale factor.
        point_rows: rows of the table of the point workloads.
        rounds: timed turns of each contestant; None leaves it to the workload.
        soak_seconds: how long the soak lasts.
    """

    def __init__(
        self,
        peers: tuple[str, ...],
        scale: float,
        point_rows: int,
        rounds: int | None,
        soak_seconds: float,
    ) -> None:
        data.cache_folder().mkdir(parents=True, exist_ok=True)
        self.scale = scale
        self.point_rows = point_rows
        self.rounds = rounds
        self.soak_seconds = soak_seconds
        self.unavailable: dict[str, str] = {}
        self.scratch = Path(tempfile.mkdtemp(prefix="run-", dir=data.cache_folder()))
        self._closing: list[Callable[[], None]] = []
        self._with_lineitem: dict[str, Callable[[], Peer]] = {}
        self._loaded: dict[str, Path] = {}
        self._changed: dict[tuple[str, str], Peer] = {}
        self._lineitem: pa.Table | None = None
        self._classes: dict[str, OpenPeer] = {}
        for name in peers:
            module, class_name = PEERS[name]
            try:
                self._classes[name] = getattr(importlib.import_module(module), class_name)
            except ImportError as error:
                self.unavailable[name] = str(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for close in self._closing:
            close()
        shutil.rmtree(self.scratch)

    def among(self, *names: str) -> list[str]:
        """Those of the names that were asked for and can be imported, in the order given."""
        return [name for name in names if name in self._classes]

    def open(self, name: str, *, durable: bool) -> tuple[Peer, Path]:
        """A new, empty database that the caller closes, and its folder, to be removed."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch))
        return self._classes[name](folder, durable=durable), folder

    def reopen(self, name: str, folder: Path, *, durable: bool) -> Peer:
        """The database in a folder again, after it was closed; the caller closes it."""
        return self._classes[name](folder, durable=durable)

    def close_later(self, close: Callable[[], None]) -> None:
        """Close a database or connection at the end of the run."""
        self._closing.append(close)

    def close_current(self, current: Sequence[tuple[Peer, Path]]) -> None:
        """Close at the end of the run what a workload's list of open databases then holds."""

        def close() -> None:
            for peer, _ in current:
                peer.close()

        self.close_later(close)

    def lineitem(self) -> pa.Table:
        """TPC-H lineitem at the scale of the run, read once."""
        if self._lineitem is None:
            self._lineitem = data.lineitem(self.scale)
        return self._lineitem

    def with_lineitem(self, name: str) -> Callable[[], Peer]:
        """Gives a durable database with lineitem in it, the same one to all who ask."""
        if name not in self._with_lineitem:
            self._with_lineitem[name] = self._loading(name, LINEITEM, self.lineitem, durable=True)
        return self._with_lineitem[name]

    def lineitem_copy(self, name: str) -> tuple[Peer, Path]:
        """A durable database of its own with lineitem in it, that the caller closes and removes.

        Loaded once and copied as files, so it is as after a restart.
        """
        if name not in self._loaded:
            peer, self._loaded[name] = self.open(name, durable=True)
            peer.create(LINEITEM)
            peer.append(LINEITEM, self.lineitem())
            peer.close()
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch))
        shutil.copytree(self._loaded[name], folder, dirs_exist_ok=True)
        return self._classes[name](folder, durable=True), folder

    def changed_lineitem(self, name: str, label: str, change: Callable[[Peer], None]) -> Peer:
        """A copy of lineitem after a change, the same one to all who ask for the label."""
        key = name, label
        if key not in self._changed:
            peer, _ = self.lineitem_copy(name)
            self.close_later(peer.close)
            change(peer)
            self._changed[key] = peer
        return self._changed[key]

    def with_points(self, name: str, *, durable: bool) -> Callable[[], Peer]:
        """Gives a database with the narrow rows in it, another one to each who asks."""

        def rows() -> pa.Table:
            return data.points(self.point_rows)

        return self._loading(name, POINTS, rows, durable=durable)

    def with_users(self, name: str, *, durable: bool) -> Callable[[], Peer]:
        """Gives a database with as many rows of YCSB in it, another one to each who asks."""

        def rows() -> pa.Table:
            return data.users(self.point_rows)

        return self._loading(name, USERS, rows, durable=durable)

    def _loading(
        self, name: str, table: BenchTable, rows: Callable[[], pa.Table], *, durable: bool
    ) -> Callable[[], Peer]:
        """Opens and fills a database at the first call; closed at the end of the run."""

        @functools.cache
        def loaded() -> Peer:
            peer, _ = self.open(name, durable=durable)
            self.close_later(peer.close)
            peer.create(table)
            peer.append(table, rows())
            return peer

        return loaded
