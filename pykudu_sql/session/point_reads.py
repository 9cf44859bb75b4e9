"""The short path of statements that read one row by its whole key and were planned before.

Such a statement reads for a few microseconds. Its errors, its cancellation, its race against ALTER
TABLE take longer to prepare for than it runs. So it is attempted without: where anything
is out of the ordinary, nothing is done, and it goes the way of all statements, which raises what is
to be raised. Reading twice does no harm.
"""

from time import perf_counter

from pykudu_sql.executor.reading.key_lookup import Lookup
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import KeyLookup
from pykudu_sql.results.result import Outcome
from pykudu_sql.session.plan_cache import MAX_STATEMENTS, PlanCache, PreparedStatement


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
        if type(plan) is not KeyLookup or plan.condition is not None or plan.bound is not None:
            return
        if prepared.settings.statement_timeout or prepared.arity < 0:
            return
        entry = self._lookups.get(sql)
        if entry is not None and entry[0] is prepared:
            return
        if len(self._lookups) >= MAX_STATEMENTS:
            self._lookups.clear()
        self._lookups[sql] = prepared, Lookup(self._state, plan)

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
        state, plans = self._state, self._plans
        if prepared.arity != len(parameters) or not state.lock.acquire(blocking=False):
            return None
        try:
            cancellation = state.cancellation
            if cancellation.running:  # a statement whose program code runs this one
                return None
            started = perf_counter()
            cancellation.begin(0)
            try:
                transactions, store = state.transactions, state.store
                current = transactions.current
                if current is None:
                    store.refresh()
                catalog = store.catalog if current is None else current.catalog
                if plans.find(sql, catalog, state.settings) is not prepared:
                    return None
                if current is not None:
                    outcome = lookup(parameters)
                elif transactions.autocommit:
                    outcome = lookup.at_newest(catalog, parameters)
                else:
                    return None
            finally:
                cancellation.end()
            if counts:
                plans.note(prepared, perf_counter() - started, outcome.rowcount)
        except Exception:
            return None
        else:
            return outcome
        finally:
            state.lock.release()
