"""The plan of a COPY of a whole table, for which no query is planned.

A process is often started for just that, and what plans queries takes longer to load than many
tables take to write.
"""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import ParameterKey

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.copy_plans import CopyOptions, CopyTo
    from pykudu_sql.storage.catalog.table_info import TableInfo


@dataclass(frozen=True, slots=True)
class CopyTable:
    """COPY of all rows of a stored table to a file, the columns that `*` shows.

    Attributes:
        target: its path.
        options: as the statement gives them.
        general: plans the same as the query that it is, for another engine and for EXPLAIN.
    """

    table: "TableInfo"
    target: str
    options: "CopyOptions"
    general: "Callable[[], CopyTo]" = field(compare=False, repr=False)
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True
