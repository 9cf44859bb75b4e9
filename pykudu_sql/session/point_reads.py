"""The short path of statements that read one row by its whole key and were planned before.

Such a statement reads for a few microseconds. Its errors, its cancellation, its race against ALTER
TABLE take longer to prepare for than it runs. So it is attempted without: where anything
is out of the ordinary, nothing is done, and it goes the way of all statements, which raises what is
to be raised. Reading twice does no harm.
"""

from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.results.result import Outcome
from pykudu_sql.session.plan_cache import MAX_STATEMENTS, PlanCache, PreparedStatement

if TYPE_CHECKING:
    from pykudu_sql.executor.reading.key_lookup import Lookup
    from pykudu_sql.planner.plan.plan import KeyLookup


class PointReads:
    """The look-ups of a session by the texts of their statements."""

    def __init__(self, state: SessionState, plans: PlanCache) -> None:
        """None yet. `plans`: of the session; a look-up is run while its plan is among them."""
        self._state = state
        self._plans = plans
        self._lookups: dict[str, tuple[PreparedStatement, Lookup]] = {}

    def keep(self, sql: str, prepared: PreparedStatement) -> None:
        """Attempt a statement from now on, if it can be. `prepared`: its plan, run before."""
        plan = prepared.plan
        if type(plan) is not _plan_class() or plan.condition is not None or plan.bound is not None:
            return
        if prepared.settings.statement_timeout or prepared.arity < 0:
            return
        entry = self._lookups.get(sql)
        if entry is not None and entry[0] is prepared:
            return
        if len(self._lookups) >= MAX_STATEMENTS:
            self._lookups.clear()
        self._lookups[sql] = prepared, _lookup_class()(self._state, plan)

    def attempt(self, sql: str, parameters: ParameterValues, *, counts: bool) -> Outcome | None:
        """Run a statement, None where it has to go the way of all statements.

        `counts`: whether `sys.statements` counts it.
        """
        entry = self._lookups.get(sql)
        if entry is None:
            return None
        prepared, lookup = entry
        if type(parameters) is list:
            parameters = tuple(parameters)
        elif type(parameters) is not tuple:
            return None
        state = self._state
        if prepared.arity != len(parameters) or not state.process.is_current:
            return None
        cancellation = state.cancellation
        try:
            with state.lock:
                if cancellation.at_work.locked():  # by a statement whose program code runs this one
                    return None
                started = perf_counter()
                with cancellation.at_work:
                    try:
                        cancellation.begin(0)
                        outcome = self._run(sql, prepared, lookup, parameters)
                    finally:
                        cancellation.end()
                if counts and outcome is not None:
                    seconds = perf_counter() - started
                    self._plans.note(prepared, seconds, outcome.rowcount)
        except Exception:
            return None
        return outcome

    def _run(
        self, sql: str, prepared: PreparedStatement, lookup: "Lookup", parameters: ParameterValues
    ) -> Outcome | None:
        transactions = self._state.transactions
        current = transactions.current
        if current is None:
            self._state.store.refresh()
        catalog = self._state.visible_catalog
        if self._plans.find(sql, catalog, self._state.settings) is not prepared:
            return None
        if current is not None:
            return lookup(parameters)
        return lookup.at_newest(catalog, parameters) if transactions.autocommit else None


@cache
def _plan_class() -> "type[KeyLookup]":
    """Loaded by the first plan: a prompt, and what reads no table, needs none."""
    from pykudu_sql.planner.plan.plan import KeyLookup

    return KeyLookup


@cache
def _lookup_class() -> "type[Lookup]":
    """Loaded by the first look-up: it needs the libraries that read rows."""
    from pykudu_sql.executor.reading.key_lookup import Lookup

    return Lookup
