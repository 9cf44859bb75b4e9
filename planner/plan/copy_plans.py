"""Plans of COPY: rows from files into a table, and rows of a query into a file."""

from collections.abc import Mapping
from typing import ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.plan.write_plans import QueryWrite
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema

# Options by their names in lower case; a flag without a value is True.
CopyOption = str | bool | int | tuple[str, ...]
CopyOptions = Mapping[str, CopyOption]


@dataclass(frozen=True, slots=True)
class CopyFrom:
    """COPY t FROM files.

    Attributes:
        columns: of the table that the statement names; None if it names none.
        source: a path, a folder or a glob.
        options: as the statement gives them.
    """

    table: TableInfo
    columns: tuple[ColumnSchema, ...] | None
    source: str
    options: CopyOptions
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class CopyTo(QueryWrite):
    """COPY of the rows of a query to a file.

    `target`: its path; `options`: as the statement gives them.
    """

    query: Query
    target: str
    options: CopyOptions
