"""An upper bound of the bytes of an expression's value, from its text.

A small bound spares the check that `value_bounds` makes of each value:
a cell of a table has at most 64 KiB, a number or a time a few bytes, a literal what it has.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf

from sqlglot import exp

from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, FunctionKind
from pykudu_sql.storage.common.types.types import DataType

CELL = "pykudu_cell"  # in the meta of a column: the most bytes that it has
CELL_BYTES = 64 * 1024
COMMON_CELL = 256  # bytes of most cells that are texts
_COMPUTED = "pykudu_computed"  # in the meta of a value: the most bytes of it, by those of a cell
TEXT_TYPES = ("VARCHAR", "JSON")  # what the engine calls types that are texts
FIXED_BYTES = 64  # numbers, times, intervals and identifiers as texts
_FIXED_KINDS = frozenset({FunctionKind.NUMERIC, FunctionKind.TIME, FunctionKind.IDENTITY})
_FIXED_NODES = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Predicate, exp.Not,
    exp.Connector, exp.Boolean, exp.Null, exp.Interval, exp.BitwiseAnd, exp.BitwiseOr,
    exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Count,
    exp.Length, exp.Avg, exp.Sum, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
    exp.VariancePop, exp.CountIf, exp.ApproxDistinct, exp.Quantile, exp.RowNumber, exp.Rank,
    exp.DenseRank, exp.Ntile, exp.LogicalAnd, exp.LogicalOr,
    exp.StrPosition, exp.Ascii, exp.MD5, exp.SHA, exp.SHA2,
)  # fmt: skip
_NO_LARGER = (
    exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Reverse, exp.Unhex, exp.FromBase64,
    exp.RegexpExtract, exp.SplitPart, exp.JSONExtract, exp.JSONExtractScalar,
)  # fmt: skip
_FEWEST_OF = 3
_RECASED = (exp.Lower, exp.Upper)  # some letters take more bytes in the other case
_ONE_OF = (
    exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Max, exp.Min, exp.AnyValue, exp.First,
    exp.Last, exp.FirstValue, exp.LastValue, exp.Lag, exp.Lead,
)  # fmt: skip
_TEXT_TYPES = frozenset(
    {exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.NVARCHAR, exp.DType.CHAR, exp.DType.BLOB,
     exp.DType.BINARY, exp.DType.VARBINARY, exp.DType.JSON}
)  # fmt: skip
_UNBOUNDED = frozenset({exp.DType.BIT, exp.DType.VARIANT, exp.DType.OBJECT})

_Size = Callable[[exp.Expr], float]


def note_cell(column: exp.Column, kind: DataType) -> None:
    """Note that a column is as small as a cell of a type, before the tree's parts are copied."""
    column.meta[CELL] = CELL_BYTES if kind.is_variable else FIXED_BYTES


def note_computed(node: exp.Expr, sources: Sequence[exp.Expr]) -> None:
    """Note that a value is one of some, where these have their notes."""
    node.meta[_COMPUTED] = {
        cell: max(_noted(each, cell) for each in sources) for cell in (CELL_BYTES, COMMON_CELL)
    }


def note_unbounded(node: exp.Expr) -> None:
    """Note that a value may have any size."""
    node.meta[_COMPUTED] = {CELL_BYTES: inf, COMMON_CELL: inf}


def has_size(node: exp.Expr) -> bool:
    """Whether the size of a value is noted."""
    return node.meta_get(CELL) is not None or node.meta_get(_COMPUTED) is not None


def _noted(node: exp.Expr, cell: float) -> float:
    sizes: Mapping[float, float] | None = node.meta_get(_COMPUTED)
    return most_bytes(node, cell) if sizes is None or sizes[cell] == inf else sizes[cell]


def most_bytes(node: exp.Expr, cell: float = CELL_BYTES) -> float:
    """The most bytes that a value can have; infinity if its text does not show it.

    `cell`: bytes of a cell of a table, `CELL_BYTES` or `COMMON_CELL`.
    """
    size = partial(most_bytes, cell=cell)
    match node:
        case exp.Literal():
            return len(node.name.encode(errors="replace")) if node.is_string else FIXED_BYTES
        case exp.HexString():
            return len(node.name)
        case exp.Column():
            return _column_bytes(node, cell)
        case exp.Paren() | exp.Alias() | exp.Window():
            return size(node.this)
        case exp.Subquery(this=exp.Select(selects=[value])):
            return size(value)
        case exp.Cast():
            return _cast_bytes(node, size)
        case exp.ConcatWs(expressions=[separator, *texts]):
            return sum(map(size, texts)) + size(separator) * max(len(texts) - 1, 1)
        case exp.DPipe() | exp.Concat():
            return sum(map(size, node.iter_expressions()))
        case exp.Case():
            return _largest(
                [*(each.args["true"] for each in node.args["ifs"]), _default(node)], size
            )
        case exp.If():
            return _largest([node.args["true"], node.args.get("false") or exp.null()], size)
    if isinstance(node, _NO_LARGER):
        return size(node.this)
    if isinstance(node, _RECASED):
        return 2 * size(node.this)
    if isinstance(node, _ONE_OF):
        return _largest(list(node.iter_expressions()), size)
    if isinstance(node, _FIXED_NODES) or _is_fixed(node):
        return FIXED_BYTES
    return inf


def _column_bytes(column: exp.Column, cell: float) -> float:
    most: float | None = column.meta_get(CELL)
    if most is not None:
        return min(cell, most)
    sizes: Mapping[float, float] | None = column.meta_get(_COMPUTED)
    return inf if sizes is None else sizes[cell]


def is_short(node: exp.Expr) -> bool:
    """Whether a value is known to be a number, a time or the like, and no text."""
    while isinstance(node, exp.Paren | exp.Alias | exp.Window):
        node = node.this
    match node:
        case exp.Subquery(this=exp.Select(selects=[value])):
            return is_short(value)
        case exp.Literal():
            return not node.is_string
        case exp.Column():
            return node.meta.get(CELL) == FIXED_BYTES
        case exp.Cast():
            return is_short_type(node.to)
    return isinstance(node, _FIXED_NODES) or _is_fixed(node)


def least_bytes(node: exp.Expr) -> float:
    """Bytes that the value of a constant has at least; 0 if its text does not show it."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Literal() if node.is_string:
            return len(node.name.encode(errors="replace"))
        case exp.DPipe() | exp.Concat():
            return sum(map(least_bytes, node.iter_expressions()))
        case exp.Lower() | exp.Upper():  # some letters take fewer bytes in the other case
            return least_bytes(node.this) // _FEWEST_OF
        case exp.Repeat():
            return least_bytes(node.this) * max(number_of(node.args["times"]) or 0.0, 0.0)
        case exp.Pad() if least_bytes(node.this) and least_bytes(node.args["fill_pattern"]):
            return max(number_of(node.expression) or 0.0, 0.0)
        case exp.Space():
            return max(number_of(node.this) or 0.0, 0.0)
    return 0.0


def is_text_type(kind: exp.DataType) -> bool:
    """Whether values of a type are texts or binaries of any length."""
    return kind.this in _TEXT_TYPES


def is_short_type(kind: exp.DataType) -> bool:
    """Whether values of a type have few bytes."""
    return not (is_text_type(kind) or kind.args.get("nested") or kind.this in _UNBOUNDED)


def number_of(node: exp.Expr) -> float | None:
    """The number that a literal is, with its sign; None for what is no literal."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if isinstance(node, exp.Neg):
        number = number_of(node.this)
        return None if number is None else -number
    is_number = isinstance(node, exp.Literal) and not node.is_string
    return float(node.name) if is_number else None


def _largest(nodes: Sequence[exp.Expr], size: _Size) -> float:
    return max(map(size, nodes), default=FIXED_BYTES)


def _default(node: exp.Case) -> exp.Expr:
    return node.args.get("default") or exp.null()


def _cast_bytes(node: exp.Cast, size: _Size) -> float:
    """A cast to text may write each byte of a binary as four characters."""
    if is_text_type(node.to):
        return 4 * size(node.this)
    return inf if node.to.args.get("nested") else FIXED_BYTES


def _is_fixed(node: exp.Expr) -> bool:
    """Whether a call gives a number or a time."""
    if not isinstance(node, exp.Func):
        return False
    names = [node.name] if isinstance(node, exp.Anonymous) else type(node).sql_names()
    functions = [FUNCTIONS.get(name.lower()) for name in names]
    kinds = {function.kind for function in functions if function is not None}
    return bool(kinds) and kinds <= _FIXED_KINDS
