"""How scripts open a store: with a wall clock they may turn, and small rowsets."""

from pykudu_sql.storage.catalog.alter import SetProperties
from pykudu_sql.storage.common.types.hybrid_time import wall_micros
from pykudu_sql.storage.common.types.table_properties import HISTORY_MAX_AGE
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.store_options import StoreOptions


class ScriptClock:
    """A wall clock that a script can turn."""

    def __init__(self) -> None:
        """The system's clock."""
        self._offset = 0

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return wall_micros() + self._offset

    def jump(self, micros: int) -> None:
        """Go forward, or back."""
        self._offset += micros


def open_store(env: Env, path: str, clock: ScriptClock, *, background: bool) -> Store:
    """A store whose maintenance, when on, always has something to do."""
    options = StoreOptions(
        durability="off", threads=2, flush_bytes=2000 if background else 1 << 30,
        maintenance=background, wall=clock,
    )  # fmt: skip
    return Store(env, path, options)


def set_history_age(store: Store, seconds: float) -> None:
    """Keep the history of the table `t` so long."""
    store.alter_table("t", [SetProperties(((HISTORY_MAX_AGE, str(int(seconds))),))])
