"""The plans of a session by the texts of their statements, with counters of their runs.

A plan counts its own runs, without a lock, since only its session runs it. What it has counted is
added to the statement log of the database when it leaves the cache; until then the log asks here.
"""

import logging
from collections import OrderedDict
from math import inf
from typing import TYPE_CHECKING, Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.session_state import Prepared
from pykudu_sql.planner.operands.bound_parameters import row_count
from pykudu_sql.planner.operands.value import ParameterKey, ParameterValues
from pykudu_sql.settings import SessionSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.upkeep.statement_log import Counted, StatementCounts, StatementLog

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan

MAX_STATEMENTS: Final = 512
MAX_CACHED_TEXT: Final = 16 * 1024
_LOG: Final = logging.getLogger("pykudu_sql.statements")


@dataclass(slots=True)
class RunCounts(StatementCounts):
    """Counters of a plan's runs.

    `watch`: a run that takes more seconds is looked at: the longest so far, or a slow one; every
    run of a plan that is not kept.
    """

    watch: float = 0.0


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A planned statement.

    Attributes:
        plan: what it means.
        run: runs it.
        arity: positional parameters it takes; -1 when it takes named ones.
        catalog, settings: it was planned under.
        text: without its values.
        counts: of its runs.
        row_counts: the parameters whose values the plan has as numbers of rows.
    """

    plan: "Plan"
    run: Prepared
    arity: int
    catalog: Catalog
    settings: SessionSettings
    text: str
    counts: RunCounts
    row_counts: tuple[ParameterKey, ...] = ()


class PlanCache:
    """The newest plans, at most `MAX_STATEMENTS`. Used by one thread at a time, but `counted`."""

    def __init__(self, log: StatementLog) -> None:
        """No plan yet. `log`: of the database; `close` ends what it has with it."""
        self._log = log
        self._plans: OrderedDict[str, PreparedStatement] = OrderedDict()
        self._row_counts: dict[str, tuple[ParameterKey, ...]] = {}
        log.follow(self.counted)

    def find(
        self, sql: str, catalog: Catalog, settings: SessionSettings
    ) -> PreparedStatement | None:
        """The plan of a text, if it was made under these; it is the last to leave then."""
        cached = self._plans.get(sql)
        if cached is None or cached.catalog is not catalog or cached.settings is not settings:
            return None
        self._plans.move_to_end(sql)
        return cached

    def find_for(
        self, sql: str, parameters: ParameterValues, catalog: Catalog, settings: SessionSettings
    ) -> PreparedStatement | None:
        """The plan of a text that was made for the numbers of rows among some parameters."""
        keys = self._row_counts.get(sql)
        variant = None if keys is None else _variant(sql, keys, parameters)
        return None if variant is None else self.find(variant, catalog, settings)

    def keep(self, sql: str, prepared: PreparedStatement, parameters: ParameterValues) -> None:
        """Put a plan in place of the one that the text has, if any.

        `parameters`: that it was made with; it is for the numbers of rows among them.
        """
        if prepared.row_counts:
            if len(self._row_counts) >= MAX_STATEMENTS:
                self._row_counts.clear()
            self._row_counts[sql] = prepared.row_counts
            sql = _variant(sql, prepared.row_counts, parameters) or sql
        old = self._plans.pop(sql, None)
        self._plans[sql] = prepared
        if old is not None:
            self._log.add(old.text, old.counts)
        if len(self._plans) > MAX_STATEMENTS:
            _, oldest = self._plans.popitem(last=False)
            self._log.add(oldest.text, oldest.counts)

    def clear(self) -> None:
        """Forget all plans."""
        while self._plans:
            _, oldest = self._plans.popitem(last=False)
            self._log.add(oldest.text, oldest.counts)

    def close(self) -> None:
        """Forget all plans for good."""
        self.clear()
        self._log.leave(self.counted)

    def counted(self) -> Counted:
        """What the plans have counted so far."""
        return [(prepared.text, prepared.counts) for prepared in list(self._plans.values())]

    def note(self, prepared: PreparedStatement, seconds: float, rows: int) -> None:
        """Count a run of a plan. `rows`: -1 where that has no meaning."""
        counts = prepared.counts
        counts.calls += 1
        counts.seconds += seconds
        if rows > 0:
            counts.rows += rows
        if seconds > counts.watch:
            self._look_at(prepared, seconds)

    def _look_at(self, prepared: PreparedStatement, seconds: float) -> None:
        """A run that took longer than others of its plan, or that is logged."""
        counts, limit = prepared.counts, _slow_seconds(prepared.settings)
        counts.longest = max(counts.longest, seconds)
        self._log_slow(prepared.text, seconds, limit)
        if counts.watch < 0:
            self._log.add(prepared.text, counts)
        else:
            counts.watch = min(counts.longest, limit)

    def note_failure(self, text: str) -> None:
        """Count a run that failed. `text`: without values."""
        self._log.add(text, StatementCounts(failures=1))

    def note_call(self, text: str, seconds: float, rows: int, settings: SessionSettings) -> None:
        """Count what was no statement, but worth one. `text`: what it was."""
        self._log.add(text, StatementCounts(1, 0, max(rows, 0), seconds, seconds))
        self._log_slow(text, seconds, _slow_seconds(settings))

    def _log_slow(self, text: str, seconds: float, limit: float) -> None:
        if seconds >= limit:
            self._log.slow += 1
            _LOG.warning("took %.3f s: %s", seconds, text)


def _variant(sql: str, keys: tuple[ParameterKey, ...], parameters: ParameterValues) -> str | None:
    """The name of a text's plan for numbers of rows; None where a parameter is none."""
    counts = [row_count(parameters, key) for key in keys]
    return None if None in counts else f"{sql}\0{counts}"


def _slow_seconds(settings: SessionSettings) -> float:
    """From where on a statement is logged."""
    milliseconds = settings.log_slow_statements
    return milliseconds / 1000 if milliseconds else inf
