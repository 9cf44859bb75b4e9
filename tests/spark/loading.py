"""TPC-H lineitem from Parquet into eight tablets, while another process reads the table.

    python -m tests.spark.loading [SCALE]

The reader finds no row or all of them, never some. In the end each column, and the rows as wholes,
have the checksums of the files; and loading them again changes nothing, for every key is known.
"""

import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

import pykudu_sql
from benchmarks.tables import LINEITEM
from benchmarks.tpch_tables import tpch_rows
from pykudu_sql.offline import check
from pykudu_sql.shell.cli import main as command

_TABLETS = 8
_FILES = 4
Checksums = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Loading:
    """What was done.

    Attributes:
        rows: loaded.
        seconds: the load took, Spark's start included.
        looks: of the reader, until it had seen the rows.
        looks_before: those that found nothing yet.
    """

    rows: int
    seconds: float
    looks: int
    looks_before: int


def write_source(folder: Path, scale: float) -> int:
    """Fill a folder with the Parquet files of lineitem; the number of their rows."""
    rows = tpch_rows(scale, LINEITEM.name)
    folder.mkdir()
    share = -(-rows.num_rows // _FILES)
    for number in range(_FILES):
        pq.write_table(rows.slice(number * share, share), folder / f"lineitem.{number}.parquet")
    return rows.num_rows


def make_table(path: str) -> None:
    """The table, empty."""
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(LINEITEM.ddl({}, f"PARTITION BY HASH (l_orderkey) PARTITIONS {_TABLETS}"))


def source_checksums(folder: Path) -> Checksums:
    """The sum over a hash of the cells of each column, of whole rows, and the count."""
    with duckdb.connect() as engine:
        return _checksums(engine, f"read_parquet('{folder}/*.parquet')")


def table_checksums(path: str) -> Checksums:
    """The same of the table."""
    with pykudu_sql.connect(path, read_only=True) as conn, duckdb.connect() as engine:
        engine.register("loaded", conn.execute("SELECT * FROM lineitem").fetch_arrow_table())
        return _checksums(engine, "loaded")


def _checksums(engine: duckdb.DuckDBPyConnection, relation: str) -> Checksums:
    sums = [f"sum(hash({name})) AS {name}" for name in LINEITEM.columns]
    whole = f"sum(hash({', '.join(LINEITEM.columns)})) AS rows, count(*) AS n"
    found = engine.execute(f"SELECT {', '.join(sums)}, {whole} FROM {relation}")
    row = found.fetchone()
    assert row is not None
    return dict(zip([column[0] for column in found.description], map(int, row), strict=True))


def look(path: str, began: Event, ended: Event, out: str) -> None:
    """Ask again and again, once more after the end or the parent's, and write all answers down.

    Each opening of the database is asked twice.
    """
    answers, last = [], False
    while not last:
        parent = multiprocessing.parent_process()
        last = ended.is_set() or parent is None or not parent.is_alive()
        with pykudu_sql.connect(path, read_only=True) as conn:
            for _ in range(2):
                row = conn.execute("SELECT count(*), sum(l_orderkey) FROM lineitem").fetchone()
                answers.append(row)
        began.set()
    Path(out).write_text(json.dumps(answers, default=int))


def run(folder: Path, scale: float) -> Loading:
    """Load, and look.

    Args:
        folder: for files and database.
        scale: of TPC-H.

    Raises:
        AssertionError: rows are not what they were, or the reader saw some of them.
    """
    path, files = str(folder / "my.db"), folder / "files"
    count = write_source(files, scale)
    make_table(path)
    context, answers = multiprocessing.get_context("spawn"), folder / "answers.json"
    began, ended = context.Event(), context.Event()
    reader = context.Process(target=look, args=(path, began, ended, str(answers)))
    reader.start()
    arguments = ["load", path, LINEITEM.name, str(files), "--format", "parquet"]
    try:
        began.wait()
        started = time.monotonic()
        code = command(arguments)
        seconds = time.monotonic() - started
    finally:
        ended.set()
        reader.join()
    assert code == 0
    wanted = source_checksums(files)
    assert table_checksums(path) == wanted
    assert wanted["n"] == count
    seen = [tuple(one) for one in json.loads(answers.read_text())]
    with duckdb.connect() as engine:
        keys = engine.execute(f"SELECT sum(l_orderkey) FROM '{files}/*.parquet'").fetchone()
    assert keys is not None
    assert set(seen) == {(0, None), (count, int(keys[0]))}, set(seen)
    assert seen == sorted(seen, key=lambda one: one[0]), "rows were there, and then were not"
    assert command(arguments) == 1, "keys that are there already were loaded again"
    assert table_checksums(path) == wanted
    problems = [str(finding) for finding in check(path, quick=False).run()]
    assert not problems, problems
    return Loading(count, round(seconds, 1), len(seen), seen.count((0, None)))


def main(argv: list[str]) -> int:
    """Run the script; 0 when all went well."""
    with tempfile.TemporaryDirectory() as folder:
        print(run(Path(folder), float(argv[0]) if argv else 1.0))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
