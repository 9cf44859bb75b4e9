"""What DuckDB's allocator does with memory that is free, seen in processes of their own."""

import _ctypes
import json
import subprocess
import sys

import _duckdb
import pytest

from pykudu_sql.engine.engine_allocator import give_back_freed_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
CHILD = """
import json, sys
import pykudu_sql
from tests.pykudu_sql.limits.peaks import clear_peak, peak

with pykudu_sql.connect(":memory:", autocommit=True, threads=2, memory_limit=sys.argv[1]) as db:
    left = []
    for numbers in (1000, 700_000):
        db.execute(f"SELECT list_sort(range({numbers})), list_reverse(range({numbers}))").fetchone()
        clear_peak()
        left.append(peak())
    print(json.dumps(left))
"""


def left_behind(memory_limit: str) -> int:
    """MiB that a process has more behind a statement over long lists than before it."""
    command = [sys.executable, "-c", CHILD, memory_limit]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, behind = json.loads(done.stdout)
    return int(behind - before)


def test_a_process_of_a_tight_limit_keeps_nothing_of_what_a_statement_had() -> None:
    assert left_behind("400MB") < 25


def test_a_build_with_another_allocator_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "__file__", _ctypes.__file__)
    assert not give_back_freed_memory()
