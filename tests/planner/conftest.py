"""A catalog to plan against, and the engine to evaluate constants and run residual SQL."""

import uuid
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import duckdb
import pytest

from pykudu_sql.engine.engine_errors import translate
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, new_id
from pykudu_sql.storage.catalog.table_info import TableInfo, TabletInfo
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type

NOW = 1_700_000_000_000_000 << 12
OLD_BOUND = 1_600_000_000_000_000 << 12


def make_table(
    name: str,
    columns: str,
    key: tuple[str, ...],
    partitioning: PartitionSchema | None = None,
    *,
    unique: bool = True,
) -> TableInfo:
    """A table of `name TYPE` pairs separated by semicolons; a `!` makes a column NOT NULL."""
    made = []
    for pair in columns.split(";"):
        column, _, type_name = pair.strip().partition(" ")
        nullable = not type_name.endswith("!")
        made.append(ColumnSchema(0, column, parse_type(type_name.rstrip("!")), nullable))
    schema = create_schema(made, key, unique=unique)
    scheme = partitioning or PartitionSchema()
    tablets = tuple(TabletInfo(str(uuid.uuid4()), p) for p in scheme.partitions())
    return TableInfo(str(uuid.uuid4()), name, schema, scheme, tablets)


def tables() -> list[TableInfo]:
    """The tables most tests use."""
    ranges = tuple(RangePartition((m * 100,), ((m + 1) * 100,)) for m in range(12))
    events = PartitionSchema((HashDimension((0,), 4),), (1,), ranges)
    return [
        make_table("t", "id BIGINT; a INT; b INT; s STRING; d DOUBLE; flag BOOLEAN", ("id",)),
        make_table("u", "id BIGINT; t_id BIGINT; name STRING; note STRING!", ("id",)),
        make_table(
            "events",
            "host STRING; at INT; value DOUBLE; amount DECIMAL(9,2); day DATE; ts TIMESTAMP",
            ("host", "at"),
            events,
        ),
        make_table(
            "kinds",
            "k INT; f FLOAT; small TINYINT; code VARCHAR(3); raw BINARY; big DECIMAL(30,4)",
            ("k",),
        ),
        make_table("logs", "day INT; msg STRING", ("day",), unique=False),
    ]


def catalog_of(made: list[TableInfo], version: int = 1) -> Catalog:
    """A catalog of tables."""
    databases = MappingProxyType({"db": DatabaseInfo(new_id(), "db")})
    tables = MappingProxyType({table.name: table for table in made})
    return Catalog(tables, version, 0, databases=databases)


@pytest.fixture(scope="session")
def evaluate_row() -> Callable[[str], Sequence[Any]]:
    """The engine's values of a constant SELECT."""
    connection = duckdb.connect()

    def run(sql: str) -> Sequence[Any]:
        try:
            row: Sequence[Any] | None = connection.execute(sql).fetchone()
        except duckdb.Error as error:
            raise translate(error) from None
        assert row is not None
        return row

    return run


@pytest.fixture(scope="session")
def evaluate(evaluate_row: Callable[[str], Sequence[Any]]) -> Callable[[str], Any]:
    """The engine's value of a constant SELECT."""
    return lambda sql: evaluate_row(sql)[0]


@pytest.fixture(scope="session")
def context(evaluate_row: Callable[[str], Sequence[Any]]) -> PlanContext:
    """The tables of `tables()` now; before OLD_BOUND there was only a narrower `t`."""
    now = catalog_of(tables())
    old = catalog_of([make_table("t", "id BIGINT; was INT", ("id",))], 0)
    return PlanContext(
        now,
        lambda bound: old if bound <= OLD_BOUND else now,
        NOW,
        evaluate_row,
        PlanSettings(),
    )
