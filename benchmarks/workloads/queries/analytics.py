"""TPC-H queries 1 and 6 over lineitem that lies in each engine's own table, everything hot."""

import math
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.workbench import Workbench

NUMBERS = (int, float, Decimal)
Q1 = """
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price,
       avg(l_discount) AS avg_disc, count(*) AS count_order
FROM lineitem WHERE l_shipdate <= DATE '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
"""
Q6 = """
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
"""


def q1(bench: Workbench) -> Race:
    """One operation: TPC-H Q1, eight aggregates over nearly all rows, in four groups."""
    return _race(bench, "q1", "TPC-H Q1", Q1)


def q6(bench: Workbench) -> Race:
    """One operation: TPC-H Q6, one sum over the 2% of rows that pass three ranges."""
    return _race(bench, "q6", "TPC-H Q6", Q6)


def _race(bench: Workbench, name: str, title: str, sql: str) -> Race:
    return Race(
        name=name,
        title=f"{title} at SF{bench.scale:g}, hot, to an Arrow table; duckdb on its native table",
        reference="duckdb",
        contestants=[
            _contestant(bench, peer, sql) for peer in bench.among("pykudu", "duckdb", "deltalake")
        ],
        rounds=bench.rounds or 9,
        turn_seconds=0.2,
        goals=[Goal("pykudu", "duckdb", 1 / 1.3)],
        same=same_rows,
    )


def _contestant(bench: Workbench, name: str, sql: str) -> Contestant:
    peer = bench.with_lineitem(name)

    def run(operations: int) -> None:
        query = peer().query
        for _ in range(operations):
            query(sql)

    def prepare() -> None:
        peer()

    return Contestant(name, run, prepare, answer=lambda: result_rows(peer().query(sql)))


def result_rows(result: pa.Table) -> list[tuple[object, ...]]:
    """A result as tuples."""
    return list(zip(*(column.to_pylist() for column in result.columns), strict=True))


def same_rows(some: Sequence[tuple[object, ...]], others: Sequence[tuple[object, ...]]) -> bool:
    """Equal, numbers to nine digits or six decimal places: an average of decimals is a double in
    one engine and a decimal with six places in another.
    """
    return len(some) == len(others) and all(
        len(row) == len(other) and all(map(_same_value, row, other))
        for row, other in zip(some, others, strict=True)
    )


def _same_value(value: object, other: object) -> bool:
    if isinstance(value, NUMBERS) and isinstance(other, NUMBERS):
        return math.isclose(float(value), float(other), rel_tol=1e-9, abs_tol=1e-6)
    return value == other
