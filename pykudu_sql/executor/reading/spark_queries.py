"""Queries on Spark: which of them run there, and why the others do not.

A query runs on Spark when the session asks for it (`engine = 'spark'`, or `'auto'` and enough to
scan), its tables can be read from files by other processes, and both engines give the same answer.
The embedded engine gives the types of the result, over no rows, and Spark's are compared
with them before anything runs; so a result has the same types whoever computed it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.engine.relations.stored_relation import StoredRelation
from pykudu_sql.executor.reading.engine_choice import Embedded, EngineChoice, OnSpark
from pykudu_sql.executor.reading.query_parameters import check_parameter_values, parameter_values
from pykudu_sql.executor.reading.scans import pruned_scan
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.plan.query_plans import Query, Scan
from pykudu_sql.planner.query.scan_condition import scan_condition
from pykudu_sql.planner.spark.spark_query import spark_sql
from pykudu_sql.planner.spark.spark_types import NotOnSparkError
from pykudu_sql.spark.sessions.java import check_pyspark
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.common.types.hybrid_time import last_before
from pykudu_sql.storage.errors import NotSupportedError, OperationalError, QueryCancelledError
from pykudu_sql.storage.scan.scan_token import scan_schema
from pykudu_sql.storage.transaction.transaction import Transaction

if TYPE_CHECKING:
    from pykudu_sql.spark.query.spark_engine import SparkEngine

# Seconds between the choice of a snapshot and Spark's claim on its files, with room to spare.
_LEAST_AGE = 60
_HUGEINT = pa.decimal128(38, 0)


def choose_engine(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> EngineChoice:
    """The engine for a query, in a session that does not use the embedded one.

    `transaction`: what is read. Raises OperationalError: the session wants Spark, and it cannot be
    started; DataError, ProgrammingError: the query is wrong, on any engine.
    """
    reason = _why_not_read(state, query, transaction)
    if reason is None and state.settings.engine == "auto":
        reason = _why_too_small(state, query, parameters, transaction)
    if reason is not None:
        return Embedded(reason)
    check_parameter_values(query, parameters, state.engine, state.computed_types)
    try:
        values = parameter_values(query, parameters)
        sql = spark_sql(query, values)
        relations = {
            scan.name: _relation(state, scan, parameters, transaction) for scan in query.scans
        }
        shape = state.engine.execute(query.sql, _no_rows(query.scans), values)
        engine = _engine(state)
        _check_types(engine.columns(sql, relations), shape)
        return OnSpark(engine, sql, relations, shape)
    except NotOnSparkError as error:
        return Embedded(str(error))
    except NotSupportedError as error:
        return Embedded(error.message)


def run_on_spark(state: SessionState, choice: OnSpark) -> EngineResult:
    """The rows of a query, with the types that the embedded engine gives it.

    Raises QueryCancelledError: the session was interrupted; DataError: an expression failed;
    OperationalError: the job failed.
    """
    state.check_cancelled()
    result = choice.engine.execute(choice.sql, choice.relations, ())
    target = choice.shape.table.schema
    columns = [
        column.cast(field.type) for column, field in zip(result.table.columns, target, strict=True)
    ]
    return EngineResult(pa.Table.from_arrays(columns, schema=target), choice.shape.types)


def _engine(state: SessionState) -> "SparkEngine":
    """The session's engine, started at its first query.

    Raises OperationalError: PySpark or Java is missing, and the session wants Spark;
    NotOnSparkError: it is missing, and the session leaves the choice to us; QueryCancelledError:
    the statement was to end before Spark had started.
    """
    if state.spark is None:
        try:
            state.spark = _started(state)
        except QueryCancelledError:
            raise
        except OperationalError as error:
            if state.settings.engine != "auto":
                raise
            raise NotOnSparkError(error.message) from error
    return state.spark


def _started(state: SessionState) -> "SparkEngine":
    check_pyspark("engine 'spark'", "SET engine = 'duckdb'")
    from pykudu_sql.spark.query.spark_engine import SparkEngine
    from pykudu_sql.spark.sessions.session import start_session

    master = state.settings.spark_master
    return SparkEngine(start_session(master, cancel_check=state.check_cancelled))


def _why_not_read(state: SessionState, query: Query, transaction: Transaction) -> str | None:
    """Why the tables of a query cannot be read by Spark; None if they can."""
    if not query.scans:
        return "it reads no table"
    if query.lists:
        return "it has a long list of values"
    if state.in_memory:
        return "the database is in memory"
    if transaction.has_writes:
        return "the transaction has changes that are not committed"
    if any(isinstance(scan.table, FrameTable) for scan in query.scans):
        return "it reads frames of this program"
    if any(is_system(scan.table) for scan in query.scans):
        return "it reads system tables"
    if any(scan.history is not None for scan in query.scans):
        return "it reads the history of a table"
    history = state.store.history
    for scan in query.scans:
        # Readers elsewhere take the snapshot for a moment of the past, which may not be kept.
        passing = 0 <= history.age_of(scan.table) < _LEAST_AGE
        if passing or (scan.bound is None and transaction.bound < history.mark(scan.table.id)):
            return f"the history of table '{scan.table.name}' is not kept until a job has read it"
    return None


def _why_too_small(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> str | None:
    """Why the work is not worth a Spark job; None if it is."""
    least = state.settings.spark_scan_bytes
    size = sum(
        pruned_scan(scan, bind_predicate(scan.predicate, parameters), transaction).estimated_bytes
        for scan in query.scans
    )
    if size > least:
        return None
    return f"its scans take about {size} bytes, spark_scan_bytes is {least}"


def _relation(
    state: SessionState, scan: Scan, parameters: ParameterValues, transaction: Transaction
) -> StoredRelation:
    schema = scan.table.schema
    bound = transaction.bound if scan.bound is None else scan.bound
    if scan.bound is not None:
        transaction.wait_until_readable(scan.bound)
    return StoredRelation(
        state.store.path,
        scan.table.name,
        tuple(schema.by_id[i] for i in scan.column_ids),
        scan_condition(bind_predicate(scan.predicate, parameters), schema),
        last_before(bound),
    )


def _no_rows(scans: Iterable[Scan]) -> dict[str, pa.Table]:
    return {
        scan.name: scan_schema([scan.table.schema.by_id[i] for i in scan.column_ids]).empty_table()
        for scan in scans
    }


def _check_types(actual: pa.Schema, shape: EngineResult) -> None:
    """Check that Spark's columns can be cast to the types of the embedded engine.

    Raises NotOnSparkError: one does not.
    """
    for number, (ours, theirs) in enumerate(zip(shape.table.schema, actual, strict=True), 1):
        if not _becomes(theirs.type, ours.type):
            kind = shape.types[number - 1]
            raise NotOnSparkError(f"column {number} would be {theirs.type}, not {kind}")


def _becomes(actual: pa.DataType, target: pa.DataType) -> bool:
    """Whether a cast from one type to another loses nothing."""
    if actual.equals(target) or pa.types.is_null(actual):
        return True
    if pa.types.is_decimal(actual) and pa.types.is_decimal(target):
        return bool(actual.scale == target.scale)
    if not pa.types.is_integer(actual):
        return False
    wider = pa.types.is_integer(target) and target.bit_width >= actual.bit_width
    return wider or bool(target.equals(_HUGEINT))
