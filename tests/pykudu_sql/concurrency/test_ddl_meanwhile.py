"""Statements beside which another session alters or drops their table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.executor.transaction_scope import TransactionScope

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int32())])
LARGE, SMALL = 60_000, 600
DROP_RANGE = "ALTER TABLE t DROP RANGE PARTITION VALUES < 10"


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[tuple[pykudu_sql.Connection, pykudu_sql.Connection]]:
    path = str(tmp_path / "my.db")
    with (
        pykudu_sql.connect(path, autocommit=True) as session,
        pykudu_sql.connect(path, autocommit=True) as other,
    ):
        session.execute(
            "CREATE TABLE t (k BIGINT PRIMARY KEY, v INT, w INT)"
            " PARTITION BY RANGE (k) (PARTITION VALUES < 10, PARTITION 10 <= VALUES)"
        )
        session.execute("INSERT INTO t VALUES (1, 1, 1), (20, 1, 1), (30, 1, 1)")
        yield session, other


@pytest.fixture
def before_commit(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Functions that are called when a statement has written and not committed, one each time."""
    waiting: list[Any] = []
    done = TransactionScope._run_action

    def done_and_then(scope: TransactionScope, *arguments: Any) -> Any:
        result = done(scope, *arguments)
        if waiting:
            waiting.pop(0)()
        return result

    monkeypatch.setattr(TransactionScope, "_run_action", done_and_then)
    return waiting


@pytest.mark.parametrize("rows", [LARGE, SMALL])
@pytest.mark.parametrize(
    ("ddl", "selected", "expected"),
    [
        ("ALTER TABLE t ADD COLUMN z INT DEFAULT 7", "min(z)", 7),
        ("ALTER TABLE t DROP COLUMN w, ADD COLUMN w STRING DEFAULT 'new'", "min(w)", "new"),
        ("ALTER TABLE t RENAME COLUMN v TO u", "max(u)", 5),
        ("ALTER TABLE t ALTER COLUMN v TYPE BIGINT", "max(v)", 5),
    ],
)
def test_rows_of_an_append_beside_which_columns_change_are_stored(
    sessions: tuple[pykudu_sql.Connection, pykudu_sql.Connection],
    rows: int,
    ddl: str,
    selected: str,
    expected: object,
) -> None:
    session, other = sessions

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(100, 100 + 3 * rows, rows):
            keys = pa.array(range(start, start + rows), pa.int64())
            yield pa.record_batch([keys, pa.array([5] * rows, pa.int32())], schema=SCHEMA)
            if start == 100:
                other.execute(ddl)

    session.append("t", pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    query = f"SELECT count(*), {selected} FROM t WHERE k >= 100"
    assert session.execute(query).fetchone() == (3 * rows, expected)


@pytest.mark.parametrize(
    "write",
    [
        lambda session: session.execute("UPDATE t SET v = 9").rowcount,
        lambda session: session.executemany("UPDATE t SET v = ?", [(8,), (9,)]).rowcount // 2,
    ],
    ids=["execute", "executemany"],
)
def test_a_statement_whose_table_lost_a_range_is_planned_for_what_is_left(
    sessions: tuple[pykudu_sql.Connection, pykudu_sql.Connection],
    before_commit: list[Any],
    write: Any,
) -> None:
    session, other = sessions
    before_commit.append(lambda: other.execute(DROP_RANGE))
    assert write(session) == 2
    assert session.execute("SELECT k, v FROM t ORDER BY k").fetchall() == [(20, 9), (30, 9)]


@pytest.mark.parametrize(
    ("ddl", "sqlstate"),
    [("DROP TABLE t", "42P01"), ("ALTER TABLE t ALTER COLUMN v SET IMMUTABLE", "23001")],
)
def test_a_statement_that_the_table_takes_no_more_ends_with_that_error_at_once(
    sessions: tuple[pykudu_sql.Connection, pykudu_sql.Connection],
    before_commit: list[Any],
    ddl: str,
    sqlstate: str,
) -> None:
    session, other = sessions
    before_commit.append(lambda: other.execute(ddl))
    before_commit.append(lambda: pytest.fail("it was run again as it had been planned"))
    with pytest.raises(pykudu_sql.Error) as caught:
        session.execute("UPDATE t SET v = 9")
    assert caught.value.sqlstate == sqlstate


def test_a_table_that_changes_again_and_again_ends_with_a_conflict(
    sessions: tuple[pykudu_sql.Connection, pykudu_sql.Connection], before_commit: list[Any]
) -> None:
    session, other = sessions
    flags = ("SET IMMUTABLE", "DROP IMMUTABLE")

    def toggle(turn: int) -> None:
        other.execute(f"ALTER TABLE t ALTER COLUMN w {flags[turn % 2]}")

    before_commit += [lambda turn=turn: toggle(turn) for turn in range(100)]
    with pytest.raises(pykudu_sql.OperationalError, match="changed by another session") as caught:
        session.execute("UPDATE t SET v = 9")
    assert caught.value.sqlstate == "40001"
    assert len(before_commit) == 80


def test_an_open_transaction_is_told_that_its_table_changed(
    sessions: tuple[pykudu_sql.Connection, pykudu_sql.Connection],
) -> None:
    session, other = sessions
    session.execute("BEGIN")
    session.execute("UPDATE t SET v = 9")
    other.execute(DROP_RANGE)
    with pytest.raises(pykudu_sql.OperationalError, match="changed by another session"):
        session.execute("COMMIT")
