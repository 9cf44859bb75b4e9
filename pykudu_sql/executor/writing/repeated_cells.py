"""Cells that all rows of a statement get alike, put to them when they are written.

They are long texts and bytes, or parameters, which the statement's query does not give: an engine
would make a copy of them for each row of a vector.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import ParameterValues, bind_value
from pykudu_sql.planner.plan.write_plans import Constants
from pykudu_sql.storage.common.memory_budget import LEAST_CHUNK, MemoryBudget
from pykudu_sql.storage.common.row_allowance import text_bytes
from pykudu_sql.storage.common.types.arrays import constant_array, plain
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell

Fill = Callable[[int], dict[int, pa.Array]]


@dataclass(frozen=True, slots=True)
class RepeatedCells:
    """Those of one statement. `schema`: of the table that is written; `cells`: by column id."""

    schema: Schema
    cells: Mapping[int, Cell]

    @property
    def row_bytes(self) -> int:
        """What each row gets of them."""
        return text_bytes(self.cells.values())

    def columns(self, length: int) -> dict[int, pa.Array]:
        """The columns of so many rows, as large as others."""
        return {i: plain(column) for i, column in self.coded(length).items()}

    def whole(self, length: int, budget: MemoryBudget) -> dict[int, pa.Array]:
        """The columns of rows that are all held. Raises OperationalError: for want of room."""
        size = length * self.row_bytes
        if size > LEAST_CHUNK:
            budget.check(size, "the rows that this statement holds")
        return self.columns(length)

    def coded(self, length: int) -> dict[int, pa.Array]:
        """The same as codes, for rows that go to files at once: others would be counted short."""
        by_id = self.schema.by_id
        return {i: constant_array(cell, by_id[i].type, length) for i, cell in self.cells.items()}


def repeated_cells(
    schema: Schema, constants: Constants, parameters: ParameterValues
) -> RepeatedCells:
    """The constants of a plan as cells. Raises as `bind_value`."""
    return RepeatedCells(schema, {i: bind_value(value, parameters) for i, value in constants})
