"""Spark as an engine: queries of one session over tables that Spark's own tasks read.

Each table of a statement is a scan of its own, of one snapshot, with only the columns and, as far
as storage can filter, only the rows that the statement needs; it is known under the name that the
statement has for it until the statement ends. Nothing is kept from one statement to the next, for a
DataFrame keeps the snapshot that it was planned at.

The engine works in a Spark session of its own, with settings of its own, so that views and settings
of a program that uses Spark beside us stay apart:

- `ansi`: overflows and bad casts are errors, as they are to the embedded engine;
- decimals keep their scale in products and quotients, and overflow instead of losing digits;
- `${...}` in a statement is text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.engine.relations.stored_relation import StoredRelation
from pykudu_sql.spark.arrow.arrow_types import spark_schema
from pykudu_sql.spark.options import SPLIT_BYTES, ReadOptions, TableLocation
from pykudu_sql.spark.query.spark_errors import translate
from pykudu_sql.spark.reading.read_plan import read_planner
from pykudu_sql.spark.reading.token_frame import parallelism, token_frame
from pykudu_sql.storage.errors import Error, NotSupportedError, QueryCancelledError

_CONF: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}


class SparkEngine:
    """One session's access to Spark; a `QueryEngine` over `StoredRelation`s."""

    def __init__(self, session: SparkSession) -> None:
        """Begin in a session of its own beside the given one."""
        self._session = session.newSession()
        for name, value in _CONF.items():
            self._session.conf.set(name, value)
        self._group = f"pykudu-{uuid4()}"
        self._cancelled = False

    def execute(
        self, sql: str, relations: Mapping[str, StoredRelation], parameters: Sequence[Any]
    ) -> EngineResult:
        """See QueryEngine. Parameters are written into the text, so there are none here."""
        self._cancelled = False
        context = self._session.sparkContext
        # The group holds for jobs of this thread, and is set anew for the next statement.
        context.setJobGroup(self._group, "a statement of pykudu-sql", interruptOnCancel=True)
        try:
            with ExitStack() as leases, self._planned(sql, self._read(relations, leases)) as frame:
                if self._cancelled:  # while it was planned, when no job was there to be stopped
                    raise QueryCancelledError("the statement was interrupted")
                table = frame.toArrow()
                types = tuple(field.dataType.simpleString() for field in frame.schema.fields)
                return EngineResult(table, types)
        except Exception as error:
            if self._cancelled:
                raise QueryCancelledError("the statement was interrupted") from error
            if isinstance(error, Error):
                raise
            raise translate(error) from error

    def columns(self, sql: str, relations: Mapping[str, StoredRelation]) -> pa.Schema:
        """The columns of a query, without running it.

        Raises NotSupportedError: Spark cannot plan it.
        """
        try:
            with self._planned(sql, self._empty(relations)) as frame:
                return to_arrow_schema(frame.schema)
        except (AnalysisException, ParseException) as error:
            reason = translate(error).message
            raise NotSupportedError(f"Spark cannot plan it: {reason}") from error

    @contextmanager
    def _planned(self, sql: str, frames: Iterable[tuple[str, DataFrame]]) -> Iterator[DataFrame]:
        """A query planned over DataFrames, whose names are known for as long."""
        catalog = self._session.catalog
        names = []
        try:
            for name, frame in frames:
                frame.createOrReplaceTempView(name)
                names.append(name)
            yield self._session.sql(sql)
        finally:
            for name in names:
                catalog.dropTempView(name)

    def _read(
        self, relations: Mapping[str, StoredRelation], leases: ExitStack
    ) -> Iterator[tuple[str, DataFrame]]:
        """The relations with their rows, whose files are held until `held` is left."""
        tasks = parallelism(self._session)
        for name, one in relations.items():
            location = TableLocation(one.path, one.table)
            options = ReadOptions(location, None, one.where, str(one.as_of), SPLIT_BYTES, tasks)
            with read_planner(options) as planner:
                plan = leases.enter_context(planner.plan(one.columns).leased())
            schema = spark_schema(one.columns)
            yield name, token_frame(self._session, location, plan, schema, one.columns)

    def _empty(self, relations: Mapping[str, StoredRelation]) -> Iterator[tuple[str, DataFrame]]:
        """The relations without rows."""
        for name, one in relations.items():
            yield name, self._session.createDataFrame([], spark_schema(one.columns))

    def interrupt(self) -> None:
        """See QueryEngine."""
        self._cancelled = True
        self._session.sparkContext.cancelJobGroup(self._group)

    def close(self) -> None:
        """See QueryEngine. The session of the program stays."""
        self._cancelled = True
