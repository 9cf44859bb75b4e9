"""Queries whose one row the planner has computed: `SELECT 1` and its like."""

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.command import ConstantRow
from pykudu_sql.results.result import Outcome, RowResult, header


class Constants:
    """A prepared `ConstantRow`."""

    __slots__ = ("_header", "_row", "_state")

    def __init__(self, state: SessionState, plan: ConstantRow) -> None:
        """The row is always the same."""
        self._state = state
        self._header = header(*((column.name, column.type) for column in plan.columns))
        self._row = tuple(column.value for column in plan.columns)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """The row; as any query, it opens a transaction where one is due."""
        self._state.transactions.querying()
        return Outcome(RowResult(self._header, (self._row,)), 1)
