"""The error of a column that is not there, for statements with and without a parsed tree."""

from collections.abc import Iterable

from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.storage.errors import SourceSpan, UndefinedColumnError

_PREFIX = "__"  # what names that statements are rewritten with begin with


def undefined_column(
    name: str, candidates: Iterable[str], span: SourceSpan | None
) -> UndefinedColumnError:
    """No column of that name; suggests a near one, or lists what there is."""
    names = [each for each in dict.fromkeys(candidates) if not each.startswith(_PREFIX)]
    hint = near(name, names) or (f"columns are {', '.join(names[:20])}" if names else None)
    return UndefinedColumnError(f"column '{name}' does not exist", hint=hint, span=span)
