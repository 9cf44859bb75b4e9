"""Aggregates of whose states the engine counts too little, refused before it makes too many.

The engine counts the states of nearly all aggregates against its memory limit, and spills or fails
in time. Not counted are the tables of `approx_top_k`, the samples of `reservoir_quantile`, the
counters of `histogram(x, bins)`, one for each group and thread, and the keys that it looks through
when it makes a map of what `histogram(x)` gathered. How much that would be is a sum over groups,
which a subquery in the WHERE clause works out before any row comes to the aggregate:
`.. AND CASE WHEN (SELECT .. __states(..) .. FROM (SELECT count(*) .. GROUP BY ..)) THEN TRUE END`.
It groups as the select does, grouping sets too, and stands wherever a select can stand. The form
with checks is chosen when the query runs, where its relations have so many rows that it may be
needed.
"""

from collections.abc import Mapping, Sequence
from math import inf, prod

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.functions.functions import gathers_rows
from pykudu_sql.planner.functions.gathering_windows import is_computed_once, value_of, with_rows
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.value_bounds.gathered_values import STATES, aggregate_name
from pykudu_sql.planner.value_bounds.value_sizes import CELL, is_short, number_of

CALLS = (exp.Anonymous, exp.AnonymousAggFunc)  # that may be such aggregates
_NAMES = frozenset({"approx_top_k", "histogram", "reservoir_quantile"})
_SMALL = 1 << 20  # bytes that no limit refuses
_FEW_GROUPS = 8192  # that a thread has at once; beyond it makes new states of the same groups
_THREADS = 4
_KEY_BYTES = 64  # of a key of a map, beside a text
_SAMPLE = 8192  # of reservoir_quantile, unless it is given
_BEHIND_GROUPS = ("distinct", "having", "qualify", "windows", "order", "limit", "offset", "with_")
_CLAUSES = (exp.Filter, exp.WithinGroup)
_COUNT, _MADE_FOR, _TEXT, _TEXTS = "__n", "__made_for", "__text", "__texts"
_CHECK = """
    SELECT amount <= {small} OR {guard}(CAST(amount AS DOUBLE), '{name}')
    FROM (SELECT coalesce({amount}, 0) AS amount FROM __rows) AS amounts
"""
# Of a map the keys are looked through; lists of 2048 groups are there at once.
_AMOUNT_OF_MAPS = "max({bytes}) + least(sum({bytes}), 2048 * max({bytes})) / 2"
_BYTES_OF_MAP = f"({_COUNT} * {_KEY_BYTES} + least({_COUNT} * {_TEXT}, {_TEXTS}))"
_AMOUNT_OF_STATES = """
    CASE WHEN count(*) > {few} THEN sum(__n) ELSE sum(least(__n, {threads})) END
    * max({base} + {share} * __made_for)
    + sum(least(__n, {values} * __made_for) * ({value} + __text))
"""


@dataclass(frozen=True, slots=True)
class RelationSize:
    """How many rows a relation has, and the bytes of one in the mean."""

    rows: float
    row_bytes: float


@dataclass(frozen=True, slots=True)
class _State:
    """What the states of an aggregate take that makes no map.

    Attributes:
        base: bytes of a state without values, and `share` more for each of what it is made for.
        share: see `base`.
        values: for each of these the most values that the states of a group hold.
        value: bytes of a value, beside a text.
        made_for: how many these are: bins, values of a sample, or the greatest counts.
    """

    base: int
    share: int
    values: int
    value: int
    made_for: exp.Expr


_UNKNOWN = RelationSize(inf, inf)


def has_states(calls: Sequence[exp.Expr]) -> bool:
    """Whether a query has such aggregates. `calls`: the nodes of its tree that may be some."""
    return any(map(_is_uncounted, calls))


def with_checked_states(
    tree: exp.Expr, sizes: Mapping[str, RelationSize], most: float
) -> exp.Expr | None:
    """The form of a query with checks, None where its relations are too small to need any.

    Args:
        tree: of the query, as it is printed; it stays as it is.
        sizes: of its relations, by the names that the tree has.
        most: bytes that no check refuses.
    """
    if not _unchecked(tree, sizes, most):
        return None
    form = tree.copy()
    by_select: dict[int, tuple[exp.Select, list[exp.Expr]]] = {}
    for select, call in _unchecked(form, sizes, most):
        by_select.setdefault(id(select), (select, []))[1].append(call)
    # The inner ones first, for the check of an outer one reads what they give.
    in_order = sorted(by_select.values(), key=lambda each: each[0].depth, reverse=True)
    for select, calls in in_order:
        check_cancelled()
        checks = [_check(select, call) for call in _different(calls)]
        select.where(*checks, copy=False)
    return form


def _unchecked(
    tree: exp.Expr, sizes: Mapping[str, RelationSize], most: float
) -> list[tuple[exp.Select, exp.Expr]]:
    """The aggregates that may take more than `most` bytes, each with its select."""
    calls = [(call.parent_select, call) for call in nodes_of(tree, *CALLS) if _is_uncounted(call)]
    return [
        (select, call)
        for select, call in calls
        if isinstance(select, exp.Select)
        and select.args.get("from_") is not None
        and _most_bytes(select, call, sizes) > most
    ]


def _is_uncounted(call: exp.Expr) -> bool:
    """Whether a call is of such an aggregate; windows have checks of their own."""
    if call.name.lower() not in _NAMES:
        return False
    return not isinstance(_whole(call).parent, exp.Window)


def _whole(call: exp.Expr) -> exp.Expr:
    """An aggregate with the clauses behind it."""
    while isinstance(call.parent, _CLAUSES) and call.parent.this is call:
        call = call.parent
    return call


def _different(calls: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The calls without those that are equal to others."""
    return list({_whole(call): call for call in calls}.values())


def _is_map(call: exp.Expr) -> bool:
    return call.name.lower() == "histogram" and len(call.expressions) == 1


def _state(call: exp.Expr) -> _State:
    """What the states of an aggregate take that makes no map."""
    arguments = call.expressions
    match call.name.lower():
        case "histogram":
            bins = exp.Anonymous(this="len", expressions=[arguments[1].copy()])
            return _State(160, 16, 0, 0, bins)
        case "reservoir_quantile":
            sample = arguments[2] if len(arguments) > 2 else exp.Literal.number(_SAMPLE)
            return _State(4200, 0, _THREADS, 16, sample.copy())
    return _State(400, 100, 6, 300, arguments[1].copy())


def _most_bytes(select: exp.Select, call: exp.Expr, sizes: Mapping[str, RelationSize]) -> float:
    """What an aggregate takes if each row is a group or has a value of its own."""
    size = _size_of(select, sizes) if is_computed_once(select) else _UNKNOWN
    value = value_of(call)
    text = inf
    if is_short(value):
        text = 0.0
    elif isinstance(value, exp.Column) and value.meta_get(CELL) is not None:
        text = size.row_bytes
    if _is_map(call):
        return size.rows * (_KEY_BYTES + text) * 1.5
    state = _state(call)
    made_for = number_of(state.made_for)
    bins = call.expressions[-1]
    if made_for is None and isinstance(bins, exp.Array):
        made_for = len(bins.expressions)
    if made_for is None:
        return inf
    states = size.rows if select.args.get("group") is not None else min(size.rows, _THREADS)
    bytes_of_states = states * (state.base + state.share * made_for)
    if not state.values:
        return bytes_of_states
    return bytes_of_states + min(size.rows, states * state.values * made_for) * (state.value + text)


def _size_of(select: exp.Select, sizes: Mapping[str, RelationSize]) -> RelationSize:
    """The rows that a select reads at most, as wide as those of all its relations."""
    if select.args.get("laterals") or select.args.get("from_") is None:
        return _UNKNOWN
    sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
    read = [_size_of_source(source, sizes) for source in sources]
    # A row without a match stays in an outer join.
    rows = prod(size.rows + (len(read) > 1) for size in read)
    return RelationSize(rows, sum(size.row_bytes for size in read))


def _size_of_source(source: exp.Expr, sizes: Mapping[str, RelationSize]) -> RelationSize:
    if any(source.args.get(key) for key in ("joins", "laterals", "pivots")):
        return _UNKNOWN
    inner = source.this
    if isinstance(source, exp.Subquery) and isinstance(inner, exp.Select):
        unnests = any(_unnests(node) for item in inner.expressions for node in all_nodes(item))
        return _UNKNOWN if unnests else _size_of(inner, sizes)
    is_table = isinstance(source, exp.Table) and isinstance(inner, exp.Identifier)
    return sizes.get(source.name, _UNKNOWN) if is_table else _UNKNOWN


def _unnests(node: exp.Expr) -> bool:
    """Whether an item of a SELECT list may make rows of one."""
    return isinstance(node, exp.Explode | exp.Unnest) or node.name.lower() == "unnest"


def _check(select: exp.Select, call: exp.Expr) -> exp.Expr:
    """A condition that holds, or raises."""
    value = value_of(call)
    text: exp.Expr = exp.Literal.number(0)
    if not is_short(value):
        length = exp.Anonymous(this="strlen", expressions=[exp.cast(value.copy(), exp.DType.TEXT)])
        text = exp.Coalesce(this=length, expressions=[exp.Literal.number(0)])
    counted: exp.Expr = value.copy()
    if _is_map(call):
        counted = exp.Distinct(expressions=[counted])
        made_for: exp.Expr = exp.Literal.number(0)
        amount = _AMOUNT_OF_MAPS.format(bytes=_BYTES_OF_MAP)
    else:
        state = _state(call)
        made_for = state.made_for
        amount = _AMOUNT_OF_STATES.format(
            few=_FEW_GROUPS, threads=_THREADS, base=state.base, share=state.share,
            values=state.values, value=state.value,
        )  # fmt: skip
    columns = {
        _COUNT: _filtered(call, exp.Count(this=counted)),
        _MADE_FOR: _filtered(call, exp.Max(this=exp.cast(made_for, exp.DType.DOUBLE))),
        _TEXT: _filtered(call, exp.Max(this=text)),
        _TEXTS: _filtered(call, exp.Sum(this=text.copy())),
    }
    rows = _grouped(select, columns)
    check = _CHECK.format(small=_SMALL, guard=STATES, name=aggregate_name(call), amount=amount)
    return with_rows(check, rows)


def _filtered(call: exp.Expr, aggregate: exp.Expr) -> exp.Expr:
    """An aggregate over the rows that a call is over."""
    around = call.parent
    while isinstance(around, _CLAUSES):
        if isinstance(around, exp.Filter):
            return exp.Filter(this=aggregate, expression=around.expression.copy())
        around = around.parent
    return aggregate


def _grouped(select: exp.Select, columns: dict[str, exp.Expr]) -> exp.Select:
    """The groups of a select, with other columns."""
    rows = select.copy()
    for clause in _BEHIND_GROUPS:
        rows.set(clause, None)
    # Items stay, for names and numbers of GROUP BY refer to them; the engine drops what is unused.
    items = [_without_aggregates(item) for item in rows.expressions]
    added = [exp.alias_(column, name) for name, column in columns.items()]
    rows.set("expressions", [*items, *added])
    return rows


def _without_aggregates(item: exp.Expr) -> exp.Expr:
    """An item of a SELECT list, with nothing in its place if it needs groups or windows."""
    if not gathers_rows(item) and not nodes_of(item, exp.Window):
        return item
    return exp.alias_(exp.null(), item.alias) if item.alias else exp.null()
