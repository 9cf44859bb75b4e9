"""Planning alone: processor time from the text of a statement to its plan, nothing cached.

Statements of several kinds over two empty tables, in turns. What planning asks of the engine is in
the time. Compare two versions by turns of this workload in both.
"""

import statistics
import time
from collections.abc import Iterator, Mapping

import duckdb

from benchmarks.operations import ours
from benchmarks.survey import Figure, Survey
from benchmarks.workbench import Workbench
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.open_store import OpenStore

ROUNDS = 40
_TABLES = (
    "CREATE TABLE t (id BIGINT PRIMARY KEY, g INT, a INT, s TEXT, x DOUBLE, d DECIMAL(12, 2),"
    " at TIMESTAMP)",
    "CREATE TABLE u (id BIGINT PRIMARY KEY, t_id BIGINT, b INT, name TEXT, price DECIMAL(10, 2))",
)
STATEMENTS: Mapping[str, str] = {
    "select 1": "SELECT 1",
    "key lookup": "SELECT a, s FROM t WHERE id = ?",
    "filter": "SELECT a, s FROM t WHERE a > 5 AND s LIKE 'ab%' ORDER BY a LIMIT 10",
    "filter, parameters": "SELECT a, s FROM t WHERE a > ? AND s = ? ORDER BY a LIMIT 10",
    "GROUP BY": "SELECT g, count(*), sum(a), avg(x) FROM t WHERE a > 5 GROUP BY g ORDER BY g",
    "join": "SELECT t.s, u.name FROM t JOIN u ON t.id = u.t_id WHERE t.a > 10 ORDER BY u.name",
    "join, parameters": (
        "SELECT t.s, u.name FROM t JOIN u ON t.id = u.t_id WHERE t.a > ? AND u.b < ?"
    ),
    "join, decimals": (
        "SELECT t.s, sum(t.d * u.price) FROM t JOIN u ON t.id = u.t_id"
        " WHERE t.d > 10.5 AND u.price < t.d GROUP BY t.s"
    ),
    "decimals, parameters": (
        "SELECT id, d + ?, CASE WHEN d > ? THEN d ELSE 0 END FROM t WHERE d BETWEEN ? AND ?"
    ),
    "functions": (
        "SELECT upper(s), substr(s, 1, 3), coalesce(a, 0), round(x, 2), date_trunc('day', at),"
        " concat(s, 'x') FROM t WHERE lower(s) = 'abc'"
    ),
    "WITH": (
        "WITH q AS (SELECT g, sum(a) AS total FROM t GROUP BY g)"
        " SELECT q.g, q.total, u.name FROM q JOIN u ON u.b = q.g WHERE q.total > 100"
    ),
    "INSERT": "INSERT INTO u (id, t_id, b, name, price) VALUES (?, ?, ?, ?, ?)",
    "UPDATE by key": "UPDATE t SET a = ?, s = ? WHERE id = ?",
    "UPDATE": "UPDATE t SET a = a + 1 WHERE g = 5",
    "SUMMARIZE": "SUMMARIZE t",
    "SHOW COLUMN STATS": "SHOW COLUMN STATS t",
}


def planning(bench: Workbench) -> Survey:
    """Processor time to plan statements of several kinds."""
    return Survey(
        name="planning",
        title="processor time to plan one statement, not cached, over empty tables",
        measure=lambda: list(_measure(bench)),
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    peer, _ = bench.open("pykudu", durable=False)
    bench.close_later(peer.close)
    for table in _TABLES:
        ours(peer).execute(table, ())
    context = _context(ours(peer).store)
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for sql in STATEMENTS.values():
        plan(sql, context)
    for _ in range(bench.rounds or ROUNDS):
        for name, sql in STATEMENTS.items():
            times[name].append(_seconds(sql, context))
    for name, samples in times.items():
        yield Figure(name, min(samples) * 1e6, "us")
        yield Figure(f"{name}, median", statistics.median(samples) * 1e6, "us")


def _context(store: OpenStore) -> PlanContext:
    """The world as a session of the database plans in it."""
    engine = duckdb.connect()
    return PlanContext(
        store.catalog.in_database(DEFAULT_DATABASE),
        lambda bound: store.catalog_at(bound).in_database(DEFAULT_DATABASE),
        store.now(),
        lambda sql: engine.sql(sql).fetchall()[0],
    )


def _seconds(sql: str, context: PlanContext) -> float:
    start = time.process_time()
    plan(sql, context)
    return time.process_time() - start
