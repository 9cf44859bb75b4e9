"""What errors of statements may name, and where in a statement an error of the engine lies.

Both are asked only when a statement failed.
"""

from collections.abc import Iterator

from pykudu_sql.session.registered_frames import RegisteredFrames
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.open_store import OpenStore


class ErrorNames:
    """The names that users of one session know, and the places of errors in its statements."""

    def __init__(self, store: OpenStore, frames: RegisteredFrames) -> None:
        """Look names up in the catalog as it is then, and among the frames."""
        self._store = store
        self._frames = frames

    def names(self) -> Iterator[str]:
        """What names the user's tables and views, and what these mention."""
        from pykudu_sql.storage.catalog.system_catalog import SYSTEM_TABLES

        catalog = self._store.catalog
        yield from catalog.database_names
        for table in (*catalog.tables.values(), *SYSTEM_TABLES.values()):
            yield table.name
            yield from table.schema.by_name
        for view in catalog.views.values():
            yield from (view.name, view.query, *(column.name for column in view.columns))
        for frame in self._frames.by_name.values():
            yield from (frame.name, *frame.schema.by_name)

    def locate(self, error: Error, statement: str) -> None:
        """Note where in a statement an error of the engine lies."""
        from pykudu_sql.planner.error_positions.engine_error_positions import locate_engine_error

        views = frozenset(
            view.name.rpartition(".")[2] for view in self._store.catalog.views.values()
        )
        locate_engine_error(error, statement, views)
