"""Spark over our tables against Spark over Parquet files: the same session, the same queries.

Wall time is what counts here: the work is done in other processes, whose processor time the harness
does not see.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import ours
from benchmarks.peers.peer import update_statement
from benchmarks.peers.pykudu import PykuduPeer
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from pykudu_sql.storage.common.cached_property import cached_property

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NARROW = ("l_orderkey", "l_quantity")
_KEYS = (1000, 2000)
_CHANGE = {"l_discount": "l_discount + 0.01"}
_CONF = {"spark.driver.memory": "4g"}


def spark_wide(bench: Workbench) -> Race:
    """One operation: the greatest value of each of the 16 columns."""
    sources = _Sources(bench)
    return _reading(bench, "spark_wide", "max of all 16 columns", 1.0, sources.table, sources.files)


def spark_narrow(bench: Workbench) -> Race:
    """One operation: the greatest value of 2 of the 16 columns."""
    sources = _Sources(bench)
    return _reading(
        bench,
        "spark_narrow",
        "max of 2 of 16 columns",
        1 / 1.5,
        lambda: sources.table(columns=_NARROW),
        lambda: sources.files().select(*_NARROW),
    )


def spark_selective(bench: Workbench) -> Race:
    """One operation: the greatest value of each column, of the rows of a thousand orders."""
    sources, where = _Sources(bench), "l_orderkey BETWEEN {} AND {}".format(*_KEYS)
    return _reading(
        bench,
        "spark_selective",
        "max of all 16 columns of 1,000 orders, chosen by key",
        1.0,
        lambda: sources.table(where=where),
        lambda: sources.files().where(where),
    )


def spark_as_of(bench: Workbench) -> Race:
    """One operation: all columns AS OF a moment before a tenth of the rows was updated."""
    sources = _Sources(bench)
    return _reading(
        bench,
        "spark_as_of",
        "max of all 16 columns AS OF before an update of a tenth of the rows",
        1.0,
        sources.table_before_update,
        sources.files,
    )


def spark_load(bench: Workbench) -> Race:
    """One operation: lineitem from Parquet into an empty table with its key, or into Parquet."""
    sources = _Sources(bench)
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=bench.scratch))
    database, target = folder / "database", str(folder / "copy")

    def prepare() -> None:
        shutil.rmtree(database, ignore_errors=True)
        database.mkdir()
        peer = PykuduPeer(database, durable=True)
        peer.create(LINEITEM)
        peer.close()

    def load(operations: int) -> None:
        from pykudu_sql.spark.tables import write_table

        write_table(sources.files(), str(database / "bench.db"), LINEITEM.name)

    def copy(operations: int) -> None:
        sources.files().write.mode("overwrite").parquet(target)

    return Race(
        name="spark_load",
        title=f"lineitem SF{bench.scale:g} from Parquet, on Spark, into a table: keys checked, "
        "durable; or into Parquet",
        reference="parquet",
        contestants=[Contestant("pykudu", load, prepare), Contestant("parquet", copy)],
        rounds=bench.rounds or 3,
        goals=[Goal("pykudu", "parquet", 1 / 2.5)],
    )


class _Sources:
    """The same rows as a table of ours and as Parquet files, made when they are first asked for."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    @cached_property
    def session(self) -> "SparkSession":
        """Of all races; it ends with the program."""
        from pykudu_sql.spark.sessions.session import start_session

        return start_session("local[*]", _CONF, "benchmarks")

    @cached_property
    def _path(self) -> str:
        peer, folder = self._bench.lineitem_copy("pykudu")
        peer.close()
        return str(folder / "bench.db")

    @cached_property
    def _files(self) -> str:
        folder = Path(tempfile.mkdtemp(prefix="parquet-", dir=self._bench.scratch))
        pq.write_table(self._bench.lineitem(), folder / "lineitem.parquet")
        return str(folder)

    @cached_property
    def _before_update(self) -> tuple[str, int]:
        """A database where a tenth was updated, and the moment before."""
        peer, folder = self._bench.lineitem_copy("pykudu")
        moment = ours(peer).connect()
        before = moment.snapshot_timestamp()
        moment.close()
        peer.execute(update_statement(LINEITEM, _CHANGE, "l_partkey % 10 = 3"), ())
        peer.close()
        return str(folder / "bench.db"), before

    def table(
        self, columns: tuple[str, ...] | None = None, where: str | None = None
    ) -> "DataFrame":
        """Our table."""
        from pykudu_sql.spark.tables import read_table

        return read_table(self.session, self._path, LINEITEM.name, columns=columns, where=where)

    def table_before_update(self) -> "DataFrame":
        """Our table as it was before an update."""
        from pykudu_sql.spark.tables import read_table

        path, moment = self._before_update
        return read_table(self.session, path, LINEITEM.name, as_of=moment)

    def files(self) -> "DataFrame":
        """The Parquet files."""
        return self.session.read.parquet(self._files)


def _reading(
    bench: Workbench,
    name: str,
    title: str,
    ratio: float,
    table: Callable[[], "DataFrame"],
    files: Callable[[], "DataFrame"],
) -> Race:
    """A race of two DataFrames."""
    return Race(
        name=name,
        title=f"{title}, lineitem SF{bench.scale:g} on Spark; Parquet by spark.read.parquet",
        reference="parquet",
        contestants=[_reader("pykudu", table), _reader("parquet", files)],
        rounds=bench.rounds or 5,
        goals=[Goal("pykudu", "parquet", ratio)],
    )


def _reader(name: str, source: Callable[[], "DataFrame"]) -> Contestant:
    def greatest() -> list[str]:
        from pyspark.sql import functions as f

        frame = source()
        row = frame.agg(*(f.max(column) for column in frame.columns)).toArrow()
        return [str(column[0].as_py()) for column in row.columns]

    def run(operations: int) -> None:
        for _ in range(operations):
            greatest()

    return Contestant(name, run, answer=greatest)
