"""Plans the statements of a session: what a plan may depend on, and how it is made ready to run."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pykudu_sql.executor.caller_scope import calling_frame, frame_in_scope
from pykudu_sql.executor.executor import prepare
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.bound_parameters import BoundParameters, can_bind
from pykudu_sql.planner.operands.value import ParameterKey, ParameterValues
from pykudu_sql.planner.plan.context import ListedRows, PlanContext, PlanSettings
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.statement_text import normalised
from pykudu_sql.session.plan_cache import MAX_CACHED_TEXT, PreparedStatement, RunCounts
from pykudu_sql.session.registered_frames import RegisteredFrames
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.errors import NotSupportedError, SyntaxError, UndefinedTableError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan

_LISTED_AT_ONCE = 512


class StatementPlanner:
    """Plans statements of one session."""

    def __init__(self, state: SessionState, frames: RegisteredFrames) -> None:
        """Plan for a session. `frames`: that statements read as tables."""
        self._state = state
        self._frames = frames

    def prepare(
        self, sql: str, parameters: ParameterValues | None, catalog: Catalog
    ) -> tuple[PreparedStatement, bool]:
        """A statement's plan, made ready to run, and whether it may be kept for the next run.

        Args:
            sql: its text.
            parameters: that it is to be run with; None where those are many.
            catalog: that it sees.

        Raises Error: it is no statement, or names what is not there.
        """
        _check_text(sql)
        bound_parameters = None
        if parameters is not None and can_bind(parameters):
            bound_parameters = BoundParameters(sql, parameters)
        try:
            statement_plan = plan(sql, self.context(catalog, bound_parameters))
        except UndefinedTableError as error:
            if catalog is not self._state.store.catalog:
                error.hint = "the transaction sees the tables of its beginning, COMMIT those of now"
            raise
        used, counts = set[ParameterKey](), set[ParameterKey]()
        if bound_parameters is not None:
            used, counts = bound_parameters.used, bound_parameters.counts
        keys = (*statement_plan.parameters, *used, *counts)
        arity = -1 if any(isinstance(key, str) for key in keys) else len(set(keys))
        is_cacheable = statement_plan.cacheable and not used and len(sql) <= MAX_CACHED_TEXT
        prepared = PreparedStatement(
            statement_plan,
            prepare(self._state, statement_plan),
            arity,
            catalog,
            self._state.settings,
            self.text_of(sql),
            RunCounts(watch=0.0 if is_cacheable else -1.0),
            tuple(counts),
        )
        return prepared, is_cacheable

    def text_of(self, sql: str) -> str:
        """The text of a statement without its values."""
        double_quoted = self._state.settings.double_quoted_strings
        return normalised(sql, double_quoted_strings=double_quoted)

    def context(
        self, catalog: Catalog, bound_parameters: BoundParameters | None = None
    ) -> PlanContext:
        """What a plan may depend on, at the time that its statement begins.

        `catalog`: that the statement sees.
        """
        state = self._state
        store, settings, current = state.store, state.settings, state.transactions.current
        catalog_at = store.catalog_at if current is None else current.catalog_at
        as_of = None if settings.as_of is None else bound_at(settings.as_of)
        state.time.restart()
        return PlanContext(
            catalog.in_database(settings.database),
            lambda bound: catalog_at(bound).in_database(settings.database),
            state.time.timestamp,
            self._evaluate,
            PlanSettings(
                settings.default_hash_partitions,
                settings.implicit_primary_key,
                as_of,
                settings.database,
                settings.row_errors == "collect",
                settings.double_quoted_strings,
            ),
            store.definitions.snapshots,
            prepared=state.prepared,
            bound_parameters=bound_parameters,
            list_rows=self._list_rows,
            frames=self._frames.by_name,
            frame_in_scope=partial(frame_in_scope, calling_frame() if settings.frames else None),
            cancel_check=state.check_cancelled,
        )

    def _list_rows(self, statement_plan: "Plan") -> ListedRows:
        if statement_plan.parameters:
            raise NotSupportedError("a listing in a query cannot have parameters")
        result = prepare(self._state, statement_plan)(()).result
        if result is None:
            raise NotSupportedError("what stands in FROM lists nothing")
        rows: list[Sequence[Any]] = []
        while batch := result.fetch(_LISTED_AT_ONCE):
            rows.extend(batch)
        return ListedRows(result.names, list(map(str, result.types)), rows)

    def _evaluate(self, sql: str) -> Sequence[Any]:
        from pykudu_sql.results.table_result import in_microseconds, python_rows

        self._state.check_cancelled()
        result = self._state.engine.execute(sql, {}, ())
        return python_rows(in_microseconds(result.table), result.types)[0]


def _check_text(sql: str) -> None:
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise SyntaxError(
            f"the statement is not valid Unicode text at character {error.start + 1}",
            sqlstate="22021",
        ) from error
