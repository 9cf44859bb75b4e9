"""Input of the workloads: TPC-H lineitem from tpchgen-cli, and a made table of narrow rows.

Generated files are kept between runs in the cache folder, outside the checkout.
"""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

USER_CELL_BYTES = 100


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/pykudu_sql/bench`, by default under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pykudu_sql" / "bench"


def lineitem(scale: float) -> pa.Table:
    """TPC-H lineitem as tpchgen gives it, 6 million rows for each unit of `scale`."""
    return pq.read_table(_lineitem_file(scale)).replace_schema_metadata(None)


def _lineitem_file(scale: float) -> Path:
    """Path of the generated Parquet file; generated under a temporary name, so never half there.

    Raises:
        FileNotFoundError: tpchgen-cli is not installed.
        subprocess.CalledProcessError: it failed.
    """
    folder = cache_folder() / f"tpch-sf{scale:g}"
    path = folder / "lineitem.parquet"
    if path.exists():
        return path
    beside_python = Path(sys.executable).with_name("tpchgen-cli")
    program = str(beside_python) if beside_python.exists() else shutil.which("tpchgen-cli")
    if program is None:
        raise FileNotFoundError("tpchgen-cli is not installed: pip install '.[dev]'")
    unfinished = folder / f"unfinished-{os.getpid()}"
    unfinished.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(program, "parquet", "--quiet", "--tables", "lineitem"),
            *("--scale-factor", f"{scale:g}", "--output-dir", str(unfinished)),
        ],
        check=True,
    )
    (unfinished / "lineitem.parquet").replace(path)
    shutil.rmtree(unfinished)
    return path


def points(rows: int) -> pa.Table:
    """Narrow rows with the keys 0, 2, 4 .. 2 * rows - 2: between any two there is a free one."""
    generator = np.random.default_rng(42)
    return pa.table(
        {
            "id": np.arange(rows, dtype=np.int64) * 2,
            "hits": generator.integers(0, 1000, rows, dtype=np.int32),
            "score": generator.random(rows),
            "label": pa.array([f"label {number:08d}" for number in range(rows)]),
        }
    )


def users(rows: int) -> pa.Table:
    """YCSB's rows: the keys 0 .. rows - 1, and ten columns of 100 random letters."""
    generator = np.random.default_rng(43)
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * USER_CELL_BYTES)
    columns: dict[str, pa.Array] = {"id": pa.array(np.arange(rows, dtype=np.int64))}
    for number in range(10):
        letters = generator.integers(97, 123, rows * USER_CELL_BYTES, dtype=np.uint8)
        buffers = [None, offsets.buffers()[1], pa.py_buffer(letters)]
        columns[f"field{number}"] = pa.Array.from_buffers(pa.string(), rows, buffers)
    return pa.table(columns)


def zipf_keys(rows: int, draws: int) -> list[int]:
    """Keys 0 .. rows - 1 as YCSB draws them: few of them often, those in no order (zipf, 0.99)."""
    generator = np.random.default_rng(44)
    weights = np.cumsum(1.0 / np.arange(1, rows + 1) ** 0.99)
    ranks = np.searchsorted(weights, generator.random(draws) * weights[-1])
    keys: list[int] = generator.permutation(rows)[ranks].tolist()
    return keys


def present_keys(rows: int) -> Iterator[int]:
    """The keys of `points(rows)` in an order without pattern, over and over."""
    return itertools.cycle(_shuffled_keys(rows))


def new_keys(rows: int) -> Iterator[int]:
    """Keys that `points(rows)` leaves free, without end and without pattern.

    First those between the present keys, then above them, as many again each time.
    """
    keys = _shuffled_keys(rows)
    for base in itertools.count(1, 2 * rows):
        yield from (base + key for key in keys)


def _shuffled_keys(rows: int) -> list[int]:
    keys = np.arange(rows, dtype=np.int64) * 2
    np.random.default_rng(7).shuffle(keys)
    return [int(key) for key in keys]
