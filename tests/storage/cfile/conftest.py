"""Containers in memory and columns of every type, for the tests of this room."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile
from pykudu_sql.storage.cfile.container import ContainerReader, ContainerWriter, FileIdentity
from pykudu_sql.storage.common.types.arrays import from_fixed
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.fs.memory_env import MemoryEnv

IDENTITY = FileIdentity(b"database-id-0001", "tablet-1", "base", 7)


@dataclass
class Files:
    """A disk in memory that containers are written to and read from."""

    env: MemoryEnv = field(default_factory=MemoryEnv)
    numbers: Iterator[int] = field(default_factory=count)

    def write(
        self,
        cfiles: Mapping[str, EncodedCFile],
        blobs: Mapping[str, bytes] | None = None,
        identity: FileIdentity = IDENTITY,
    ) -> str:
        path = f"/{next(self.numbers)}.base"
        with ContainerWriter(self.env, path, identity, "base.write") as writer:
            for name, encoded in cfiles.items():
                writer.add_cfile(name, encoded)
            for name, data in (blobs or {}).items():
                writer.add_blob(name, data)
            size = writer.finish({"rowset": 3})
        assert size == len(self.env.read_file(path))
        return path

    def put(self, data: bytes) -> str:
        path = f"/{next(self.numbers)}.base"
        file = self.env.create(path, point="test")
        file.append(data, point="test")
        file.close()
        return path

    def open(
        self, path: str, cache: BlockCache | None = None, identity: FileIdentity = IDENTITY
    ) -> ContainerReader:
        return ContainerReader.open(self.env, path, identity, cache or BlockCache(1 << 26))


MakeColumn = Callable[..., pa.Array]


def make_column(
    column_type: DataType, rows: int, seed: int = 0, nulls: float = 0.0, distinct: int = 1000
) -> pa.Array:
    """Random values, runs of them equal, some NULL (over garbage), seen through a slice."""
    random = np.random.default_rng(seed)
    codes = np.repeat(random.integers(0, distinct, rows + 3), random.integers(1, 4, rows + 3))
    codes = codes[: rows + 3]
    valid = random.random(rows + 3) >= nulls if nulls else None
    return _values_of(codes, column_type, random, valid).slice(2, rows)


def _values_of(
    codes: npt.NDArray[np.int64],
    column_type: DataType,
    random: np.random.Generator,
    valid: npt.NDArray[np.bool_] | None,
) -> pa.Array:
    if column_type.is_variable:
        words = [_word(int(code), column_type) for code in codes]
        return pa.array(words, column_type.arrow, mask=None if valid is None else ~valid)
    if column_type.is_floating:
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-300])
        numbers = np.where(codes % 11 == 0, special[codes % 6], codes * 0.37 - 99)
        with np.errstate(over="ignore"):
            return from_fixed(numbers.astype(column_type.numpy), column_type, valid)
    if column_type.integer_range is None:
        return from_fixed(codes % 2 == 1, column_type, valid)
    low, high = column_type.integer_range
    spread = [low + (int(code) * 0x9E3779B97F4A7C15) % (high - low + 1) for code in codes]
    if column_type.width == 16:
        pairs = [(v & (1 << 64) - 1, v >> 64 & (1 << 64) - 1) for v in spread]
        return from_fixed(np.array(pairs, np.uint64).reshape(-1, 2), column_type, valid)
    return from_fixed(np.array(spread, column_type.numpy), column_type, valid)


def _word(code: int, column_type: DataType) -> str | bytes:
    text = "é\U0001f600"[: code % 3] + f"{code * 7919:d}" * (code % 5)
    return text if column_type.is_text else text.encode() + b"\x00\xff"


@pytest.fixture(scope="session")
def files() -> Files:
    return Files()


@pytest.fixture(scope="session")
def column() -> MakeColumn:
    return make_column
