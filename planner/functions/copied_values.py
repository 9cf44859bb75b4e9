"""Large values that sorts and windows copy for each row, refused before they do.

The engine makes the keys of a sort for the rows of a vector at once, and gives each row of a vector
its own copy of what a window takes from another row; it counts neither against its memory limit. Of
cells of tables that is little. A text of a megabyte that many rows share, as a constant or a column
of a subquery, is 2 GB: `ORDER BY i % 7, z`, `lag(z) OVER (ORDER BY i)`, `count(DISTINCT z) OVER
()`. How much it would be is summed by a subquery in the WHERE clause before the rows come there, as
for windows that gather: `.. AND CASE WHEN (SELECT .. __gathered(..) FROM ..) THEN TRUE END`. It is
put in only where the text of the statement does not show that a value has the size of a few cells.
Behind DISTINCT nothing is checked: its values are counted.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.functions.gathering_windows import rows_before_windows, with_rows
from pykudu_sql.planner.tree_nodes import all_nodes, children_of
from pykudu_sql.planner.value_bounds.checks_together import WITHIN, WITHIN_UNFOLDED
from pykudu_sql.planner.value_bounds.gathered_values import (
    GATHERED,
    SORT,
    TOO_LARGE,
    aggregate_name,
    gathers,
)
from pykudu_sql.planner.value_bounds.text_casts import TypeName
from pykudu_sql.planner.value_bounds.value_growth import ELEMENT_BYTES
from pykudu_sql.planner.value_bounds.value_sizes import CELL_BYTES, is_short, most_bytes

COPYING = (exp.Ordered, exp.Window)  # the nodes whose values may get checks here
_FEW_CELLS = 16  # that a value may be as large as without a check
_NESTED = (exp.Array, exp.Struct, exp.Tuple, exp.Paren, exp.PropertyEQ)
_LARGE_CALLS = frozenset({WITHIN, WITHIN_UNFOLDED, TOO_LARGE})
_CHECK = """
    SELECT largest <= {small} OR {guard}(CAST(amount AS DOUBLE), CAST(largest AS DOUBLE), '{name}')
    FROM (
        SELECT coalesce(sum({bytes}), 0) AS amount, coalesce(max({bytes}), 0) AS largest
        FROM __rows
    ) AS amounts
"""


def bound_copies(nodes: Sequence[exp.Ordered | exp.Window], type_name: TypeName) -> bool:
    """Put checks into the selects whose sorts and windows copy large values; whether there are any.

    Args:
        nodes: those of `COPYING` in the tree of a query, which has checks of what its calls make.
        type_name: the engine's name of an expression's type, None if it is not known.
    """
    copied: dict[int, tuple[exp.Select, str, list[exp.Expr]]] = {}
    for node in nodes:
        for select, value in _copied(node):
            large = [part for part in _parts(value) if _may_be_large(part)]
            if large and select.args.get("from_") is not None:
                name = _name(node)
                copied.setdefault(id(select), (select, name, []))[2].extend(large)
    # The inner ones first, for the check of an outer one reads what they give.
    in_order = sorted(copied.values(), key=lambda each: each[0].depth, reverse=True)
    for select, name, values in in_order:
        check_cancelled()
        check = _check(select, list(dict.fromkeys(values)), name, type_name)
        select.where(check, copy=False)
    return bool(copied)


def _copied(node: exp.Ordered | exp.Window) -> Iterator[tuple[exp.Select, exp.Expr]]:
    """What is copied for the rows of a vector, each with the select whose rows these are."""
    order = node.parent
    query = None if order is None else order.parent
    if isinstance(node, exp.Window):
        select = node.parent_select
        if isinstance(select, exp.Select):
            yield from ((select, value) for value in _values_of_window(node))
    elif isinstance(query, exp.Query) and query.args.get("order") is order:
        yield from _sorted_values(node.this, _operands(query))
    elif isinstance(query, exp.Window) and isinstance(query.parent_select, exp.Select):
        yield query.parent_select, node.this


def _name(node: exp.Ordered | exp.Window) -> str:
    """What a refusal calls a window or a sort."""
    return aggregate_name(_function(node)) if isinstance(node, exp.Window) else SORT


def _function(window: exp.Window) -> exp.Expr:
    """The call that a window is of, without the clauses behind it."""
    call: exp.Expr = window.this
    while not isinstance(call, exp.Func) and isinstance(call.this, exp.Expr):
        call = call.this
    return call


def _values_of_window(window: exp.Window) -> Iterator[exp.Expr]:
    """The arguments of the function of a window, but for one that gathers, which has its check."""
    call = _function(window)
    if gathers(call) or call.args.get("count") is not None:
        return
    for argument in children_of(call):
        while isinstance(argument, exp.Order):
            argument = argument.this
        yield from argument.expressions if isinstance(argument, exp.Distinct) else [argument]


def _sorted_values(
    key: exp.Expr, operands: Sequence[exp.Select]
) -> Iterator[tuple[exp.Select, exp.Expr]]:
    """What a key of ORDER BY is in each select of a query, where it names an item of them."""
    if not operands:
        return
    position = _position(key, operands[0])
    for select in operands:
        if select.args.get("distinct"):
            continue
        if position is None and len(operands) == 1:
            yield select, key
        elif position is not None and _has(select, position):
            yield select, select.expressions[position].unalias()


def _operands(query: exp.Query) -> list[exp.Select]:
    """The selects that a query of UNION and the like unites, or the query itself."""
    if isinstance(query, exp.SetOperation):
        sides = (query.this, query.expression)
        return [each for side in sides if isinstance(side, exp.Query) for each in _operands(side)]
    if isinstance(query, exp.Subquery) and isinstance(query.this, exp.Query):
        return _operands(query.this)
    return [query] if isinstance(query, exp.Select) else []


def _position(key: exp.Expr, select: exp.Select) -> int | None:
    """The place of the item that a key names by its number or its name, None if it names none."""
    if isinstance(key, exp.Literal) and key.name.isdecimal() and not key.is_string:
        return int(key.name) - 1
    if not isinstance(key, exp.Column) or key.table:
        return None
    names = [item.alias_or_name.lower() for item in select.expressions]
    return names.index(key.name.lower()) if key.name.lower() in names else None


def _has(select: exp.Select, position: int) -> bool:
    """Whether an item stands at a place, with no star up to it that stands for several."""
    items = select.expressions
    return 0 <= position < len(items) and not any(item.is_star for item in items[: position + 1])


def _parts(value: exp.Expr) -> list[exp.Expr]:
    """A value, or those that it is written of."""
    if isinstance(value, _NESTED):
        return [part for each in children_of(value) for part in _parts(each)]
    return [value]


def _may_be_large(value: exp.Expr) -> bool:
    """Whether a value may be larger than a few cells, by what it is computed of."""
    if is_short(value) or most_bytes(value) <= _FEW_CELLS * CELL_BYTES:
        return isinstance(value, exp.Literal) and len(value.name) > CELL_BYTES
    return any(map(_is_large_source, all_nodes(value)))


def _is_large_source(node: exp.Expr) -> bool:
    match node:
        case exp.Placeholder():
            return True
        case exp.Column() | exp.Subquery():
            return not is_short(node) and most_bytes(node) > CELL_BYTES
        case exp.Literal():
            return len(node.name) > CELL_BYTES
        case exp.Anonymous():
            return node.name.lower() in _LARGE_CALLS or gathers(node)
    return gathers(node)


def _check(
    select: exp.Select, values: Sequence[exp.Expr], name: str, type_name: TypeName
) -> exp.Expr:
    """A condition that holds, or raises."""
    named = {f"__copied_{i}": value for i, value in enumerate(values)}
    sizes = [_size_sql(column, type_name(value)) for column, value in named.items()]
    check = _CHECK.format(
        small=CELL_BYTES,
        guard=GATHERED,
        name=name,
        bytes=" + ".join(f"coalesce({size}, 0)" for size in sizes),
    )
    return with_rows(check, rows_before_windows(select, named))


def _size_sql(name: str, kind: str | None) -> str:
    """SQL of the bytes of a column of a type, None for one that is not known."""
    if kind == "BLOB":
        return f"octet_length({name})"
    if kind is not None and kind.endswith("[]"):
        return f"len({name}) * {ELEMENT_BYTES}"
    return f"strlen(CAST({name} AS TEXT))"
