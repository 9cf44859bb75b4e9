"""How the processes of `pytest --numprocesses` share the tests.

Those on Spark are one piece, with their one session; in the other long modules each test is a
piece, elsewhere each module, which makes its fixtures once. The long ones begin first, and before
them that on Spark, which takes longest.

A process that dies fails the test that it was running and no other, and the run comes to its end.
xdist's own scheduler hands out again what the dead process had finished, pieces without a test,
and what was not begun to processes that are not ready; for both it waits for ever. And it runs
again what killed the first process.
"""

from collections.abc import Sequence
from typing import Any

from xdist.scheduler import LoadScopeScheduling

SPARK = "tests/spark/"
# Folders and modules of tests that take ten seconds and more.
LONG = (
    SPARK,
    "tests/test_extras.py",
    "tests/shell/slt/test_sql_scripts.py",
    "tests/storage/faults/test_crash.py",
    "tests/storage/hostile/test_hostile.py",
    "tests/storage/faults/test_refused_commits.py",
    "tests/storage/faults/test_store_power_loss.py",
    "tests/storage/transaction/test_bulk_change_commit.py",
    "tests/pykudu_sql/jobs/test_kills.py",
    "tests/pykudu_sql/mutations/",
    "tests/pykudu_sql/sqlalchemy/test_compliance.py",
    "tests/pykudu_sql/processes/test_fork.py",
    "tests/pykudu_sql/limits/test_memory_limit.py",
    "tests/pykudu_sql/limits/test_peaks.py",
    "tests/pykudu_sql/limits/test_value_bounds.py",
    "tests/pykudu_sql/limits/test_value_growth.py",
    "tests/shell/test_operations_page.py",
    "tests/test_guide_pages.py",
    "tests/torture/",
)


def rank(nodeid: str) -> int:
    """What begins before what: the longest piece, then the long ones, then all others."""
    if nodeid.startswith(SPARK):
        return 0
    return 1 if nodeid.startswith(LONG) else 2


class Pieces(LoadScopeScheduling):
    """Hands pieces of the suite to processes, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        """The piece that a test belongs to."""
        if nodeid.startswith(SPARK):
            return SPARK
        return nodeid if nodeid.startswith(LONG) else nodeid.partition("::")[0]

    def remove_node(self, node: Any) -> str | None:
        """The test that a process died of, if any; what it had not begun goes to the others."""
        pieces = self.assigned_work.pop(node)
        waiting = {piece: _unfinished(tests) for piece, tests in pieces.items()}
        died_of = next((test for tests in waiting.values() for test in tests), None)
        for piece, tests in waiting.items():
            left = {test: False for test in tests if test != died_of}
            if left:
                self.workqueue[piece] = left
        for other in self.assigned_work:
            self._reschedule(other)
        return died_of

    def _reschedule(self, node: Any) -> None:
        """Give a process work if it is ready: a process begins a test when it knows the next."""
        if node not in self.registered_collections:
            return
        super()._reschedule(node)
        if (
            self.workqueue
            and not node.shutting_down
            and self._pending_of(self.assigned_work[node]) < 2
        ):
            self._reschedule(node)


def _unfinished(tests: dict[str, bool]) -> Sequence[str]:
    return [test for test, finished in tests.items() if not finished]
