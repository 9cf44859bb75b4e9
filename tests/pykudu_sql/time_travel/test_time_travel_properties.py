"""What time travel promises, over random histories.

A query AS OF a moment answers as on a database where only the commits until then were replayed, and
the changes between two moments, applied to the first, give the second.
"""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql

COMMITS = 14
CREATE = (
    "CREATE TABLE t (k INT, g STRING, v INT, w DOUBLE, PRIMARY KEY (k, g)) "
    "PARTITION BY HASH (k) PARTITIONS 2",
    "CREATE TABLE u (id INT PRIMARY KEY, k INT)",
)
QUERIES = (
    "SELECT * FROM t{0} ORDER BY k, g",
    "SELECT k, g, v FROM t{0} WHERE k = 3 AND g = 'b'",
    "SELECT count(*), min(k), max(k) FROM t{0}",
    "SELECT g, count(*), sum(v), max(w) FROM t{0} WHERE v > 2 GROUP BY g ORDER BY g",
    "SELECT k, id FROM t{0} AS t JOIN u{0} AS u USING (k) WHERE v IS NOT NULL ORDER BY 1, 2",
    "SELECT t.k, u.id FROM t{0} AS t LEFT JOIN u{0} AS u ON t.k = u.k ORDER BY 1, 2",
    "SELECT k, g FROM t{0} WHERE k IN (SELECT k FROM u{0} WHERE id > 3) ORDER BY 1, 2",
    "SELECT k, g FROM t{0} WHERE k NOT IN (SELECT k FROM u{0} WHERE k IS NOT NULL) ORDER BY 1, 2",
    "SELECT * FROM (SELECT k, max(v) AS top FROM t{0} GROUP BY k) x WHERE k < 4 ORDER BY 1",
    "SELECT k, row_number() OVER (PARTITION BY g ORDER BY k) FROM t{0} ORDER BY g, k",
)  # fmt: skip


def _statement(pick: random.Random) -> str:
    k, g, v = pick.randint(0, 7), pick.choice("abc"), pick.choice(["NULL", str(pick.randint(0, 9))])
    return pick.choice(
        [
            f"UPSERT INTO t VALUES ({k}, '{g}', {v}, {k / 4})",
            f"UPSERT INTO t VALUES ({k}, '{g}', {v}, NULL), ({k + 1}, '{g}', 1, 0.5)",
            f"UPSERT INTO t (k, g, v) SELECT id, '{g}', k FROM u",
            f"UPSERT INTO u VALUES ({k}, {v}), ({k + 2}, {k})",
            f"UPDATE t SET v = v + 1, w = NULL WHERE k < {k}",
            f"UPDATE t SET v = {v} WHERE g = '{g}'",
            f"DELETE FROM t WHERE k = {k}",
            f"DELETE FROM t WHERE g = '{g}' AND v > 4",
            f"DELETE FROM u WHERE id > {k}",
        ]
    )


def _commit(pick: random.Random) -> list[str]:
    """The statements of one transaction."""
    return [_statement(pick) for _ in range(pick.choice([1, 1, 2, 4]))]


def _replay(connection: pykudu_sql.Connection, commits: list[list[str]]) -> Iterator[int]:
    """Run transactions; the moment behind each."""
    for statements in commits:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        yield connection.snapshot_timestamp()


def _rows(connection: pykudu_sql.Connection, sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize("seed", range(4))
def test_a_query_as_of_a_moment_answers_as_if_nothing_came_after(seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    commits = [_commit(pick) for _ in range(COMMITS)]
    with pykudu_sql.connect(str(tmp_path / "whole"), durability="off") as whole:
        for statement in CREATE:
            whole.execute(statement)
        moments = []
        for moment in _replay(whole, commits):
            moments.append(moment)
            upkeep = pick.choice([None, None, "FLUSH TABLE t", "OPTIMIZE TABLE t", "FLUSH TABLE u"])
            if upkeep is not None:
                whole.execute(upkeep)
        for count in sorted(pick.sample(range(COMMITS + 1), 6)):
            if count == 0:
                continue
            with pykudu_sql.connect(":memory:") as part:
                for statement in CREATE:
                    part.execute(statement)
                list(_replay(part, commits[:count]))
                travel = f" FOR SYSTEM_TIME AS OF {moments[count - 1]}"
                for query in QUERIES:
                    then = _rows(whole, query.format(travel))
                    assert then == _rows(part, query.format("")), (count, query)


@pytest.mark.parametrize("seed", range(4))
def test_changes_applied_to_one_moment_give_another(seed: int) -> None:
    pick = random.Random(100 + seed)
    with pykudu_sql.connect(":memory:") as connection:
        for statement in CREATE:
            connection.execute(statement)
        moments = []
        for moment in _replay(connection, [_commit(pick) for _ in range(COMMITS)]):
            moments.append(moment)
            if pick.random() < 0.3:
                connection.execute("FLUSH TABLE t")
        for _ in range(8):
            low, high = sorted(pick.sample(moments, 2))
            state = Counter(_rows(connection, f"SELECT * FROM t FOR SYSTEM_TIME AS OF {low}"))
            changes = _rows(
                connection,
                f"SELECT _change_type, k, g, v, w FROM CHANGES(t, {low}, {high}) "
                "ORDER BY _commit_timestamp",
            )
            for kind, *row in changes:
                state[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
            after = Counter(_rows(connection, f"SELECT * FROM t FOR SYSTEM_TIME AS OF {high}"))
            assert {row: n for row, n in state.items() if n} == dict(after)
