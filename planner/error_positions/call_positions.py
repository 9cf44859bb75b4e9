"""Positions of calls whose values the engine refuses without naming them, and of types in a column.

The engine says `invalid input for hex digit`, and which functions say so is known here. Where no
rule tells, the statement may compute only one thing that can fail: then that has. Of a column of
VALUES, or of a list, the entry is shown whose type differs from that of those before it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import only_span
from pykudu_sql.planner.error_positions.operation_positions import type_name
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.vocabulary.function_names import function_names
from pykudu_sql.storage.errors import SourceSpan

_PATTERN_CALLS = frozenset({"strptime", "strftime", "str_to_time", "time_to_str", "try_strptime"})
_CALLS: Mapping[re.Pattern[str], Collection[str]] = {
    re.compile(pattern): names
    for pattern, names in (
        ("invalid input for hex digit", {"unhex", "from_hex", "decode_as"}),
        ("invalid input for binary digit", {"unbin", "from_binary"}),
        ("failure in decode", {"decode"}),
        ("the map key|map keys", {"map"}),
        ("invalid UTF8 codepoint", {"chr"}),
        ("insufficient padding in LPAD", {"lpad", "pad"}),
        ("insufficient padding in RPAD", {"rpad", "pad"}),
        ("cannot take square root", {"sqrt"}),
        ("cannot take logarithm", {"ln", "log", "log2", "log10"}),
        ("factorial of a negative", {"factorial"}),
        ("'.*' (?:in a|is not written as the) pattern of time", _PATTERN_CALLS),
        ("argument index|invalid type specifier", {"format", "printf"}),
        ("QUANTILE can only", {"quantile", "percentile_cont", "percentile_disc"}),
        ("cannot perform list_reduce", {"list_reduce", "reduce"}),
    )
}
_NAMED = re.compile(
    r"(?:overflow on )?(?P<name>[a-z]+\d*)(?:\(| is undefined outside)", re.IGNORECASE
)
_SHIFTS = re.compile(r"(?:cannot )?left-shift")
_OF_COLUMN = re.compile(r"cannot combine types (?P<first>.+) and (?P<other>.+?) - an explicit cast")
_OF_LIST = re.compile(r"no function matches list_value\(\) with arguments of types as different")
_OPERATIONS = (
    *(exp.Func, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Pow, exp.Neg),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Bracket, exp.Like, exp.ILike, exp.Glob),
)
_NEVER_FAIL = (
    exp.Connector,
    exp.Count,
    exp.Min,
    exp.Max,
    exp.Coalesce,
    exp.Case,
    exp.If,
    exp.Array,
)
_CASTS = re.compile(r"could not convert|cannot be cast|does not fit|' is no [A-Z]")
_NEVER_COMPUTED = re.compile(
    r"LIMIT or OFFSET|.* (?:is no moment|has not come yet|lies before 1970)", re.DOTALL
)
_INTEGER = re.compile(r"[A-Z]*INT")


def span_of_call(message: str, tree: exp.Expr) -> SourceSpan | None:
    """The span of the one call, or entry of VALUES, that a message is about; None: not known.

    `message`: of the engine, in our names of types; `tree`: of the statement.
    """
    if match := _OF_COLUMN.match(message):
        return _entry_span(_columns(tree), match["first"], match["other"])
    if _OF_LIST.match(message):
        return only_span(each for each in nodes_of(tree, exp.Array) if _differ(each.expressions))
    if _SHIFTS.match(message):
        return only_span(nodes_of(tree, exp.BitwiseLeftShift))
    names = next((names for pattern, names in _CALLS.items() if pattern.match(message)), None)
    if names is None and (match := _NAMED.match(message)):
        names = {match["name"].lower()}
    calls = [each for each in nodes_of(tree, exp.Func) if names and function_names(each) & {*names}]
    return only_span(calls)


def span_of_computation(message: str, tree: exp.Expr) -> SourceSpan | None:
    """The span of what computes a value, if a statement has one such; None: it has several.

    `message`: of the engine, about a value. Casts are left out: one that is not written may fail;
    so are what LIMIT counts by and moments, which a parameter without a place may be.
    """
    if _NEVER_COMPUTED.match(message):
        return None
    computed = [] if _CASTS.search(message) else list(_computations(tree))
    return only_span(each for each in computed if not isinstance(computed[0], exp.Cast))


def _computations(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in nodes_of(tree, *_OPERATIONS):
        is_number = isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)
        if not isinstance(node, _NEVER_FAIL) and not is_number:
            yield node


def _columns(tree: exp.Expr) -> Iterator[Sequence[exp.Expr]]:
    """The columns of each VALUES of a statement."""
    for values in nodes_of(tree, exp.Values):
        yield from zip(*(row.expressions for row in values.expressions), strict=False)


def _entry_span(columns: Iterator[Sequence[exp.Expr]], first: str, other: str) -> SourceSpan | None:
    """The first entry of a type behind one of another type, in the one column that has such."""
    entries = []
    for column in columns:
        start = next((n for n, each in enumerate(column) if _may_be(each, first)), len(column))
        behind = (each for each in column[start + 1 :] if _literal_type(each) is not None)
        entries.extend(next(([each] for each in behind if _may_be(each, other)), []))
    return node_span(entries[0]) if len(entries) == 1 else None


def _may_be(entry: exp.Expr, name: str) -> bool:
    """Whether an entry may have a type: what is no literal may."""
    own = _literal_type(entry)
    return own in (None, name) or (own == "INT" and _INTEGER.fullmatch(name) is not None)


def _differ(entries: Sequence[exp.Expr]) -> bool:
    """Whether entries may have types that no type has together."""
    types = {_literal_type(each) for each in entries}
    return None in types or len(types - {"STRING"}) > 1


def _literal_type(entry: exp.Expr) -> str | None:
    """The type of an entry as far as its form tells; None where it does not."""
    entry = entry.unalias().unnest()
    match entry:
        case exp.Cast():
            return type_name(entry.to)
        case exp.Neg():
            return _literal_type(entry.this)
        case exp.Literal():
            return "STRING" if entry.is_string else "INT" if entry.name.isdigit() else "DECIMAL"
        case exp.HexString():
            return "BINARY"
        case exp.Boolean():
            return "BOOLEAN"
        case exp.Array():
            return "INT[]" if not any(n.is_string for n in nodes_of(entry, exp.Literal)) else None
    return None
