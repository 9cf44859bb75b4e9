"""Functions that the engine calls to check the size of values before another function makes them.

The planner puts these calls before functions that can outgrow their arguments. The engine computes
some thousand rows at once and neither counts what functions make there against its memory limit nor
can it be stopped meanwhile; so the rows of one vector are looked at together here, before the
function has begun.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.planner.value_bounds.excess import MAX_VALUE_BYTES, VECTOR_ROWS, Bounded
from pykudu_sql.planner.value_bounds.gathered_values import SORT
from pykudu_sql.storage.errors import (
    Error,
    InvalidValueError,
    OperationalError,
    ValueOutOfRangeError,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_DEPTH = 500
_COUNTED_TOGETHER = 3  # checked calls of a statement that `_VECTORS` has room for
_INDENT = 4
_BLOCK = 256 * 1024  # bytes that are looked at together
BATCH_ROWS = 64  # of a result with large values
_SMALL_ROW = 16 * 1024
_LARGE_PARAMETER = 64 * 1024
_ELEMENT_BYTES = 16
_SIZED = frozenset({"varchar", "blob", "list", "struct", "map", "union", "array", "variant"})
_NESTED = _SIZED - {"varchar", "blob"}
_LEAST_TOGETHER = 32 * 1024 * 1024
_MOST_TOGETHER = 512 * 1024 * 1024
_MOST_OF_WINDOWS = 1024 * 1024 * 1024  # a batch of Arrow has twice as much of texts at most
_VECTORS = 6  # of large values that are in memory at once: results of calls, and copies for threads
_VOLATILE = frozenset({"__handed_on", "__within_unfolded"})  # also of a constant
_LIMIT = re.compile(r"(\w+) limit(?: (\d+))?: (.*)")
_HINTS = {
    "rows": "compute it for fewer rows at once, or allow more: connect(memory_limit=...), "
    "--set memory_limit=..",
    "window": "take smaller values or fewer rows, gather by GROUP BY, in a subquery or over "
    "smaller partitions, or allow more: connect(memory_limit=...), --set memory_limit=..",
    "states": "group fewer rows, or by fewer keys, or allow more: connect(memory_limit=...), "
    "--set memory_limit=..",
    "cast": "a text of more than 64 KiB is cast to no number and no time; TRY_CAST gives NULL",
    "depth": f"JSON is looked into down to {MAX_DEPTH} levels",
}


def add_guards(connection: "DuckDBPyConnection", memory_limit: int, value_limit: int) -> None:
    """Make the planner's checks known to an engine.

    Args:
        connection: of the engine.
        memory_limit: bytes it may use, 0 for its own default.
        value_limit: bytes that one value may have.
    """
    from duckdb.func import PythonUDFType

    share = memory_limit // _VECTORS or _MOST_TOGETHER
    most = max(_LEAST_TOGETHER, min(share, _MOST_TOGETHER))
    most_of_windows = max(_LEAST_TOGETHER, min(share, _MOST_OF_WINDOWS))
    for name, guard, arguments in (
        ("__within", _within(most, value_limit), "DOUBLE VARCHAR INTEGER"),
        ("__within_unfolded", _within(most, value_limit), "DOUBLE VARCHAR INTEGER"),
        ("__handed_on", _handed_on(max(_LEAST_TOGETHER, share)), "DOUBLE VARCHAR"),
        ("__too_large", _too_large(value_limit), "DOUBLE VARCHAR"),
        ("__gathered", _gathered(most_of_windows), "DOUBLE DOUBLE VARCHAR"),
        ("__states", _states(most_of_states(memory_limit)), "DOUBLE VARCHAR"),
        ("__shallow", _shallow(value_limit), "VARCHAR VARCHAR"),
        ("__castable", _castable, "VARCHAR VARCHAR"),
        ("__try_castable", _try_castable, "VARCHAR VARCHAR"),
    ):
        parameters: list[Any] = [connection.sqltype(argument) for argument in arguments.split()]
        connection.create_function(
            name,
            guard,
            parameters,
            connection.sqltype("BOOLEAN"),
            type=PythonUDFType.ARROW,
            side_effects=name in _VOLATILE,
        )


def most_of_states(memory_limit: int) -> int:
    """Bytes that states of aggregates may take beside what an engine counts.

    `memory_limit`: see `add_guards`.
    """
    return max(_LEAST_TOGETHER, memory_limit or _MOST_TOGETHER)


def limit_error(message: str) -> Error | None:
    """The error of a message of the engine's that comes from these checks."""
    match = _LIMIT.search(message)
    if match is None:
        return None
    kind, most, text = match.groups()
    hint = _HINTS.get(kind) if most is None else Bounded(kind).remedy(int(most))
    if hint is None:
        return None
    if kind in ("rows", "window", "states"):
        return OperationalError(text, hint=hint, sqlstate="53200")
    if kind == "cast":
        return InvalidValueError(text, hint=hint)
    return ValueOutOfRangeError(text, hint=hint, sqlstate="54000")


def _excess(bounded: Bounded, name: str, most: int) -> ValueError:
    """The error of a check, which `limit_error` reads."""
    return ValueError(f"{bounded} limit {most}: {bounded.excess(name, most)}")


def _within(most_together: int, value_limit: int) -> Callable[[Any, Any, Any], Any]:
    """A check of amounts: of each value, and of the rows that are computed together.

    One value alone may be as large as a value may be, if few calls of the statement are checked.
    """

    def within(amounts: Any, subjects: Any, counts: Any) -> Any:
        import pyarrow.compute as pc

        kind, name = str(subjects[0]).split(" ", 1)
        bounded = Bounded(kind)
        most = MAX_VALUE_BYTES if bounded is Bounded.STEPS else value_limit
        largest = pc.max(amounts).as_py() or 0
        if not largest <= most:
            raise _excess(bounded, name, most)
        share = max(1.0, counts[0].as_py() / _COUNTED_TOGETHER)
        together = max(pc.sum(amounts).as_py() or 0, largest)
        alone = most if most < MAX_VALUE_BYTES else max(most_together, most)
        is_one = largest * share > alone
        if is_one or together * share > max(most_together, largest * share):
            limit = f"{(alone if is_one else most_together) / share / (1 << 20):.0f} MiB"
            raise ValueError(f"rows limit: '{name}' would make more than {limit} at once")
        return pc.is_valid(subjects)

    return within


def _too_large(value_limit: int) -> Callable[[Any, Any], Any]:
    """A check of what an aggregate has gathered that is no small value."""

    def too_large(sizes: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        if (pc.max(sizes).as_py() or 0) > value_limit:
            raise _excess(Bounded.VALUE, str(names[0]), value_limit)
        return pc.is_valid(names)

    return too_large


def _gathered(most: int) -> Callable[[Any, Any, Any], Any]:
    """A check of what the rows of a vector get of a window or a sort: each a value of its own.

    Of a subquery that is computed for rows of another query, the amounts of many such rows come at
    once, as the rows of its windows do.
    """

    def gathered(amounts: Any, sizes: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        together = min(pc.sum(amounts).as_py() or 0, VECTOR_ROWS * (pc.max(sizes).as_py() or 0))
        if together > most:
            name = str(names[0])
            subject = name if name == SORT else f"'{name}' OVER"
            amount = f"{together / (1 << 20):,.0f} MiB"
            raise ValueError(
                f"window limit: {subject} would make {amount} at once, more than {most >> 20} MiB"
            )
        return pc.is_valid(names)

    return gathered


def _states(most: int) -> Callable[[Any, Any], Any]:
    """A check of what the states of an aggregate take, beside what the engine counts."""

    def states(amounts: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        together = pc.sum(amounts).as_py() or 0
        if together > most:
            raise ValueError(
                f"states limit: '{names[0]}' would take {together / (1 << 20):,.0f} MiB to work "
                f"in, more than {most >> 20} MiB"
            )
        return pc.is_valid(names)

    return states


def _handed_on(most_together: int) -> Callable[[Any, Any], Any]:
    """A check of rows as they are in a result: those of one vector are copied together."""

    def handed_on(amounts: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        largest = pc.max(amounts).as_py() or 0
        together = pc.sum(amounts).as_py() or 0
        if together > max(most_together, largest):
            limit = f"{most_together >> 20} MiB"
            raise ValueError(f"rows limit: a {names[0]} would have more than {limit} in one batch")
        return pc.is_valid(names)

    return handed_on


def are_large(sql: str, parameters: Sequence[Any]) -> bool:
    """Whether a query may have values that are larger than cells: some are checked, or given."""
    return "__WITHIN" in sql or any(
        isinstance(value, str | bytes) and len(value) > _LARGE_PARAMETER for value in parameters
    )


def are_gathered(sql: str, types: Sequence[Any]) -> bool:
    """Whether a query may have values that are gathered of many rows, and handed on to many."""
    return "__TOO_LARGE" in sql or any(kind.id in _NESTED for kind in types)


def with_batch_check(sql: str, names: Sequence[str], types: Sequence[Any]) -> str:
    """A query that fails before the rows of a vector would take too much in its result.

    `names`, `types`: of its columns.
    """
    sizes = {i: _size(f"c{i}", kind) for i, kind in enumerate(types) if kind.id in _SIZED}
    if not sizes:
        return sql
    first = min(sizes)
    value = f"CASE WHEN {_check_batch(sizes.values())} THEN c{first} END"
    # The text of a list, which measures it, is made only of lists whose lengths are no excess.
    lengths = [f"len(c{i}) * {_ELEMENT_BYTES}" for i in sizes if types[i].id == "list"]
    if lengths:
        value = f"CASE WHEN {_check_batch(lengths)} THEN {value} END"
    columns_sql = ", ".join(
        f"{value if i == first else f'c{i}'} AS {quote_name(name)}" for i, name in enumerate(names)
    )
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    return f"SELECT {columns_sql} FROM ({sql}) AS q({columns})"


def _check_batch(sizes: Iterable[str]) -> str:
    """SQL of a condition that raises where the rows of a batch have too much together."""
    total = " + ".join(f"coalesce({size}, 0)" for size in sizes)
    return f"({total}) <= {_SMALL_ROW} OR __handed_on(CAST({total} AS DOUBLE), 'result')"


def _size(column: str, kind: Any) -> str:
    """SQL of the bytes of a column's value."""
    if kind.id == "blob":
        return f"octet_length({column})"
    if kind.id == "list" and dict(kind.children)["child"].id not in _SIZED:
        return f"len({column}) * {_ELEMENT_BYTES}"
    return f"strlen(CAST({column} AS VARCHAR))"


def _shallow(value_limit: int) -> Callable[[Any, Any], Any]:
    """A check that JSON texts are not nested too deeply for functions that go down into them."""

    def shallow(texts: Any, names: Any) -> Any:
        import pyarrow.compute as pc

        name = str(names[0])
        indented = 0
        for text in texts:
            written = text.as_py() or ""
            depth = nesting(written)
            indented += len(written) * depth * _INDENT
            if depth > MAX_DEPTH:
                raise ValueError(f"depth limit: '{name}' got JSON of more than {MAX_DEPTH} levels")
        if indented > value_limit and name == "json_pretty":
            raise _excess(Bounded.VALUE, name, value_limit)
        return pc.is_valid(names)

    return shallow


def _castable(beginnings: Any, kinds: Any) -> Any:
    """A check for texts that are too long for the type they are cast to."""
    for beginning, kind in zip(beginnings, kinds, strict=True):
        if beginning.is_valid:
            raise ValueError(f"cast limit: could not convert string '{beginning}…' to {kind}")
    return _try_castable(beginnings, kinds)


def _try_castable(beginnings: Any, kinds: Any) -> Any:
    """The same check for TRY_CAST: none can be cast."""
    import pyarrow as pa

    return pa.array([False] * len(kinds), pa.bool_())


def nesting(text: str) -> int:
    """How deeply a JSON text is nested; of one that is too deep, the depth of its beginning.

    Behind a quotation mark that none closes nothing counts, for that is no JSON.
    """
    import numpy as np

    data = text.encode(errors="replace")
    openings = data.count(b"[") + data.count(b"{")
    if openings <= MAX_DEPTH:
        return openings
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest = depth = quotes = 0
    for begin in range(0, len(data), _BLOCK):
        block = np.frombuffer(data, np.uint8, min(_BLOCK, len(data) - begin), begin)
        marks = quotes + np.cumsum(block == ord('"'), dtype=np.int32)
        outside = marks % 2 == 0
        opened = ((block == ord("[")) | (block == ord("{"))) & outside
        closed = ((block == ord("]")) | (block == ord("}"))) & outside
        levels = depth + np.cumsum(opened.astype(np.int8) - closed, dtype=np.int32)
        deepest = max(deepest, int(levels.max()))
        depth, quotes = int(levels[-1]), int(marks[-1]) % 2
        if deepest > MAX_DEPTH:
            break
    return deepest
