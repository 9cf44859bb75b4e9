"""The sizes of arguments: from the text of the statement, or as SQL for each row."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import inf

from sqlglot import exp

from pykudu_sql.planner.value_bounds.excess import Bounded
from pykudu_sql.planner.value_bounds.value_calls import call_of, engine_call
from pykudu_sql.planner.value_bounds.value_growth import (
    CONSTANT_ELEMENT_BYTES,
    ELEMENT_BYTES,
    GROWING,
    SHORT_PATTERN,
    Amount,
    Measures,
)
from pykudu_sql.planner.value_bounds.value_sizes import (
    CELL_BYTES,
    TEXT_TYPES,
    least_bytes,
    most_bytes,
    number_of,
)

_WIDE_FIELD = "[0-9]{5,}|[*]|[{][^}]*[{]"
_WIDEST_FIELD = 10_000
_LONGEST_PATTERN = 1024 * 1024
_CHAIN = 16
_SCALAR_TEXTS = (*TEXT_TYPES, "BLOB")
_SMALL_TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DATE",
    "TIME", "TIMESTAMP", "INTERVAL", "UUID",
)  # fmt: skip


class WrittenMeasures(Measures):
    """Measures from the text of the statement, with one value for what it does not show."""

    def __init__(
        self,
        arguments: Sequence[exp.Expr],
        size: Callable[[exp.Expr], float],
        unknown: float,
        element: int,
    ) -> None:
        """Of the arguments of one call.

        Args:
            arguments: of the call.
            size: gives the bytes of an argument.
            unknown: the value of a number, or of a list's length, that is not written.
            element: see Measures.
        """
        self._arguments = arguments
        self._size = size
        self._unknown = unknown
        self.element = element
        self.count = len(arguments)

    def total(self, parts: Sequence[float]) -> float:
        return sum(parts)

    def smaller(self, one: float, other: float) -> float:
        return min(one, other)

    def size(self, position: int) -> float:
        return self._size(self._arguments[position - 1]) if position <= self.count else 0.0

    def component(self, position: int) -> float:
        """See Measures; a parameter is in memory already."""
        argument = self._arguments[position - 1]
        if isinstance(argument, exp.Array):
            return sum(map(self._size, argument.expressions))
        return 0.0 if isinstance(argument, exp.Placeholder) else self._size(argument)

    def compiled(self, position: int) -> float:
        return 0.0 if _is_short(self._arguments[position - 1]) else self.size(position)

    def written(self, position: int) -> float:
        is_list = isinstance(self._arguments[position - 1], exp.Array)
        return 0.0 if is_list else self.size(position)

    def listed(self, position: int) -> float:
        """See Measures; a list is what no size is known of."""
        size = self.size(position)
        return size if size == inf else 0.0

    def items(self, position: int) -> float:
        return _items(self._arguments[position - 1], self._unknown)

    def elements(self, position: int) -> float:
        argument = self._arguments[position - 1]
        if isinstance(argument, exp.Array):
            return _items(argument, self._unknown)
        return self._unknown if self._size(argument) == inf else 0.0

    def mapped(self, position: int, amount: Amount, parameters: Sequence[Amount]) -> float:
        return self._unknown

    def texts(self, position: int) -> float:
        argument = self._arguments[position - 1]
        is_list = isinstance(argument, exp.Array)
        return sum(map(self._size, argument.expressions)) if is_list else self._unknown

    def widest(self, position: int) -> float:
        argument = self._arguments[position - 1]
        is_list = isinstance(argument, exp.Array)
        sizes = map(self._size, argument.expressions)
        return max(sizes, default=0.0) if is_list else self._unknown

    def value(self, position: int) -> float:
        number = number_of(self._arguments[position - 1])
        return self._unknown if number is None else max(number, 0.0)

    def span(self) -> float:
        return _span(self._arguments, self._unknown)

    def fields(self) -> float:
        return self._unknown


def static_measures(arguments: Sequence[exp.Expr], cell: float = CELL_BYTES) -> WrittenMeasures:
    """Measures that no values exceed; infinity where the text of the statement does not show them.

    `cell`: bytes of a cell of a table.
    """
    return WrittenMeasures(arguments, partial(most_bytes, cell=cell), inf, ELEMENT_BYTES)


def value_bytes(node: exp.Expr) -> float:
    """The most bytes that a value can have, by the rule of its call if there is one."""
    while isinstance(node, exp.Paren):
        node = node.this
    bound = most_bytes(node)
    call = call_of(node)
    growth = None if call is None else GROWING.get(call.name)
    if call is None or growth is None or growth.bounded is Bounded.STEPS:
        return bound
    amount: float = growth.rule(static_measures(call.arguments))
    return amount if amount < bound else bound


def least_measures(arguments: Sequence[exp.Expr], *, is_constant: bool) -> WrittenMeasures:
    """Measures that no values fall short of; nothing where the statement does not show them.

    What the rule makes of them is what a check would find at least, so that the engine need not
    work the call out to fail. The arguments are those of `ComputedMeasures`.
    """
    return WrittenMeasures(arguments, least_bytes, 0.0, _element_bytes(is_constant=is_constant))


def _is_short(pattern: exp.Expr) -> bool:
    return isinstance(pattern, exp.Literal) and most_bytes(pattern) <= SHORT_PATTERN


def _element_bytes(*, is_constant: bool) -> int:
    return CONSTANT_ELEMENT_BYTES if is_constant else ELEMENT_BYTES


def _items(node: exp.Expr, unknown: float) -> float:
    """The number of elements of a list, where the text shows it."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Null):
        return 0.0
    if isinstance(node, exp.Array) and node.find(exp.Comprehension, exp.Unnest) is None:
        return float(len(node.expressions))
    if isinstance(node, exp.GenerateSeries):
        ends = [node.args["start"], node.args["end"], node.args.get("step")]
        return _span([end for end in ends if end is not None], unknown)
    return unknown


def _span(arguments: Sequence[exp.Expr], unknown: float) -> float:
    numbers = [number_of(argument) for argument in arguments]
    if None in numbers:
        return unknown
    ends = [number or 0.0 for number in numbers]
    low, high = (0.0, ends[0]) if len(ends) == 1 else ends[:2]
    return max((high - low) / ((ends[2] or 1.0) if len(ends) > 2 else 1.0), 0.0)


class ComputedMeasures(Measures):
    """Measures as the engine computes them: doubles, which do not overflow; 0 of NULL.

    For many functions leave NULL out, and give a value as large as that of their other arguments.
    """

    def __init__(self, arguments: Sequence[exp.Expr], *, is_constant: bool = False) -> None:
        """Of the arguments of one call, which are copied.

        `arguments`: of the call; `is_constant`: whether they are the same for all rows.
        """
        self._arguments = arguments
        self.element = _element_bytes(is_constant=is_constant)
        self.count = len(arguments)

    def total(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """See Measures; in parentheses by groups, since the engine goes down chains of operators.

        The parts are not copied, of which there may be many.
        """
        while len(parts) > 1:
            groups = [parts[i : i + _CHAIN] for i in range(0, len(parts), _CHAIN)]
            parts = [exp.paren(reduce(_plus, group), copy=False) for group in groups]
        return parts[0]

    def smaller(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        return exp.Least(this=one, expressions=[other])

    def size(self, position: int) -> exp.Expr:
        if position > self.count:
            return exp.Literal.number(0)
        text = exp.cast(self._copy(position), exp.DType.TEXT, copy=False)
        return _amount(engine_call("strlen", text))

    def component(self, position: int) -> exp.Expr:
        element_bytes = exp.Literal.number(ELEMENT_BYTES)
        is_small = exp.If(this=self._has_type(position, _SMALL_TYPES), true=element_bytes)
        return exp.Case(ifs=[is_small], default=self.size(position))

    def compiled(self, position: int) -> exp.Expr:
        size, argument = self.size(position), self._arguments[position - 1]
        if _is_short(argument):
            return exp.Literal.number(0)
        if not isinstance(argument, exp.Placeholder):
            return size
        short = exp.LTE(this=size.copy(), expression=exp.Literal.number(SHORT_PATTERN))
        return exp.Case(ifs=[exp.If(this=short, true=exp.Literal.number(0))], default=size)

    def written(self, position: int) -> exp.Expr:
        text = exp.If(this=self._has_type(position, TEXT_TYPES), true=self.size(position))
        return exp.Case(ifs=[text], default=exp.Literal.number(0))

    def listed(self, position: int) -> exp.Expr:
        text = exp.If(this=self._has_type(position, TEXT_TYPES), true=exp.Literal.number(0))
        return exp.Case(ifs=[text], default=self.size(position))

    def _has_type(self, position: int, names: Sequence[str]) -> exp.Expr:
        """Whether an argument has one of some types, which the engine knows while it binds."""
        types = [exp.Literal.string(name) for name in names]
        return exp.In(this=engine_call("typeof", self._copy(position)), expressions=types)

    def items(self, position: int) -> exp.Expr:
        return _amount(engine_call("len", self._copy(position)))

    def elements(self, position: int) -> exp.Expr:
        """See Measures; the commas of a list as a text, whose length binds for any type."""
        text = exp.cast(self._copy(position), exp.DType.TEXT, copy=False)
        comma, nothing = exp.Literal.string(","), exp.Literal.string("")
        rest = engine_call("strlen", engine_call("replace", text.copy(), comma, nothing))
        scalar = exp.If(this=self._has_type(position, _SCALAR_TEXTS), true=exp.Literal.number(0))
        commas = engine_call("strlen", text) - rest
        return exp.Case(ifs=[scalar], default=_amount(commas + exp.Literal.number(1)))

    def mapped(self, position: int, amount: exp.Expr, parameters: Sequence[exp.Expr]) -> exp.Expr:
        copies = [parameter.copy() for parameter in parameters]
        each = exp.Lambda(this=amount + exp.Literal.number(self.element), expressions=copies)
        mapped = engine_call("list_transform", self._copy(position), each)
        return _amount(engine_call("list_sum", mapped))

    def texts(self, position: int) -> exp.Expr:
        return self._of_sizes("list_sum", position)

    def widest(self, position: int) -> exp.Expr:
        return self._of_sizes("list_max", position)

    def _of_sizes(self, aggregate: str, position: int) -> exp.Expr:
        """An aggregate of the bytes of a list's elements as texts."""
        length = engine_call("strlen", exp.cast(exp.column("__item"), exp.DType.TEXT, copy=False))
        each = exp.Lambda(this=length, expressions=[exp.to_identifier("__item")])
        sizes = engine_call("list_transform", self._copy(position), each)
        return _amount(engine_call(aggregate, sizes))

    def value(self, position: int) -> exp.Expr:
        return _amount(self._copy(position))

    def span(self) -> exp.Expr:
        """Of numbers, or of times that lie intervals apart; see Measures."""
        low: exp.Expr = exp.Literal.number(0)
        if self.count > 1:
            low = self._copy(1)
        high = self._copy(min(self.count, 2))
        step = self._copy(3) if self.count > 2 else exp.Literal.number(1)
        numbers = exp.paren(_try_cast(high, "double") - _try_cast(low, "double"))
        moments = exp.paren(_epoch(high, "timestamp") - _epoch(low, "timestamp"))
        counted = _ratio(numbers, _try_cast(step, "double"))
        timed = _ratio(moments, _epoch(step, "interval"))
        return exp.Coalesce(this=counted, expressions=[timed, exp.Literal.number(0)])

    def fields(self) -> exp.Expr:
        """Of a pattern that is no literal: each field may be as wide as four digits can state."""
        pattern = exp.cast(self._arguments[0], exp.DType.TEXT)
        long = exp.GT(this=self.size(1), expression=exp.Literal.number(_LONGEST_PATTERN))
        wide = engine_call("regexp_matches", pattern.copy(), exp.Literal.string(_WIDE_FIELD))
        widest = exp.Literal.number(_WIDEST_FIELD // 6)
        total = self.total([widest, *map(self.size, range(2, self.count + 1))])
        return exp.Case(
            ifs=[exp.If(this=exp.or_(long, wide), true=exp.Literal.number("1e300"))],
            default=total * self.size(1),
        )

    def _copy(self, position: int) -> exp.Expr:
        return self._arguments[position - 1].copy()


def _amount(node: exp.Expr) -> exp.Expr:
    return exp.Coalesce(
        this=exp.cast(node, exp.DType.DOUBLE, copy=False), expressions=[exp.Literal.number(0)]
    )


def _plus(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Add(this=one, expression=other)


def _try_cast(node: exp.Expr, type_name: str) -> exp.Expr:
    return exp.TryCast(this=node.copy(), to=exp.DataType.build(type_name))


def _epoch(node: exp.Expr, type_name: str) -> exp.Expr:
    return engine_call("epoch", _try_cast(node, type_name))


def _ratio(whole: exp.Expr, part: exp.Expr) -> exp.Expr:
    """How often one goes into the other; NULL for a part of nothing."""
    return exp.Div(
        this=whole, expression=exp.Nullif(this=part, expression=exp.Literal.number(0)), typed=False
    )
