"""Checks that no call makes a value beyond what one value may have, put into the engine's query.

The engine computes a call for some thousand rows at once and cannot be stopped meanwhile, and what
it makes there is not counted against its memory limit. So a call of `GROWING` gets one of its
arguments only if the bound of what it would make holds: `repeat(x, n)` becomes `repeat(x, CASE WHEN
strlen(x) * n <= 16384 OR __within(strlen(x) * n, 'value repeat') THEN n END)`. The argument is
computed before the function, also where the engine folds constants. What the text of the statement
shows to be small is left alone, what it shows to be too large is refused.

An argument that is more than a column or a constant is computed once: the call moves into a lambda
over a list of one struct of such arguments.
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.tree_nodes import ClassTest, all_nodes, nodes_of, with_node
from pykudu_sql.planner.value_bounds.checks_together import (
    COPY,
    COUNTED,
    WITHIN,
    WITHIN_UNFOLDED,
    count_together,
)
from pykudu_sql.planner.value_bounds.computed_once import (
    COMPUTED_ONCE,
    name_arguments,
    varies,
    with_parts,
    without_parts,
)
from pykudu_sql.planner.value_bounds.excess import MAX_VALUE_BYTES, Bounded
from pykudu_sql.planner.value_bounds.gathered_values import GATHERED, TOO_LARGE
from pykudu_sql.planner.value_bounds.list_maps import COPIED, Element, element_of, growth_of
from pykudu_sql.planner.value_bounds.text_casts import (
    CASTABLE,
    COMPARING,
    PARSING_KINDS,
    PARSING_NAMES,
    TRY_CASTABLE,
    bound_casts,
    refuse_long_text,
)
from pykudu_sql.planner.value_bounds.value_calls import (
    Call,
    call_of,
    engine_call,
    list_map_of,
    part_group_keys,
)
from pykudu_sql.planner.value_bounds.value_growth import GROWING, Amount, Growth, times
from pykudu_sql.planner.value_bounds.value_measures import (
    ComputedMeasures,
    least_measures,
    static_measures,
)
from pykudu_sql.planner.value_bounds.value_sizes import COMMON_CELL
from pykudu_sql.planner.vocabulary.function_table import SOURCE_NAME
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError

ROW_BYTES = 16 * 1024  # what a row may make before the rows of a vector are counted
SHALLOW = "__shallow"
_COMPUTING = (
    *COMPARING, *PARSING_KINDS, exp.DPipe, exp.Anonymous, exp.Array, exp.Transform,
    exp.ArrayFilter,
)  # fmt: skip
_FORMATS = ("format", "printf")
_CHECKS = {WITHIN, WITHIN_UNFOLDED, TOO_LARGE, GATHERED, SHALLOW, CASTABLE, TRY_CASTABLE}
_UNFOLDED = "pykudu_unfolded"  # in the meta of a call that the engine must not work out beforehand
_COPYING = {"lower", "upper", "trim", "ltrim", "rtrim", "substring", "substr"}
_MAX_WIDTH = 1024 * 1024
_MOST_FOLDED = 4 * 1024 * 1024  # bytes of a constant that the engine works out beforehand
_OF_ANY_TYPES = ("struct", "row")  # beside a constant, a number leaves their amount a constant
_SHALLOW_BYTES = 1_000
# By name, the arguments whose JSON may be nested too deeply for the engine.
_DEEP = {
    "json_contains": (1, 2), "json_merge_patch": (1, 2, 3, 4), "json_pretty": (1,),
    "json_structure": (1,),
    "from_json": (1,), "json_transform": (1,),
}  # fmt: skip
# What functions are called that the parser has another name for.
_SQL_NAMES = {
    "pad": "lpad", "generate_series": "range", "split": "string_split", "time_to_str": "strftime",
    "j_s_o_n_array": "json_array", "jarowinkler_similarity": "jaro_winkler_similarity",
    "j_s_o_n_object": "json_object", "cast_nested": "cast",
}  # fmt: skip
# The argument that says what JSON becomes; the engine wants it as a constant.
_STRUCTURE = {"from_json": 2, "json_transform": 2}
_BOUNDED_NAMES = frozenset({*GROWING, *_FORMATS, *_DEEP, *_STRUCTURE})
_NAMES = _BOUNDED_NAMES | PARSING_NAMES
_MAX_NESTING = 500
_FIELD = re.compile(r"\{([^{}]*)\}|%([^a-zA-Z%]*)[a-zA-Z]")
_DYNAMIC_WIDTH = re.compile(r"\{[^{}]*\{|%[^a-zA-Z%]*\*")


def bound_values(tree: exp.Expr) -> exp.Expr:
    """The tree with checks of what its calls make; changed in place.

    Raises ValueOutOfRangeError: the text of the statement shows that a call makes too much (54000);
    InvalidValueError: it shows that a text is too long for what it is cast to (22018).
    """
    nodes = _computing(tree)
    if any(isinstance(node, exp.DPipe) for node in nodes) and part_group_keys(tree):
        nodes = _computing(tree)
    may_grow = False
    for node in nodes:
        refuse_long_text(node)
        call = call_of(node)
        may_grow |= call is not None and (call.name in GROWING or call.name in _FORMATS)
        if call is not None and call.name in GROWING:
            _refuse_too_large(call, GROWING[call.name])
    # What a map gives is read off its list before that gets checks of its own.
    maps = [(node, list_map_of(node)) for node in nodes]
    bounds = [(node, None if each is None else (element_of(each),)) for node, each in maps]
    for node, elements in reversed(bounds):
        check_cancelled()
        if elements is not None:
            may_grow, changed = True, _bounded_map(node, *elements)
        else:
            bound_casts(node)
            changed = _bounded(node)
        tree = with_node(tree, node, changed)
    if may_grow:
        count_together(tree)
    return tree


def _computing(tree: exp.Expr) -> list[exp.Expr]:
    """The calls and comparisons of a tree that may get checks, in the order of a walk."""
    return [node for node in all_nodes(tree) if _IS_COMPUTING[type(node)]]


def _may_be_bounded(kind: type[exp.Expr]) -> bool:
    """Whether a node of a class may get a check; of most functions nothing has to be bounded."""
    if issubclass(kind, exp.Func) and not issubclass(kind, _COMPUTING):
        return kind.sql_names()[0].lower() in _NAMES
    return issubclass(kind, _COMPUTING)


_IS_COMPUTING = ClassTest(_may_be_bounded)


def _bounded_map(node: exp.Expr, element: Element | None) -> exp.Expr:
    """A map over a list with its check, or as it is if the list is short.

    `element`: what one becomes, None if that is no more than it is.
    """
    mapped = list_map_of(node)
    if mapped is None:
        return node
    call = Call(mapped.name, node, [mapped.source])
    growths = [COPIED] if element is None else [COPIED, growth_of(element, mapped.body)]
    _refuse_too_large(call, growths[-1])
    if not _can_be_large(call, growths[-1]):
        return node
    # What measures the new elements is a list itself, so it comes behind the check of their number.
    return _checked(call, [each for each in growths if _can_be_large(call, each)], ())


def _bounded(node: exp.Expr) -> exp.Expr:
    """A call with its check, or the node as it is if nothing can grow."""
    call = call_of(node)
    if call is None or call.name not in _BOUNDED_NAMES:
        return node
    growth = _formatting(call) if call.name in _FORMATS else GROWING.get(call.name)
    positions = _DEEP.get(call.name, ())
    if call.name in _STRUCTURE:
        _check_structure(call)
    if growth is not None and not _can_be_large(call, growth):
        growth = None
    elif call.name in _COPYING and _is_checked(call.arguments[0]):
        call.node.meta[COPY] = True
        return call.node
    there = [position for position in positions if position <= len(call.arguments)]
    deep = [position for position in there if not _is_shallow(call.arguments[position - 1])]
    growths = [] if growth is None else [growth]
    return _checked(call, growths, deep) if growths or deep else call.node


def _is_checked(node: exp.Expr) -> bool:
    """Whether a value is what a checked call gives, or a copy of it."""
    while isinstance(node, exp.Paren):
        node = node.this
    if node.meta.get(COPY):
        return True
    if isinstance(node, exp.Anonymous) and node.expressions:
        first = node.expressions[0]
        if isinstance(first, exp.Transform) and COMPUTED_ONCE in first.meta:
            return True
    call = call_of(node)
    return (
        call is not None
        and call.name in GROWING
        and any(each.name.lower() in COUNTED for each in nodes_of(node, exp.Anonymous))
    )


def _refuse_too_large(call: Call, growth: Growth) -> None:
    """Refuse a call whose text shows that it makes too much, for the engine takes long to fail.

    Raises ValueOutOfRangeError: it does (54000).
    """
    if len(call.arguments) < growth.carrier:
        return
    if _is_constant(call) and (_fits_unfolded(call, growth) or _is_large(call, growth)):
        call.node.meta[_UNFOLDED] = True
    is_folded = _is_constant(call) and _UNFOLDED not in call.node.meta
    if growth.rule(least_measures(call.arguments, is_constant=is_folded)) > MAX_VALUE_BYTES:
        excess = growth.bounded.excess(_text(call), MAX_VALUE_BYTES)
        hint = growth.bounded.remedy(MAX_VALUE_BYTES)
        raise ValueOutOfRangeError(excess, hint=hint, sqlstate="54000")


def _is_constant(call: Call) -> bool:
    """Whether the engine works a call out beforehand."""
    return not any(varies(argument) or _is_unfolded(argument) for argument in call.arguments)


def _is_unfolded(node: exp.Expr) -> bool:
    return any(part.name.lower() == WITHIN_UNFOLDED for part in nodes_of(node, exp.Anonymous))


def _is_large(call: Call, growth: Growth) -> bool:
    """Whether a call of constants makes so much that the copies of what is folded count."""
    amount: float = growth.rule(least_measures(call.arguments, is_constant=False))
    return growth.bounded is Bounded.VALUE and amount > _MOST_FOLDED


def _fits_unfolded(call: Call, growth: Growth) -> bool:
    """Whether what a call of constants makes is within the bound only where it is not folded."""
    folded: float = growth.rule(least_measures(call.arguments, is_constant=True))
    unfolded: float = growth.rule(static_measures(call.arguments))
    return unfolded <= MAX_VALUE_BYTES < folded


def _can_be_large(call: Call, growth: Growth) -> bool:
    if len(call.arguments) < growth.carrier:
        return False
    if growth.wants_constant and isinstance(call.arguments[growth.carrier - 1], exp.Placeholder):
        return False  # the engine prepares it once, which a check would take from it
    amount: float = growth.rule(static_measures(call.arguments))
    beside_cells: float = growth.rule(static_measures(call.arguments, COMMON_CELL))
    # What is neither more nor less is nothing times what has no bound.
    return not (amount <= growth.small and beside_cells <= ROW_BYTES)


def _checked(call: Call, growths: Sequence[Growth], deep: Sequence[int]) -> exp.Expr:
    """The checks put in, after arguments that should be computed once have got names.

    Args:
        call: to be checked.
        growths: that it is checked for, in this order, by one carrier.
        deep: the arguments whose JSON may be nested too deeply.
    """
    is_constant = _is_constant(call)
    is_unfolded = is_constant and _UNFOLDED in call.node.meta
    measured_as_constant = is_constant and not is_unfolded
    named = name_arguments(call.arguments)
    arguments = list(named.arguments)
    for position in deep:
        arguments[position - 1] = _swap(
            arguments[position - 1], _shallow(call.name, arguments[position - 1])
        )
    if growths:
        carrier = checked = arguments[growths[0].carrier - 1]
        measures = ComputedMeasures(arguments, is_constant=measured_as_constant)
        is_counted_by_row = is_unfolded or (not is_constant and call.name in _OF_ANY_TYPES)
        check = WITHIN_UNFOLDED if is_counted_by_row else WITHIN
        for growth in reversed(growths):
            subject = f"{growth.bounded} {_text(call)}"
            checked = _check(check, subject, growth.rule(measures), checked)
        _swap(carrier, checked)
    return with_parts(call.node, named)


def _swap(old: exp.Expr, new: exp.Expr) -> exp.Expr:
    old.replace(new)
    return new


def _text(call: Call) -> str:
    """The name by which a refusal knows a call: as the statement has it."""
    written: str | None = call.node.meta.get(SOURCE_NAME)
    return written or _SQL_NAMES.get(call.name, call.name)


def _check(check: str, subject: str, amount: Amount, carrier: exp.Expr) -> exp.Expr:
    """The carrier if the amount is within the bound."""
    few = exp.LTE(this=exp.paren(amount, copy=False), expression=exp.Literal.number(ROW_BYTES))
    within = engine_call(
        check,
        exp.cast(exp.paren(amount), exp.DType.DOUBLE, copy=False),
        exp.Literal.string(subject),
    )
    condition = exp.Or(this=few, expression=within)
    return exp.Case(ifs=[exp.If(this=condition, true=carrier.copy())])


def _shallow(name: str, argument: exp.Expr) -> exp.Expr:
    """A JSON text if it is not nested too deeply."""
    text = exp.cast(argument, exp.DType.TEXT)
    short = exp.LT(this=engine_call("strlen", text), expression=exp.Literal.number(_SHALLOW_BYTES))
    checked = engine_call(SHALLOW, text.copy(), exp.Literal.string(name))
    return exp.Case(ifs=[exp.If(this=exp.Or(this=short, expression=checked), true=argument.copy())])


def _check_structure(call: Call) -> None:
    """Refuse a structure that the engine would go down into too deeply.

    Raises InvalidValueError: it is no text that is written out (22023); ValueOutOfRangeError: it is
    nested too deeply (54000).
    """
    structure = call.arguments[_STRUCTURE[call.name] - 1]
    if not isinstance(structure, exp.Literal) or not structure.is_string:
        raise InvalidValueError(
            f"the structure of {call.name}() must be written as a text",
            hint="""such as '{"a": "INTEGER"}'""",
            sqlstate="22023",
        )
    if structure.name.count("[") + structure.name.count("{") > _MAX_NESTING:
        raise ValueOutOfRangeError(
            f"the structure of {call.name}() has more than {_MAX_NESTING} lists and objects",
            sqlstate="54000",
        )


def without_bounds(tree: exp.Expr) -> exp.Expr:
    """A tree without its checks, for an engine that does not know them; changed in place."""
    for node in reversed(all_nodes(tree)):
        tree = with_node(tree, node, _unchecked(node))
    return tree


def _unchecked(node: exp.Expr) -> exp.Expr:
    """What a check lets through, what a list of one struct was made for; else the node itself."""
    if isinstance(node, exp.Case) and node.args["ifs"]:
        first = node.args["ifs"][0]
        condition, result = first.this, first.args["true"]
        checks = {call.name.lower() for call in nodes_of(condition, exp.Anonymous)}
        plain: exp.Expr = result.copy() if checks & _CHECKS else node
        return plain
    if isinstance(node, exp.Anonymous) and node.name.lower() == "list_extract":
        return without_parts(node)
    return node


def _is_shallow(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and len(node.name) < _SHALLOW_BYTES


def _formatting(call: Call) -> Growth:
    """The rule of `format` and `printf`, whose fields have the widths of their pattern.

    Raises ValueOutOfRangeError: one is too wide, or its width is an argument.
    """
    pattern = call.arguments[0]
    if not isinstance(pattern, exp.Literal):
        return Growth(lambda measures: measures.fields())
    widths = [
        sum(map(float, re.findall("[0-9]+", match[1] or match[2] or "")))
        for match in _FIELD.finditer(pattern.name)
    ]
    if sum(widths) > _MAX_WIDTH or _DYNAMIC_WIDTH.search(pattern.name):
        raise ValueOutOfRangeError(
            f"{call.name}() would make a value of more than {MAX_VALUE_BYTES >> 20} MiB",
            hint=f"fields may be {_MAX_WIDTH} wide together, and widths are no arguments",
            sqlstate="54000",
        )
    one = times(max(1, len(widths)))
    return Growth(one.rule, min(2, len(call.arguments)), small=one.small)
