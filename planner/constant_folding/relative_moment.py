"""Moments relative to the present: `'10 min ago'`, `'1 h 30 min ago'`, `'now'`.

The units are those of intervals. What has such a text has another value at each planning.
"""

from sqlglot import exp

from pykudu_sql.planner.vocabulary.interval_text import interval_text
from pykudu_sql.storage.errors import SourceSpan


def is_relative(text: str) -> bool:
    """Whether a text is a moment relative to the present, if it is one at all."""
    words = text.strip().lower()
    return words == "now" or (words.endswith("ago") and words[:1].isdigit())


def relative_moment(text: str, span: SourceSpan | None) -> exp.Expr:
    """The expression of a moment relative to the present.

    Raises InvalidValueError: it names no unit of time.
    """
    now = exp.CurrentTimestamp()
    if text.strip().lower() == "now":
        return now
    past = exp.Interval(this=exp.Literal.string(interval_text(text, span)))
    return exp.Add(this=now, expression=past)
