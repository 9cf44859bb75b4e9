"""The tables of the workloads, once for all engines."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A table to be created in every engine.

    Attributes:
        name: table name.
        columns: name -> SQL type, in Kudu's dialect (which DuckDB reads too).
        key: the primary key columns.
        buckets: hash partitions, where an engine has them.
        hashed: how many columns of the key decide the partition; None for all.
    """

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    buckets: int
    hashed: int | None = None

    @property
    def partitions(self) -> str:
        """The PARTITION BY clause in our SQL."""
        return f"PARTITION BY HASH ({', '.join(self.key[: self.hashed])}) PARTITIONS {self.buckets}"

    def ddl(self, types: Mapping[str, str], suffix: str) -> str:
        """CREATE TABLE with some types spelled differently and something at its end."""
        columns = ", ".join(f"{name} {types.get(t, t)}" for name, t in self.columns.items())
        key = ", ".join(self.key)
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({key})) {suffix}".rstrip()


LINEITEM = BenchTable(
    name="lineitem",
    columns={
        "l_orderkey": "BIGINT",
        "l_partkey": "BIGINT",
        "l_suppkey": "BIGINT",
        "l_linenumber": "INT",
        "l_quantity": "DECIMAL(15,2)",
        "l_extendedprice": "DECIMAL(15,2)",
        "l_discount": "DECIMAL(15,2)",
        "l_tax": "DECIMAL(15,2)",
        "l_returnflag": "STRING",
        "l_linestatus": "STRING",
        "l_shipdate": "DATE",
        "l_commitdate": "DATE",
        "l_receiptdate": "DATE",
        "l_shipinstruct": "STRING",
        "l_shipmode": "STRING",
        "l_comment": "STRING",
    },
    key=("l_orderkey", "l_linenumber"),
    buckets=4,
    hashed=1,
)

USERS = BenchTable(
    name="usertable",
    columns={"id": "BIGINT", **{f"field{number}": "STRING" for number in range(10)}},
    key=("id",),
    buckets=4,
)

POINTS = BenchTable(
    name="points",
    columns={"id": "BIGINT", "hits": "INT", "score": "DOUBLE", "label": "STRING"},
    key=("id",),
    buckets=4,
)

SERIES = BenchTable(
    name="series",
    columns={"host": "BIGINT", "at": "BIGINT", "value": "DOUBLE"},
    key=("host", "at"),
    buckets=4,
    hashed=1,
)
