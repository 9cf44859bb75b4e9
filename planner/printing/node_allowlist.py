"""The kinds of nodes that are printed for an engine, and the words each may hold: a closed list.

sqlglot keeps some words of a statement as plain texts in its tree and prints them as they are:
kinds of joins, units of time, options. A tree is closed if it has only kinds of nodes on this list,
and every text outside of literals and names is one of those that are listed for its place. What is
not on the list is refused, also what a later release of sqlglot may bring.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.functions.functions import ALLOWED
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.parse.normalization.unit_normalizers import OF_PARTS, OF_UNITS
from pykudu_sql.planner.vocabulary.data_types import is_closed
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS, PARTS
from pykudu_sql.storage.errors import NotSupportedError

_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_BITS = re.compile("[01]+")
_DIGITS = re.compile(r"\d+")

_CLAUSES = (
    exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered,
    exp.Limit, exp.Offset, exp.Fetch, exp.LimitOptions, exp.Distinct, exp.With, exp.CTE, exp.Join,
    exp.Lateral, exp.Table, exp.TableAlias, exp.Subquery, exp.Union, exp.Intersect, exp.Except,
    exp.Values, exp.Tuple, exp.Cube, exp.Rollup, exp.GroupingSets, exp.Unnest, exp.Explode,
    exp.GenerateSeries,
)  # fmt: skip
_VALUES = (
    exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Star, exp.Paren, exp.Dot,
    exp.Alias, exp.Placeholder, exp.HexString, exp.BitString, exp.Bracket, exp.Slice, exp.Array,
    exp.Struct, exp.PropertyEQ, exp.Kwarg, exp.Lambda, exp.Comprehension, exp.Interval, exp.JSON,
    exp.PositionalColumn, exp.Aliases, exp.JSONKeyValue, exp.List,
)  # fmt: skip
_OPERATORS = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Pow, exp.DPipe, exp.And,
    exp.Or, exp.Not, exp.Xor, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ,
    exp.NullSafeNEQ, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Glob, exp.SimilarTo,
    exp.Escape, exp.Any, exp.All, exp.Exists, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor,
    exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.ArrayContainsAll,
    exp.ArrayContainedBy, exp.ArrayOverlaps, exp.AtTimeZone, exp.RegexpLike, exp.RegexpILike,
)  # fmt: skip
_CALLS = (
    exp.Anonymous, exp.AnonymousAggFunc, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.DataType,
    exp.DataTypeParam, exp.ColumnDef, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup,
    exp.IgnoreNulls, exp.RespectNulls, exp.HavingMax, exp.JSONExtract, exp.JSONExtractScalar,
    exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript, exp.JSONPathWildcard,
    exp.JSONPathSlice, exp.JSONPathUnion,
)  # fmt: skip
# Functions whose arguments sqlglot makes of words of its own.
_NOT_CLOSED = (exp.CombinedAggFunc, exp.CombinedParameterizedAgg, exp.ParameterizedAgg)
_FUNCTIONS = frozenset(
    kind
    for kind in exp.FUNCTION_BY_NAME.values()
    if not issubclass(kind, _NOT_CLOSED)
    and not ALLOWED.isdisjoint(name.lower() for name in kind.sql_names())
)
_KINDS = frozenset((*_CLAUSES, *_VALUES, *_OPERATORS, *_CALLS)) | _FUNCTIONS

_SIDES = frozenset({"PRECEDING", "FOLLOWING"})
_BOUNDS = frozenset({"UNBOUNDED", "CURRENT ROW"})
_UNITS = frozenset(ENGINE_UNITS.values())
# The words that may stand in an argument of a node, upper case.
_WORDS: Mapping[tuple[type[exp.Expr], str], frozenset[str]] = {
    (exp.Join, "side"): frozenset({"LEFT", "RIGHT", "FULL"}),
    (exp.Join, "kind"): frozenset({"INNER", "OUTER", "CROSS", "SEMI", "ANTI"}),
    (exp.Join, "method"): frozenset({"ASOF", "NATURAL", "POSITIONAL"}),
    (exp.Fetch, "direction"): frozenset({"FIRST", "NEXT"}),
    (exp.Ordered, "this"): frozenset({"ALL"}),
    (exp.Window, "over"): frozenset({"OVER"}),
    (exp.WindowSpec, "kind"): frozenset({"ROWS", "RANGE", "GROUPS"}),
    (exp.WindowSpec, "start"): _BOUNDS,
    (exp.WindowSpec, "end"): _BOUNDS,
    (exp.WindowSpec, "start_side"): _SIDES,
    (exp.WindowSpec, "end_side"): _SIDES,
    (exp.WindowSpec, "exclude"): frozenset({"CURRENT ROW", "GROUP", "TIES", "NO OTHERS"}),
    (exp.Trim, "position"): frozenset({"LEADING", "TRAILING", "BOTH"}),
    (exp.Extract, "this"): PARTS,
    **{(kind, "unit"): _UNITS for kind in OF_UNITS},
    **{(kind, "unit"): PARTS for kind in OF_PARTS},
}
_PATTERNS: Mapping[tuple[type[exp.Expr], str], re.Pattern[str]] = {
    (exp.Placeholder, "this"): _DIGITS,
    (exp.HexString, "this"): _HEX,
    (exp.BitString, "this"): _BITS,
    (exp.Anonymous, "this"): _WORD,
    (exp.AnonymousAggFunc, "this"): _WORD,
}


@dataclass(slots=True)
class TreeTexts:
    """What a closed tree has in quotes.

    Attributes:
        strings: contents of string literals, and of names, which the engine may get as keys.
        names: identifiers.
        paths: of JSON; they are printed as string literals.
    """

    strings: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    paths: list[exp.JSONPath] = field(default_factory=list)


def closed_texts(tree: exp.Expr) -> TreeTexts:
    """What a tree has in quotes; names within calls get quotes.

    Raises NotSupportedError: the tree is not closed.
    """
    texts = TreeTexts()
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is exp.Identifier:
            texts.names.add(node.this)
            node.args["quoted"] = True
        elif kind is exp.Literal:
            if node.args["is_string"]:
                texts.strings.add(node.this)
            elif not _NUMBER.fullmatch(node.this):
                raise _unsupported(f"the number {node.this:.40}")
        elif kind not in _KINDS:
            raise _unsupported(_text(node))
        elif kind is exp.DataType or kind is exp.JSONPath:
            _take_apart(node, stack, texts)
        else:
            for key, value in node.args.items():
                if isinstance(value, list):
                    if value:
                        _take(value, kind, key, stack, texts)
                elif value is None or isinstance(value, bool):
                    continue
                elif isinstance(value, exp.Expr) and type(value) is not exp.Var:
                    if key == "unit" and kind in OF_UNITS:  # printed by its name alone
                        raise _unsupported("a unit of time that is no word")
                    stack.append(value)
                else:
                    _take((value,), kind, key, stack, texts)
    return texts


def _take_apart(node: exp.Expr, stack: list[exp.Expr], texts: TreeTexts) -> None:
    """Check a type or a path, which are closed in their own ways."""
    if isinstance(node, exp.JSONPath):
        _check_path(node)
        texts.paths.append(node)
        return
    if not isinstance(node, exp.DataType) or not is_closed(node):
        raise _unsupported("a type")
    stack.extend(part for part in (node.this, *node.expressions) if isinstance(part, exp.Expr))


def _take(
    parts: Sequence[object], kind: type[exp.Expr], key: str, stack: list[exp.Expr], texts: TreeTexts
) -> None:
    """Put the nodes of an argument on a stack, and check its words."""
    for part in parts:
        if isinstance(part, exp.Expr) and type(part) is not exp.Var:
            stack.append(part)
        elif part is not None and not isinstance(part, bool):
            _check_word(part.this if isinstance(part, exp.Expr) else part, kind, key)
            if kind is exp.HexString or kind is exp.BitString:
                texts.strings.add(str(part))


def _check_word(word: object, kind: type[exp.Expr], key: str) -> None:
    place = (kind, key)
    if isinstance(word, int):
        return
    if isinstance(word, str):
        if word.upper() in _WORDS.get(place, ()):
            return
        pattern = _PATTERNS.get(place)
        if pattern is not None and pattern.fullmatch(word):
            return
    raise _unsupported(f"{word!s:.40}")


_PATH_PARTS: Mapping[type[exp.Expr], tuple[type, ...]] = {
    exp.JSONPathRoot: (),
    exp.JSONPathWildcard: (),
    exp.JSONPathKey: (str, exp.JSONPathWildcard),
    exp.JSONPathSubscript: (int, str, exp.JSONPathWildcard, exp.JSONPathSlice),
    exp.JSONPathSlice: (int,),
}


def _check_path(path: exp.Expr) -> None:
    """Refuse parts of a path that are texts of another grammar, such as filters."""
    parts: Iterable[object] = path.expressions
    for part in parts:
        kinds: Sequence[type] | None = _PATH_PARTS.get(type(part))  # type: ignore[arg-type]
        if kinds is None or not isinstance(part, exp.Expr):
            raise _unsupported("a path of JSON with conditions")
        for value in part.args.values():
            if value is not None and not isinstance(value, (bool, *kinds)):
                raise _unsupported("a path of JSON with conditions")


def _text(node: exp.Expr) -> str:
    """A part of a statement as a person would write it."""
    try:
        text = display(node)
    except NotSupportedError:
        text = ""
    return f"{text:.60}" or "a clause of another database"


def _unsupported(what: str) -> NotSupportedError:
    return NotSupportedError(
        f"a part of this statement is not offered: {what}",
        hint="docs/sql/queries.md says what there is",
    )
