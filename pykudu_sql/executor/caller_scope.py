"""Variables of the program that executes a statement, as frames: where it permitted that.

Looked at are the local and then the global variables of the function that called this package; not
those of functions around that one, nor of what called it.
"""

import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.frame_table import FrameTable

_PACKAGE = __name__.partition(".")[0]


def calling_frame() -> FrameType | None:
    """The innermost stack frame of this thread outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def frame_in_scope(scope: FrameType | None, name: str) -> "FrameTable | None":
    """The frame that a variable is; None if there is no such variable, or it is no frame.

    Args:
        scope: of `calling_frame`; None where the program permits none.
        name: as the statement has it; Python tells `DF` from `df`, and lower case is tried too.

    Raises Error: it is a frame, and cannot be read; see `frame_of`.
    """
    if scope is None:
        return None
    from pykudu_sql.executor.frame_tables import frame_of, is_frame

    for spelling in dict.fromkeys((name, name.lower())):
        for variables in (scope.f_locals, scope.f_globals):
            data = variables.get(spelling)
            if is_frame(data):
                return frame_of(name.lower(), data)
    return None
