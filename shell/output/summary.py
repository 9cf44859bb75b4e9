"""The line below a statement's result: rows, and the time that the statement took."""

from pykudu_sql.storage.common.noun_count import noun_count


def affected_rows(rows: int) -> str:
    """The summary of a statement without a result; `rows` is negative where none are counted."""
    if rows < 0:
        return "OK"
    return f"{noun_count(rows, 'row')} affected"


def timed(summary: str, seconds: float) -> str:
    """A summary with the time of its statement; the time alone where nothing is summarized."""
    if not summary:
        return f"Time: {format_duration(seconds)}"
    return f"{summary.removesuffix('.')} in {format_duration(seconds)}"


def format_duration(seconds: float) -> str:
    """A duration as text: `0.4 ms`, `12 ms`, `1.23 s`, `2 min 5 s`."""
    if seconds < 0.001:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
