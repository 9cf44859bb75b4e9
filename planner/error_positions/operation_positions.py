"""Positions of operations and calls that an error of the engine names by types and values.

The engine says `no operator matches INT + STRING`. Of a statement's additions those are meant whose
literals have these types; if there is one, the error stands there. Of several nobody knows which.
"""

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import candidate_table, span_of_candidate
from pykudu_sql.planner.tree_nodes import children_of, nodes_of
from pykudu_sql.storage.errors import SourceSpan

_Match = re.Match[str]
_OPERATORS: Mapping[str, type[exp.Expr]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "//": exp.IntDiv,
    "%": exp.Mod,
    "**": exp.Pow,
    "||": exp.DPipe,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "LIKE": exp.Like,
    "NOT LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "NOT ILIKE": exp.ILike,
    "GLOB": exp.Glob,
}
_SIGNS: Mapping[str, type[exp.Expr]] = {"-": exp.Neg, "~": exp.BitwiseNot}
_OVERFLOWS: Mapping[str, type[exp.Expr]] = {
    "addition": exp.Add,
    "subtraction": exp.Sub,
    "multiplication": exp.Mul,
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
# Of calls that the engine has under other names than the tree.
_ENGINE_NAMES: Mapping[type[exp.Func], tuple[str, ...]] = {
    exp.DateBin: ("time_bucket",),
    exp.StrPosition: ("strpos", "instr", "position"),
}
_NUMBERS = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL\(.*\)")


def span_of_operation(message: str, tree: exp.Expr) -> SourceSpan | None:
    """The span of the one operation or call that a message names; None if it is not known.

    `message`: of the engine, in our names of types; `tree`: of the statement.
    """
    return span_of_candidate(_CANDIDATES, message, tree)


def _binary(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    kind = _OPERATORS.get(match["operator"])
    types = (match["left"], match["right"])
    return [] if kind is None else [each for each in nodes_of(tree, kind) if _has(each, types)]


def _signed(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    signed = nodes_of(tree, _SIGNS[match["operator"]])
    return [each for each in signed if _fits(each.this, match["type"])]


def _element(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    return list(nodes_of(tree, exp.Bracket))


def _call(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    name, types = match["name"].lower(), match["types"].split(", ")
    return [
        call
        for call in nodes_of(tree, exp.Func)
        if name in _names(call) and _has_literals_of(call, types)
    ]


def _names(call: exp.Func) -> list[str]:
    if isinstance(call, exp.Anonymous):
        return [call.name.lower()]
    return [*(name.lower() for name in call.sql_names()), *_ENGINE_NAMES.get(type(call), ())]


def _has_literals_of(call: exp.Expr, types: Sequence[str]) -> bool:
    """Whether there are types for the literals that a call is given."""
    literals = [each for each in children_of(call) if isinstance(each, exp.Literal)]
    texts = sum(each.is_string for each in literals)
    numbers = sum(_NUMBERS.fullmatch(each) is not None for each in types)
    return texts <= types.count("STRING") and len(literals) - texts <= numbers


def _cast(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    """Casts to a type as they are written; without any, the calls, which read what they take.

    Without these a set operation casts: the one column of its first query.
    """
    if _casts(tree):
        return cast_operands(match["type"], tree)
    calls: list[exp.Expr] = list(nodes_of(tree, exp.Func))
    united = tree.find(exp.SetOperation)
    if united is None:
        return calls
    entries = [] if calls else united.left.expressions
    return entries if len(entries) == 1 else []


def cast_operands(target: str, tree: exp.Expr) -> list[exp.Expr]:
    """What CASTs to a type take. `target`: the type as errors write it."""
    return [cast.this for cast in _casts(tree) if type_name(cast.to) == target]


def _casts(tree: exp.Expr) -> list[exp.Cast]:
    """The casts that may fail, as they are written."""
    return [each for each in nodes_of(tree, exp.Cast) if not isinstance(each, exp.TryCast)]


def type_name(data_type: exp.DataType) -> str:
    """A type as errors write it: `DECIMAL(5,2)`, `TINYINT`."""
    return str(data_type.sql()).replace(" ", "").upper()


def _mentioned(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    name = match["name"].lower()
    return [call for call in nodes_of(tree, exp.Func) if name in _names(call)]


def _cases(_match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    """CASE, and if(), which is one in other words."""
    return [
        each for each in nodes_of(tree, exp.Case, exp.If) if not isinstance(each.parent, exp.Case)
    ]


def _greatest(_match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    return nodes_of(tree, exp.Greatest, exp.Least)


def _written_lists(_match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    return nodes_of(tree, exp.Array)


def _framed(_match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    return framed_windows(tree)


def framed_windows(tree: exp.Expr) -> list[exp.Expr]:
    """Windows that say which rows beside its own each takes."""
    return [each.parent for each in nodes_of(tree, exp.WindowSpec) if each.parent is not None]


def _compared(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    types = (match["left"], match["right"])
    return [
        each
        for each in nodes_of(tree, *_COMPARISONS)
        if _has(each, types) or _has(each, types[::-1])
    ]


def _has(operation: exp.Expr, types: tuple[str, str]) -> bool:
    return _fits(operation.this, types[0]) and _fits(operation.expression, types[1])


def _fits(operand: exp.Expr, name: str) -> bool:
    """Whether an operand may have a type: what is no literal may."""
    if isinstance(operand, exp.Neg | exp.Binary) and not isinstance(operand, exp.DPipe):
        return name != "STRING"
    if not isinstance(operand, exp.Literal):
        return True
    return name == "STRING" if operand.is_string else _NUMBERS.fullmatch(name) is not None


def _overflow(match: _Match, tree: exp.Expr) -> list[exp.Expr]:
    kind = _OVERFLOWS.get(match["operation"])
    return [
        each
        for each in (nodes_of(tree, kind) if kind is not None else ())
        if _is(each.this, match["left"]) and _is(each.expression, match["right"])
    ]


def _is(operand: exp.Expr, value: str) -> bool:
    """Whether an operand may have a value: what is no literal may."""
    return not isinstance(operand, exp.Literal) or operand.name == value


_CANDIDATES = candidate_table(
    (
        r"no operator matches (?P<left>\S.*?) (?P<operator>[-+*/%&|<>]+|(?:NOT )?I?LIKE|GLOB) "
        r"(?P<right>.+)",
        _binary,
    ),
    (r"no operator matches (?P<operator>[-~])(?P<type>\w.*)", _signed),
    (r"no operator matches .+\[.*\]$", _element),
    (r"no function matches (?P<name>\w+)\((?P<types>.*)\)", _call),
    (r"cannot compare values of type (?P<left>.+) and type (?P<right>.+) - an", _compared),
    (r"\S.* cannot be cast to (?P<type>\S.*)$", _cast),
    (r"(?i)argument for (?P<name>ntile|nth_value) must", _mentioned),
    (r"window \w+ (?:PRECEDING|FOLLOWING) expression", _framed),
    (r"cannot mix values .* in CASE ", _cases),
    (r"cannot mix values .* in (?P<name>COALESCE) ", _mentioned),
    (r"cannot combine types of ", _greatest),
    (r"an expression is given values of types", _written_lists),
    (r"'(?P<name>\w+)' would make a value", _mentioned),
    (r"(?:.*\b)?(?P<name>[a-z]\w*)\(\)", _mentioned),
    (r"overflow in (?P<operation>\w+) of \w+ \((?P<left>\S+) \S (?P<right>\S+)\)", _overflow),
)
