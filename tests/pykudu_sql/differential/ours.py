"""Our side: one database with its moments, asked with and without what makes queries fast."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pykudu_sql
from pykudu_sql.executor.reading import early_subqueries, join_bounds, join_scans
from pykudu_sql.executor.reading.groups import dictionary_codes, sorted_groups
from pykudu_sql.executor.reading.queries import select
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from tests.pykudu_sql.differential.tables import Table, draw_partitions


class Ours:
    """A database of ours that follows a world.

    Attributes:
        moments: the hybrid time behind each version.
    """

    def __init__(self, path: Path) -> None:
        self.moments: list[int] = []
        self._path = str(path)
        self._connection = pykudu_sql.connect(self._path, autocommit=True, durability="off")

    def create(self, table: Table, pick: Random) -> None:
        """Make a table, partitioned in some way."""
        columns = ", ".join(f"{c.name} {c.type}" for c in table.columns)
        keys = ", ".join(column.name for column in table.keys)
        partitions = draw_partitions(pick, table)
        self.run(f"CREATE TABLE {table.name} ({columns}, PRIMARY KEY ({keys})){partitions}")

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement that gives no rows."""
        self._connection.execute(sql, tuple(values))

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        self._connection.executemany(sql, rows)

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query, by codes, groups by key, bounds and sets however few there are."""
        few_rows = patch.object(dictionary_codes, "LEAST_ROWS", 0)
        few_grouped = patch.object(sorted_groups, "LEAST_ROWS", 0)
        bounded = patch.object(join_bounds, "LEAST_ROWS", 0)
        filtered = patch.object(join_scans, "LEAST_LOOKED_UP", 0)
        early = patch.multiple(early_subqueries, LEAST_LOOKED_UP=0, _MANY_COLUMNS=0)
        with few_rows, few_grouped, bounded, filtered, early:
            return self._connection.execute(sql, tuple(values)).fetchall()

    def rows_unaided(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The same from scans of whole tables.

        No key look-up, no predicate or limit in a scan, no answer from metadata, no codes, always
        the engine: what pruning, zone maps, indexes and push-down do is left to the engine.
        """
        session = self._connection._session
        query = unaided(
            plan_rows(SourceText(sql), session._planner.context(session._state.visible_catalog))
        )
        result = select(session._state, query, tuple(values)).result
        assert result is not None
        return result.fetch(sys.maxsize)

    def remember(self) -> None:
        """A version ends here."""
        self.moments.append(self._connection.snapshot_timestamp())

    def spelled(self, text: str, tables: Sequence[Table]) -> str:
        """A query with each mention of an earlier version as AS OF its moment."""
        return self._spelled(text, tables, len(self.moments) - 1)

    def spelled_while_changing(self, text: str, tables: Sequence[Table]) -> str:
        """The same for a statement that follows changes, which no version has yet."""
        return self._spelled(text, tables, len(self.moments))

    def _spelled(self, text: str, tables: Sequence[Table], present: int) -> str:
        for table in tables:
            for version, moment in enumerate(self.moments):
                travel = "" if version == present else f" FOR SYSTEM_TIME AS OF {moment}"
                text = text.replace(f"{{{table.name}@{version}}}", table.name + travel)
        return text

    def stir(self, table: Table, pick: Random) -> None:
        """Flush or compact a table, open the database again, or leave it."""
        chance = pick.random()
        if chance < 0.25:
            self.run(f"FLUSH TABLE {table.name}")
        elif chance < 0.35:
            self.run(f"OPTIMIZE TABLE {table.name}")
        elif chance < 0.45:
            self._connection.close()
            self._connection = pykudu_sql.connect(self._path, autocommit=True, durability="off")

    def close(self) -> None:
        """Give it up."""
        self._connection.close()


def unaided(query: Query) -> Query:
    """A query whose scans give every row of their tables."""
    scans = (
        replace(scan, predicate=None, limit=None, order=ScanOrder.NONE) for scan in query.scans
    )
    return replace(
        query,
        scans=tuple(scans),
        expected=None,
        summary=(),
        runtime_filters=(),
        coded=None,
        sorted_groups=None,
        scanned=None,
        counted=0,
    )
