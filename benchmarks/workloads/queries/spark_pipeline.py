"""A table as a pipeline on Spark leaves it, read and written beside Parquet files of the same rows.

lineitem is written from Spark into four hash partitions, overwritten twice, and a hundredth of it
is upserted and another deleted, as a job does that runs each night. Then the same questions go to
the table, by `read_table` and by the plain format, and to `spark.read.parquet`; at the end a backup
gets one more step, and changes are read, after few rows changed.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

import pykudu_sql
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from pykudu_sql.jobs.backup import BackupOptions, backup
from pykudu_sql.jobs.changes import ChangesOptions, changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MONEY = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
_SUMS = tuple(f"sum({name}) AS {name}" for name in _MONEY)
_TURNS = 3
_OVERWRITES = 2
_CONF = {"spark.driver.memory": "4g"}
_BACKED_UP_CHANGES, _READ_CHANGES = 12_000, 18_000


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the rows.

    Attributes:
        select: what one row of answers has.
        columns: that it takes; None for all.
        where: a condition, the same in our SQL and in Spark's; None for all rows.
    """

    select: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    where: str | None = None


_COUNT = _Question(("count(*) AS n",))
_QUESTIONS: Mapping[str, _Question] = {
    "sum of four": _Question(_SUMS, _MONEY),
    "sum of four, no columns named": _Question(_SUMS),
    "count": _COUNT,
    "one day": _Question(_SUMS, (*_MONEY, "l_shipdate"), "l_shipdate = DATE '1995-06-17'"),
    "one order": _Question(_SUMS, (*_MONEY, "l_orderkey"), "l_orderkey = 5000"),
}


def spark_pipeline(bench: Workbench) -> Survey:
    """Seconds of each step, and ratios of time against Parquet: above 1 is faster than that."""
    return Survey(
        name="spark_pipeline",
        title=f"lineitem SF{bench.scale:g} from Spark, overwritten twice, a hundredth upserted and "
        f"another deleted; the least of {_TURNS}, and Parquet's time / ours",
        measure=lambda: list(_Pipeline(bench).figures()),
        bounds=[
            Bound("write / Parquet", least=1.0),
            Bound("sum of four / Parquet", least=1.0),
            Bound("count / Parquet", least=1.5),
            Bound("one day / Parquet", least=1.5),
            Bound("one order / Parquet", least=1.5),
        ],
    )


class _Pipeline:
    """The table, its files, and the session that reads both."""

    def __init__(self, bench: Workbench) -> None:
        from pykudu_sql.spark.sessions.session import start_session

        self._bench = bench
        self._folder = Path(tempfile.mkdtemp(prefix="pipeline-", dir=bench.scratch))
        self._path = str(self._folder / "bench.db")
        self._spark: SparkSession = start_session("local[*]", _CONF, "benchmarks")

    def figures(self) -> Iterator[Figure]:
        """All steps, in order."""
        yield from self._write_times()
        self._table().write.parquet(self._place("same"))
        for name, question in _QUESTIONS.items():
            yield from self._answer_times(name, question)
        yield from self._times_after_changes()
        shutil.rmtree(self._folder)

    def _write_times(self) -> Iterator[Figure]:
        from pykudu_sql.spark.tables import write_table

        Path(self._place("source")).mkdir()
        pq.write_table(self._bench.lineitem(), f"{self._place('source')}/lineitem.parquet")
        rows = self._spark.read.parquet(self._place("source"))
        self._execute(LINEITEM.ddl({}, LINEITEM.partitions))
        rows.write.parquet(self._place("warm"))
        first = self._write(rows, "insert")
        over, parquet_times = [], []
        for _ in range(_OVERWRITES):
            start = time.perf_counter()
            rows.write.mode("overwrite").parquet(self._place("copy"))
            parquet_times.append(time.perf_counter() - start)
            start = time.perf_counter()
            write_table(rows, self._path, LINEITEM.name, overwrite=True)
            over.append(time.perf_counter() - start)
        yield Figure("write into the empty table", first, "s")
        yield Figure("write over all rows", min(over), "s")
        yield Figure("write as Parquet", min(parquet_times), "s")
        yield Figure("write / Parquet", min(parquet_times) / min(over))
        taxed = [f"l_tax + 0.01 AS {n}" if n == "l_tax" else n for n in rows.columns]
        changed = rows.where("l_orderkey % 100 = 2").selectExpr(*taxed)
        dead_keys = rows.where("l_orderkey % 100 = 3").select(*LINEITEM.key)
        yield Figure("upsert a hundredth", self._write(changed, "upsert"), "s")
        yield Figure("delete a hundredth", self._write(dead_keys, "delete"), "s")

    def _answer_times(self, name: str, question: _Question) -> Iterator[Figure]:
        """One question to all, in turn. Raises ValueError: their answers differ."""
        where, select = question.where or "true", question.select
        askers: dict[str, Callable[[], Sequence[Sequence[object]]]] = {
            "": lambda: self._table(question.columns, question.where).selectExpr(*select).collect(),
            ", plain format": lambda: self._plain(question).selectExpr(*select).collect(),
            ", Parquet": lambda: self._files().where(where).selectExpr(*select).collect(),
            ", embedded engine": lambda: self._execute(
                f"SELECT {', '.join(select)} FROM {LINEITEM.name} WHERE {where}"
            ),
        }
        if question is _COUNT:
            askers[""] = lambda: [(self._table().count(),)]
            askers[", by SQL"] = lambda: self._table().selectExpr(*select).collect()
        answers = {asker: [tuple(row) for row in ask()] for asker, ask in askers.items()}
        if any(answer != answers[""] for answer in answers.values()):
            raise ValueError(f"{name}: {answers}"[:200])
        seconds: dict[str, list[float]] = {asker: [] for asker in askers}
        for _ in range(_TURNS):
            for asker, ask in askers.items():
                start = time.perf_counter()
                ask()
                seconds[asker].append(time.perf_counter() - start)
        for asker, elapsed in seconds.items():
            yield Figure(f"{name}{asker}", min(elapsed), "s")
        yield Figure(f"{name} / Parquet", min(seconds[", Parquet"]) / min(seconds[""]))

    def _times_after_changes(self) -> Iterator[Figure]:
        """What a step of a backup and the changes cost after few rows changed."""
        place = self._place("backup")
        yield Figure("first step of a backup", self._backup_seconds(place, "local"), "s")
        for engine in ("local", "spark"):
            self._change(_BACKED_UP_CHANGES)
            yield Figure(
                f"next step after 12,000, {engine}", self._backup_seconds(place, engine), "s"
            )
        since = self._newest()
        self._change(_READ_CHANGES)
        for engine in ("local", "spark"):
            target, options = self._place(f"changes-{engine}"), ChangesOptions(engine=engine)
            start = time.perf_counter()
            changes(self._path, LINEITEM.name, target, since, options)
            elapsed = time.perf_counter() - start
            yield Figure(f"changes, 18,000 rows, {engine}", elapsed, "s")

    def _backup_seconds(self, place: str, engine: str) -> float:
        start = time.perf_counter()
        backup(self._path, place, BackupOptions(engine=engine))
        return time.perf_counter() - start

    def _change(self, rows: int) -> None:
        """Update so many rows by key, spread over the table."""
        keys = self._execute(
            f"SELECT l_orderkey, l_linenumber, l_tax + 0.01 AS l_tax FROM {LINEITEM.name} "
            f"WHERE l_linenumber = 1 ORDER BY hash(l_orderkey) LIMIT {rows}"
        )
        names = (*LINEITEM.key, "l_tax")
        frame = self._spark.createDataFrame(
            keys, "l_orderkey bigint, l_linenumber int, l_tax decimal(15,2)"
        )
        self._write(frame.select(*names), "update")

    def _newest(self) -> str:
        connection = pykudu_sql.connect(self._path, autocommit=True)
        try:
            return str(connection.snapshot_timestamp())
        finally:
            connection.close()

    def _execute(self, sql: str) -> list[tuple[object, ...]]:
        """A statement by the embedded engine, in a connection of its own."""
        connection = pykudu_sql.connect(self._path, autocommit=True)
        try:
            cursor = connection.execute(sql)
            return [] if cursor.description is None else list(cursor.fetchall())
        finally:
            connection.close()

    def _write(self, rows: "DataFrame", operation: str) -> float:
        from pykudu_sql.spark.tables import write_table

        start = time.perf_counter()
        write_table(rows, self._path, LINEITEM.name, operation=operation)
        return time.perf_counter() - start

    def _table(
        self, columns: tuple[str, ...] | None = None, where: str | None = None
    ) -> "DataFrame":
        from pykudu_sql.spark.tables import read_table

        return read_table(self._spark, self._path, LINEITEM.name, columns=columns, where=where)

    def _plain(self, question: _Question) -> "DataFrame":
        options = {"table": LINEITEM.name}
        if question.columns is not None:
            options["columns"] = ",".join(question.columns)
        if question.where is not None:
            options["where"] = question.where
        return self._spark.read.format("pykudu").options(**options).load(self._path)

    def _files(self) -> "DataFrame":
        return self._spark.read.parquet(self._place("same"))

    def _place(self, name: str) -> str:
        return str(self._folder / name)
