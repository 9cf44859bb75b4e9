"""Functions of one text column: they have as many values as the column has words.

What such a function makes of the words of a dictionary tells what it makes of every row. It is
computed before it is known which words the rows have, so a function that fails for some of them is
no harm only because its values are then computed row by row instead. On the list here are functions
that give the same value each time and no value much longer than its argument.
"""

from collections.abc import Iterable

from sqlglot import exp

from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.pushdown.condition import stored_column
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.storage.common.types.schema import ColumnSchema

WORDS, WORD = f"{SCAN_PREFIX}words", "word"
_FUNCTIONS = frozenset(
    {
        exp.Case, exp.Coalesce, exp.Concat, exp.DPipe, exp.If, exp.Initcap, exp.Left, exp.Lower,
        exp.Nullif, exp.RegexpExtract, exp.Reverse, exp.Right, exp.Substring, exp.Trim, exp.Upper,
    }
)  # fmt: skip
_OPERANDS = _FUNCTIONS | {
    exp.And, exp.Boolean, exp.Column, exp.EQ, exp.GT, exp.GTE, exp.Identifier, exp.Is, exp.LT,
    exp.LTE, exp.Like, exp.Literal, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.Or, exp.Paren,
}  # fmt: skip


def function_of_text(
    node: exp.Expr, bound: BoundQuery
) -> tuple[TableReference, ColumnSchema] | None:
    """The text column of a stored table that an expression computes a text of; None of others."""
    if type(node) not in _FUNCTIONS:
        return None
    parts = all_nodes(node)
    if any(type(part) not in _OPERANDS for part in parts):
        return None
    return only_text_column(parts, bound)


def only_text_column(
    parts: Iterable[exp.Expr], bound: BoundQuery
) -> tuple[TableReference, ColumnSchema] | None:
    """The text column of a stored table that all columns among some nodes are; None of others."""
    columns = set[tuple[TableReference, ColumnSchema]]()
    for part in parts:
        if isinstance(part, exp.Column):
            stored = stored_column(part, bound)
            if stored is None or not stored[1].type.is_text:
                return None
            columns.add(stored)
    return columns.pop() if len(columns) == 1 else None


def over_words(function: exp.Expr) -> exp.Select:
    """A query for the values of an expression over one text column, of the relation `WORDS`.

    Its one column is the expression over the column `WORD`.
    """
    select = exp.select(function.copy()).from_(exp.to_table(WORDS, quoted=True))
    for column in list(select.find_all(exp.Column)):
        column.replace(exp.column(WORD, quoted=True))
    return select
