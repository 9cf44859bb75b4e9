"""Queries through the normalizers."""

import re

import pytest
import sqlglot

from pykudu_sql.planner.parse.dialect import Kudu
from pykudu_sql.planner.parse.normalization.normalizer import Normalizers
from pykudu_sql.planner.parse.normalization.normalizers import NORMALIZERS
from pykudu_sql.storage.errors import Error, SourceSpan


def normalized(expression: str, normalizers: Normalizers = NORMALIZERS) -> str:
    """What stands behind SELECT, as it is printed when each of its nodes was normalized."""
    sql = f"select {expression}"

    def place(word: str) -> SourceSpan | None:
        start = sql.lower().find(word.lower())
        return SourceSpan(start, len(word)) if start >= 0 else None

    tree = sqlglot.parse_one(sql, dialect=Kudu())
    for node in list(tree.walk()):
        if type(node) in normalizers:
            normalizers[type(node)](node, place)
    return tree.sql(dialect=Kudu()).removeprefix("SELECT ")


def assert_refused(
    expression: str, normalizers: Normalizers, sqlstate: str, message: str, under: str
) -> None:
    """See that an expression is refused, and that the error points to a text in it."""
    with pytest.raises(Error, match=re.escape(message)) as caught:
        normalized(expression, normalizers)
    assert caught.value.sqlstate == sqlstate
    span = caught.value.span
    assert span is not None
    assert f"select {expression}"[span.start :].startswith(under)
