"""A relation for Spark: not the rows, but where they are stored."""

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """Rows that Spark reads itself: some columns of a table at a moment.

    Attributes:
        path: of the database.
        table: its name at the moment.
        columns: those wanted, in order.
        where: a condition in our SQL that wanted rows meet; None for all rows.
        as_of: the moment, a hybrid timestamp; its commits are seen.
    """

    path: str
    table: str
    columns: tuple[ColumnSchema, ...]
    where: str | None
    as_of: Timestamp
