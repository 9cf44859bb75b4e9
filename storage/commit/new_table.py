"""A table that a transaction makes: others see it from the commit on, with its rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
    from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table that is not there yet.

    Attributes:
        info: as the manifest is to name it.
        tablets: by UUID; they have no folders yet.
        replaces: whether it takes the place of the table that has its name at the commit, which is
            dropped then.
        read_bound: the snapshot at which that table's rows were read for this one, if they were; no
            commit may have changed them since.
    """

    info: "TableInfo"
    tablets: Mapping[str, "Tablet"]
    replaces: bool = False
    read_bound: "SnapshotBound | None" = None
