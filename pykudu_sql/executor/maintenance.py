"""FLUSH, OPTIMIZE, VACUUM and RESET STATEMENTS, and what they report.

A cancelled one stops between two steps: the unfinished step has no effect, those before it stay.
"""

from dataclasses import astuple

from pykudu_sql.engine.ctrl_c import ctrl_c_interrupts
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import Flush, Optimize, ResetStatements, Vacuum
from pykudu_sql.results.result import Outcome, RowResult, header_of

_OPTIMIZED = header_of(
    "operations number, rowsets_before number, rowsets_after number, bytes_before number, "
    "bytes_after number, height_before real, height_after real"
)
_VACUUMED = header_of(
    "undo_bytes number, rowset_bytes number, log_bytes number, files number, tablets number"
)


def flush(state: SessionState, plan: Flush) -> Outcome:
    """FLUSH of one table or of all."""
    name = None if plan.table is None else plan.table.name
    with ctrl_c_interrupts(state.cancellation.request), state.followed():
        written = state.store.flush(name, state.check_cancelled)
    return Outcome(None, -1, f"Wrote {written} file(s)")


def optimize(state: SessionState, plan: Optimize) -> Outcome:
    """OPTIMIZE of a table: one row with its sizes before and after."""
    with ctrl_c_interrupts(state.cancellation.request), state.followed():
        report = state.store.optimize(plan.table.name, plan.full, state.check_cancelled)
    return Outcome(RowResult(_OPTIMIZED, [astuple(report)]), 1, "Table has been optimized.")


def vacuum(state: SessionState, plan: Vacuum) -> Outcome:
    """VACUUM of one table or of all: one row with what was removed."""
    name = None if plan.table is None else plan.table.name
    with ctrl_c_interrupts(state.cancellation.request), state.followed():
        report = state.store.vacuum(name, state.check_cancelled)
    return Outcome(RowResult(_VACUUMED, [astuple(report)]), 1, "Old history has been dropped.")


def reset_statements(state: SessionState, plan: ResetStatements) -> Outcome:
    """RESET STATEMENTS: the counters of each statement begin anew."""
    state.store.statements.reset()
    return Outcome(message="Statements are counted anew.")
