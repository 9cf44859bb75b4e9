"""Lineitem on disk against Parquet: bytes by column, and decoding all of it."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import ours
from benchmarks.peers.peer import Peer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec

CODECS = ("snappy", "zstd")


def size(bench: Workbench) -> Survey:
    """Bytes on disk of lineitem: by column, and of all files with key index and bloom filters."""
    return Survey(
        name="size",
        title=f"bytes on disk of lineitem SF{bench.scale:g}, against pyarrow's Parquet",
        measure=lambda: list(_sizes(bench)),
        bounds=[Bound("all files / parquet snappy", most=1.0)],
    )


def _sizes(bench: Workbench) -> Iterator[Figure]:
    parquet = {codec: _parquet(bench, codec) for codec in CODECS}
    peer, folder = bench.lineitem_copy("pykudu")
    store = ours(peer).store
    sizes: dict[str, int] = defaultdict(int)
    encodings: dict[str, set[str]] = defaultdict(set)
    for info in store.column_file_infos(store.catalog.table(LINEITEM.name)):
        sizes[info.column] += info.size
        encodings[info.column].add(info.encoding)
    files = sum(info.size for info in store.rowset_infos(store.catalog.table(LINEITEM.name)))
    peer.close()
    shutil.rmtree(folder)
    columns = {codec: _column_sizes(path) for codec, path in parquet.items()}
    for column, mine in sizes.items():
        yield Figure(f"{column} ({', '.join(sorted(encodings[column]))})", mine, "bytes")
        for codec in CODECS:
            yield Figure(f"{column} / parquet {codec}", mine / columns[codec][column])
    yield Figure("all columns", sum(sizes.values()), "bytes")
    yield Figure("all files", files, "bytes")
    for codec, path in parquet.items():
        yield Figure(f"parquet {codec}", path.stat().st_size, "bytes")
        yield Figure(f"all files / parquet {codec}", files / path.stat().st_size)


def _parquet(bench: Workbench, codec: str) -> Path:
    """Lineitem as pyarrow writes it by default, in the order of its key."""
    path = bench.scratch / f"lineitem-{codec}.parquet"
    if not path.exists():
        pq.write_table(bench.lineitem(), path, compression=codec)
    return path


def _column_sizes(path: Path) -> Mapping[str, int]:
    metadata = pq.ParquetFile(path).metadata
    sizes: dict[str, int] = defaultdict(int)
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            sizes[column.path_in_schema] += column.total_compressed_size
    return sizes


def decode(bench: Workbench) -> Race:
    """One operation: every column of lineitem from disk to Arrow, no decoded block cached."""
    return Race(
        name="decode",
        title=f"decode all of lineitem SF{bench.scale:g} to Arrow, page cache warm, two threads",
        reference="parquet snappy",
        contestants=[
            _decoding(bench),
            *(_reading(f"parquet {codec}", _file(bench, codec)) for codec in CODECS),
        ],
        rounds=bench.rounds or 5,
        goals=[Goal("pykudu", "parquet snappy", 2.0)],
    )


def _decoding(bench: Workbench) -> Contestant:
    """Through the storage itself: SQL would have the engine copy the rows once more."""
    current: list[tuple[Peer, Path]] = []
    bench.close_current(current)
    rows: list[int] = []

    def prepare() -> None:
        if current:
            peer, folder = current.pop()
            peer.close()
            current.append((bench.reopen("pykudu", folder, durable=True), folder))
        else:
            current.append(bench.lineitem_copy("pykudu"))

    def run(operations: int) -> None:
        store = ours(current[0][0]).store
        table = store.catalog.table(LINEITEM.name)
        spec = ScanSpec(tuple(column.id for column in table.schema.columns))
        rows[:] = [store.begin().table_scan(table, spec).num_rows]

    return Contestant("pykudu", run, prepare, lambda: rows[0])


def _file(bench: Workbench, codec: str) -> Callable[[], Path]:
    return lambda: _parquet(bench, codec)


def _reading(name: str, path: Callable[[], Path]) -> Contestant:
    rows: list[int] = []

    def prepare() -> None:
        path()

    def run(operations: int) -> None:
        table: pa.Table = pq.read_table(path())
        rows[:] = [table.num_rows]

    return Contestant(name, run, prepare, lambda: rows[0])
