"""Opening the tablets that a manifest describes, by whoever writes or reads the database."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletMetadata

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.table_info import TabletInfo
    from pykudu_sql.storage.cfile.block_cache import BlockCache
    from pykudu_sql.storage.common.types.schema import Schema
    from pykudu_sql.storage.fs.env import Env
    from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
    from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class TabletOpener:
    """Opens tablets as the manifest describes them."""

    env: "Env"
    root: str
    database_id: bytes
    cache: "BlockCache"
    reaper: "FileReaper"

    def open(self, info: "TabletInfo", schemas: Sequence["Schema"], state: StoreState) -> "Tablet":
        """One tablet, without what the log holds for it.

        `schemas`: all that its table had, oldest first.
        """
        from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
        from pykudu_sql.storage.tablet.tablet import Tablet

        files = TabletFiles(self.env, self.root, self.database_id, info.id, self.cache, self.reaper)
        return Tablet(files, schemas, state.tablets.get(info.id, TabletMetadata()))

    def make(self, info: "TabletInfo", schema: "Schema") -> "Tablet":
        """A new tablet, of which the manifest knows nothing yet, and that has no folder."""
        return self.open(info, [schema], StoreState())


def open_tablets(opener: TabletOpener, state: StoreState) -> "dict[str, Tablet]":
    """All tablets that the manifest knows, those of dropped tables included, by UUID."""
    tablets: dict[str, Tablet] = {}
    for versions in state.history.versions().values():
        schemas = [version.schema for version in versions]
        for info in (info for version in versions for info in version.tablets):
            if info.id not in tablets:
                tablets[info.id] = opener.open(info, schemas, state)
    return tablets
