"""FLUSH, OPTIMIZE and VACUUM, and what they report.

Asked to stop, they do so between two steps: the step at hand has no effect, those before it stay.
"""

from pykudu_sql.engine.ctrl_c import ctrl_c_interrupts
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import Flush, Optimize, Vacuum
from pykudu_sql.results.result import Outcome, RowResult, header
from pykudu_sql.storage.common.types.types import DataType, Kind

_NUMBER = DataType(Kind.INT64)
_REAL = DataType(Kind.DOUBLE)
_OPTIMIZED = header(
    ("operations", _NUMBER),
    ("rowsets_before", _NUMBER),
    ("rowsets_after", _NUMBER),
    ("bytes_before", _NUMBER),
    ("bytes_after", _NUMBER),
    ("height_before", _REAL),
    ("height_after", _REAL),
)
_VACUUMED = header(
    ("undo_bytes", _NUMBER),
    ("rowset_bytes", _NUMBER),
    ("log_bytes", _NUMBER),
    ("files", _NUMBER),
    ("tablets", _NUMBER),
)


def flush(state: SessionState, plan: Flush) -> Outcome:
    """FLUSH of one table or of all."""
    name = None if plan.table is None else plan.table.name
    with ctrl_c_interrupts(state.cancellation.request):
        written = state.store.flush(name, state.checkpoint)
    return Outcome(None, -1, f"Wrote {written} file(s)")


def optimize(state: SessionState, plan: Optimize) -> Outcome:
    """OPTIMIZE of a table: one row that tells it before and after."""
    with ctrl_c_interrupts(state.cancellation.request):
        done = state.store.optimize(plan.table.name, plan.full, state.checkpoint)
    row = (
        done.operations,
        done.rowsets_before,
        done.rowsets_after,
        done.bytes_before,
        done.bytes_after,
        done.height_before,
        done.height_after,
    )
    return Outcome(RowResult(_OPTIMIZED, [row]), 1, "Table has been optimized.")


def vacuum(state: SessionState, plan: Vacuum) -> Outcome:
    """VACUUM of one table or of all: one row that tells what went."""
    name = None if plan.table is None else plan.table.name
    with ctrl_c_interrupts(state.cancellation.request):
        done = state.store.vacuum(name, state.checkpoint)
    row = (done.undo_bytes, done.rowset_bytes, done.log_bytes, done.files, done.tablets)
    return Outcome(RowResult(_VACUUMED, [row]), 1, "Old history has been dropped.")
