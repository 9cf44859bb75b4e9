"""The paths of statements about single rows, which are short: what they must not do each time."""

import dis
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import pykudu_sql

DDL = "CREATE TABLE t (k BIGINT, n INT, x DOUBLE, s STRING, PRIMARY KEY (k))"
STATEMENTS = (
    ("INSERT INTO t VALUES (?, ?, ?, ?)", (1, 2, 0.5, "a")),
    ("UPSERT INTO t VALUES (?, ?, ?, ?)", (1, 3, 1.5, "b")),
    ("UPDATE t SET n = ?, x = ? WHERE k = ?", (5, 0.25, 1)),
    ("SELECT n, x, s FROM t WHERE k = ?", (1,)),
    ("DELETE FROM t WHERE k = ?", (1,)),
)
LITERAL_INSERT = "INSERT INTO t VALUES ({0}, {0}, 0.5, 'a label')"


def imports_of(run: Callable[[], object]) -> Counter[str]:
    """How often each function executes an import statement."""
    counts: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        code = frame.f_code.co_code
        if event == "opcode" and dis.opname[code[frame.f_lasti]] == "IMPORT_NAME":
            counts[f"{frame.f_code.co_filename}:{frame.f_code.co_name}"] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return counts


def test_the_counter_of_imports_counts() -> None:
    def run() -> None:
        import json  # noqa: F401

    assert list(imports_of(run).values()) == [1]


def test_a_statement_about_a_row_executes_no_import_the_second_time() -> None:
    """Each takes about a microsecond of the seventy that such a statement takes."""
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute(DDL)

        def run() -> None:
            for sql, parameters in STATEMENTS:
                cursor = connection.execute(sql, parameters)
                if cursor.description is not None:
                    cursor.fetchall()

        run()
        assert imports_of(run) == Counter()


@pytest.mark.parametrize("sql", [LITERAL_INSERT, LITERAL_INSERT.replace("INSERT", "UPSERT")])
def test_a_literal_insert_executes_no_import_the_second_time(sql: str) -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute(DDL)
        connection.execute(sql.format(1))
        assert imports_of(lambda: connection.execute(sql.format(2))) == Counter()
