"""What the engine asks of us while it computes: whether values that a call would make are allowed.

The planner puts these calls before functions that can outgrow their arguments. The engine computes
some thousand rows at once and neither counts what functions make there against its memory limit nor
can it be stopped meanwhile; so the rows of one vector are looked at together here, before the
function has begun.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykudu_sql.storage.errors import Error, OperationalError, ValueOutOfRangeError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_VALUE_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 500
_LIMIT_TEXT = f"{MAX_VALUE_BYTES >> 20} MiB"
_INDENT = 4
_MOST_TOGETHER = 512 * 1024 * 1024
_LIMIT = re.compile(r"(value|rows|depth) limit: (.*)")
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_HINTS = {
    "rows": "compute it for fewer rows at once, or give connect(memory_limit=...) more",
    "value": f"a value that is computed has at most {MAX_VALUE_BYTES >> 20} MiB",
    "depth": f"JSON is looked into down to {MAX_DEPTH} levels",
}


def add_guards(connection: "DuckDBPyConnection", memory_limit: int) -> None:
    """Make the planner's checks known to an engine.

    Args:
        connection: of the engine.
        memory_limit: bytes it may use, 0 for its own default.
    """
    from duckdb import sqltype
    from duckdb.func import PythonUDFType

    half = memory_limit // 2 or _MOST_TOGETHER
    within = _within(max(MAX_VALUE_BYTES, min(half, _MOST_TOGETHER)))
    for name, guard, argument in (
        ("__within", within, "DOUBLE"),
        ("__shallow", _shallow, "VARCHAR"),
    ):
        parameters: list[Any] = [sqltype(argument), sqltype("VARCHAR")]
        connection.create_function(
            name, guard, parameters, sqltype("BOOLEAN"), type=PythonUDFType.ARROW
        )


def limit_error(message: str) -> Error | None:
    """The error of a message of the engine's that comes from these checks."""
    found = _LIMIT.search(message)
    if found is None:
        return None
    kind, text = found[1], found[2]
    if kind == "rows":
        return OperationalError(text, hint=_HINTS[kind], sqlstate="53200")
    return ValueOutOfRangeError(text, hint=_HINTS[kind], sqlstate="54000")


def _within(most_together: int) -> Callable[[Any, Any], Any]:
    """A check of amounts: of each value, and of the rows that are computed together."""

    def within(amounts: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        largest = pc.max(amounts).as_py()
        if largest is not None and not largest <= MAX_VALUE_BYTES:
            raise ValueError(
                f"value limit: '{names[0]}' would make a value of more than {_LIMIT_TEXT}"
            )
        together = pc.sum(amounts).as_py()
        if together is not None and together > most_together:
            limit = f"{most_together >> 20} MiB"
            raise ValueError(f"rows limit: '{names[0]}' would make more than {limit} at once")
        return pc.is_valid(names)

    return within


def _shallow(texts: Any, names: Any) -> Any:
    """A check that JSON texts are not nested too deeply for functions that go down into them."""
    import pyarrow.compute as pc

    indented = 0
    for text in texts:
        written = text.as_py() or ""
        depth = nesting(written)
        indented += len(written) * depth * _INDENT
        if depth > MAX_DEPTH:
            raise ValueError(
                f"depth limit: '{names[0]}' got JSON that is nested {depth} levels deep"
            )
    if indented > MAX_VALUE_BYTES and str(names[0]) == "json_pretty":
        raise ValueError(f"value limit: '{names[0]}' would make more than {_LIMIT_TEXT}")
    return pc.is_valid(names)


def nesting(text: str) -> int:
    """How deeply a JSON text is nested."""
    import numpy as np

    data = text.encode(errors="replace")
    openings = data.count(b"[") + data.count(b"{")
    if openings <= MAX_DEPTH:
        return openings
    codes = np.frombuffer(_TEXTS.sub(b"", data), np.uint8)
    opened = (codes == ord("[")) | (codes == ord("{"))
    closed = (codes == ord("]")) | (codes == ord("}"))
    return int(np.cumsum(opened.astype(np.int32) - closed).max(initial=0))
