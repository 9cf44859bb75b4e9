"""Frames of the program that statements of a session read as tables, by name.

They are held in a mapping that is exchanged whole, so a plan keeps the frames that it was made for.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pykudu_sql.error_boundary import check_text
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.types.identifiers import MAX_IDENTIFIER_BYTES
from pykudu_sql.storage.errors import DuplicateObjectError, ProgrammingError, UndefinedTableError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.frame_table import FrameTable


class RegisteredFrames:
    """The frames of one session. `by_name`: names are lower case."""

    def __init__(self) -> None:
        """No frame yet."""
        self.by_name: Mapping[str, FrameTable] = {}

    def register(
        self,
        name: str,
        data: object,
        catalog: Catalog,
        program_code: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Add a frame, in place of one of the same name.

        Args:
            name: of `frame_name`.
            data: its rows.
            catalog: no table or view of it may have the name.
            program_code: a block for what the frame's own code raises.

        Raises DuplicateObjectError: a table or view has the name; Error: see `frame_of`.
        """
        full_name = catalog.full_name(name)
        if full_name in catalog.tables or full_name in catalog.views:
            raise DuplicateObjectError(
                f"there is a table or view '{name}' already",
                hint="register the frame under another name",
            )
        from pykudu_sql.executor.frame_tables import frame_of

        with program_code():
            frame = frame_of(name, data)
        self.by_name = {**self.by_name, name: frame}

    def unregister(self, name: str) -> None:
        """Forget a frame. `name`: of `frame_name`. Raises UndefinedTableError: there is none."""
        if name not in self.by_name:
            registered = ", ".join(sorted(self.by_name)) or "none"
            raise UndefinedTableError(
                f"no frame '{name}' is registered", hint=f"registered are: {registered}"
            )
        self.by_name = {n: frame for n, frame in self.by_name.items() if n != name}


def frame_name(name: object) -> str:
    """The name of a frame in lower case. Raises InterfaceError, ProgrammingError: it is none."""
    check_text(name, "the name of a frame")
    assert isinstance(name, str)
    if not name or "." in name or "\0" in name or len(name.encode()) > MAX_IDENTIFIER_BYTES:
        raise ProgrammingError(
            f"{name[:80]!r} cannot be the name of a frame",
            hint="a name has up to 256 bytes and no dot",
            sqlstate="42602",
        )
    return name.lower()
