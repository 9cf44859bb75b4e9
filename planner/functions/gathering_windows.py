"""Windows that gather, whose values are refused before the engine makes them for too many rows.

The engine gives each row of a vector its own copy of what a window gathered, and counts that
against no limit: of 20,000 texts `list(x) OVER ()` is some megabytes 2048 times. How much it would
be is a sum for each partition, which a subquery in the WHERE clause works out before the rows come
to the window: `WHERE .. AND CASE WHEN (SELECT .. __gathered(..) ..) THEN TRUE END`. What DISTINCT
leaves out and frames of few rows do not count. It stands wherever a select can stand: in correlated
and lateral subqueries the engine sums for all outer rows at once, and in recursive queries for the
rows of each round.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.gathered_values import GATHERED, aggregate_name, gathers
from pykudu_sql.planner.value_bounds.value_sizes import is_short, number_of

_FIXED_BYTES = 8
_TEXT_BYTES = 16  # of an element that is a text, beside the text
_ENTRY_BYTES = 48  # of an entry of a map, beside a text
_TOP_BYTES = 1600  # that a state of approx_top_k has for each value that it gives
_SMALL = 8 << 10  # bytes of a value of which a vector has what no limit refuses
_BEHIND_WINDOWS = ("distinct", "qualify", "order", "limit", "offset", "with_")
_BY_VALUE = (exp.Anonymous, exp.AnonymousAggFunc)  # histogram and approx_top_k
_ROWS = "__rows"
# What the rows of a vector would get, by partitions: of rows that are alike each, or of one.
_CHECK = """
    SELECT largest <= {small} OR {guard}(CAST(amount AS DOUBLE), CAST(largest AS DOUBLE), '{name}')
    FROM (
        SELECT coalesce(sum(n * size), 0) AS amount, coalesce(max(size), 0) AS largest FROM (
            SELECT sum(n) AS n, {size} AS size FROM (
                SELECT {keys} count(*) AS n, {bytes} AS bytes,
                    CASE WHEN __kept THEN {bytes} * {times} ELSE 0 END AS total
                FROM __rows GROUP BY {keys} __kept, {each}
            ) AS alike GROUP BY {keys} true
        ) AS partitions
    ) AS amounts
"""


def bound_windows(nodes: Sequence[exp.Expr]) -> bool:
    """Put checks into the selects that have windows that gather; whether there are any.

    `nodes`: of the tree of a query, in the order of a walk.
    """
    gathering: dict[int, tuple[exp.Select, list[exp.Window]]] = {}
    for node in nodes:
        select = node.parent_select if isinstance(node, exp.Window) else None
        if (
            isinstance(node, exp.Window)
            and isinstance(select, exp.Select)
            and select.args.get("from_") is not None
            and _gathering_aggregate(node) is not None
            and not (_is_shared(node) and is_computed_once(select))
        ):
            gathering.setdefault(id(select), (select, []))[1].append(node)
    # The inner ones first, for the check of an outer one reads what they give.
    for select, windows in sorted(gathering.values(), key=lambda each: each[0].depth, reverse=True):
        check_cancelled()
        checks = [_check(select, window) for window in dict.fromkeys(windows)]
        select.where(*checks, copy=False)
    return bool(gathering)


def _gathering_aggregate(window: exp.Window) -> exp.Expr | None:
    """The aggregate of a window that gathers."""
    node = window.this
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    if not isinstance(node, exp.Expr):
        return None
    if not (gathers(node) or _picks(node) or (_is_entropy(node) and _has_frames(window))):
        return None
    has_bins = isinstance(node, exp.Anonymous) and len(node.expressions) > 1
    return None if has_bins else node


def _picks(node: exp.Expr) -> bool:
    """Whether an aggregate gives a list of the first few values of some order."""
    return _is_top(node) or (
        isinstance(node, exp.Max | exp.Min | exp.ArgMax | exp.ArgMin)
        and node.args.get("count") is not None
    )


def _is_top(node: exp.Expr) -> bool:
    return isinstance(node, exp.AnonymousAggFunc) and node.name.lower() == "approx_top_k"


def _is_entropy(node: exp.Expr) -> bool:
    """Whether an aggregate counts the values of each frame, though it gives a number."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "entropy"


def _has_frames(window: exp.Window) -> bool:
    """Whether the rows of a partition may have different values, and states of their own."""
    return any(window.args.get(key) for key in ("order", "spec", "alias"))


def _most_values(call: exp.Expr, frame_rows: float | None) -> float | None:
    """How many values an aggregate gathers at most, None if that is not written."""
    counted = call.expressions[1] if _is_top(call) else call.args.get("count")
    count = number_of(counted) if isinstance(counted, exp.Expr) else None
    bounds = [bound for bound in (count, frame_rows) if bound is not None]
    return min(bounds, default=None)


def _is_shared(window: exp.Window) -> bool:
    """Whether all rows have one value, which the engine makes once, and of which none is left."""
    if any(window.args.get(key) for key in ("partition_by", "order", "spec", "alias")):
        return False
    around = window.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return around is not None and is_short(around)


def is_computed_once(select: exp.Select) -> bool:
    """Whether a select reads nothing of a query around it, nor of itself."""
    around: exp.Expr | None = select.parent
    while around is not None:
        if isinstance(around, exp.Lateral) or (isinstance(around, exp.With) and around.recursive):
            return False
        around = around.parent
    inside = {each.alias_or_name.lower() for each in nodes_of(select, exp.Table, exp.DerivedTable)}
    return all(
        not column.table or column.table.lower() in inside
        for column in nodes_of(select, exp.Column)
    )


def _check(select: exp.Select, window: exp.Window) -> exp.Expr:
    """A condition that holds, or raises."""
    call = _gathering_aggregate(window)
    assert call is not None
    partition, frame_rows = _definition(select, window)
    value = value_of(call)
    keys = {f"__key_{i}": key for i, key in enumerate(partition)}
    rows = rows_before_windows(
        select, {"__value": value, "__kept": _filter_condition(window), **keys}
    )
    is_distinct = isinstance(call, _BY_VALUE) or _is_distinct(call)
    bytes_sql = _bytes_sql(call, value)
    if _is_top(call) and _has_frames(window):
        bytes_sql = f"{_TOP_BYTES} + {bytes_sql}"
    size, most = "sum(total)", _most_values(call, frame_rows)
    check = _CHECK.format(
        small=_SMALL,
        guard=GATHERED,
        name=aggregate_name(call),
        size=size if most is None else f"least({size}, max(bytes) * {most})",
        keys="".join(f"{name}, " for name in keys),
        bytes=bytes_sql,
        times="1" if is_distinct else "count(*)",
        each="__value" if is_distinct else bytes_sql,
    )
    return with_rows(check, rows)


def rows_before_windows(select: exp.Select, named: Mapping[str, exp.Expr]) -> exp.Select:
    """The rows of a select as they come to its windows and its order, with columns of their own.

    `named`: what the columns are, by name.
    """
    rows = select.copy()
    for clause in _BEHIND_WINDOWS:
        rows.set(clause, None)
    # Items stay, for names and numbers of GROUP BY refer to them; the engine drops what is unused.
    items = [_without_windows(item) for item in rows.expressions]
    added = [exp.alias_(each.copy(), name) for name, each in named.items()]
    rows.set("expressions", [*items, *added])
    return rows


def with_rows(check: str, rows: exp.Select) -> exp.Expr:
    """A condition of a check over rows, which its SQL calls `__rows`."""
    query = parse(check)
    for table in nodes_of(query, exp.Table):
        if table.name == _ROWS:
            alias = exp.TableAlias(this=exp.to_identifier("gathered"))
            table.replace(exp.Subquery(this=rows, alias=alias))
    return exp.Case(ifs=[exp.If(this=exp.Subquery(this=query), true=exp.true())])


def _definition(select: exp.Select, window: exp.Window) -> tuple[Sequence[exp.Expr], float | None]:
    """What partitions the rows of a window, and how many a frame has, None if there is no bound."""
    named = {each.name.lower(): each for each in select.args.get("windows") or ()}
    spec = None
    current: exp.Window | None = window
    partition: Sequence[exp.Expr] = ()
    while current is not None:
        partition = current.args.get("partition_by") or partition
        spec = spec or current.args.get("spec")
        current = named.pop(current.args["alias"].name.lower(), None) if _base(current) else None
    return partition, None if spec is None else _frame_rows(spec)


def _base(window: exp.Window) -> bool:
    return isinstance(window.args.get("alias"), exp.Identifier)


def _frame_rows(spec: exp.WindowSpec) -> float | None:
    """How many rows a frame has at most, None if it may have any number."""
    if str(spec.args.get("kind")).upper() != "ROWS":
        return None
    sides = (spec.args.get("start"), spec.args.get("end") or "CURRENT ROW")
    reach = [_reach(side) for side in sides]
    return None if None in reach else 1 + sum(rows for rows in reach if rows is not None)


def _reach(side: exp.Expr | str | None) -> float | None:
    """How far from the row an end of a frame is at most, None if that is not written."""
    if isinstance(side, exp.Expr):
        return number_of(side)
    return 0.0 if str(side).upper() == "CURRENT ROW" else None


def value_of(call: exp.Expr) -> exp.Expr:
    """What an aggregate gathers of a row."""
    value: exp.Expr = call.expressions[0] if isinstance(call, _BY_VALUE) else call.this
    while isinstance(value, exp.Order | exp.Distinct | exp.Limit):
        value = value.expressions[0] if isinstance(value, exp.Distinct) else value.this
    return value


def _is_distinct(call: exp.Expr) -> bool:
    """Whether an aggregate gathers equal values once."""
    return isinstance(call.this, exp.Distinct) or (
        isinstance(call.this, exp.Order) and isinstance(call.this.this, exp.Distinct)
    )


def _filter_condition(window: exp.Window) -> exp.Expr:
    """Whether a window gathers a row."""
    around = window.this
    while not isinstance(around, exp.Filter):
        if not isinstance(around, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            return exp.true()
        around = around.this
    condition: exp.Expr = around.expression.this
    return condition


def _bytes_sql(call: exp.Expr, value: exp.Expr) -> str:
    """What a copy of a gathered value takes."""
    if isinstance(call, exp.GroupConcat):
        separator = call.args.get("separator")
        between = len(separator.name) if isinstance(separator, exp.Literal) else _TEXT_BYTES
        return f"(coalesce(strlen(CAST(__value AS TEXT)), 0) + {between})"
    beside = _ENTRY_BYTES if isinstance(call, exp.Anonymous) else _TEXT_BYTES
    if is_short(value):
        return f"CAST({beside if isinstance(call, exp.Anonymous) else _FIXED_BYTES} AS BIGINT)"
    return f"(coalesce(strlen(CAST(__value AS TEXT)), 0) + {beside})"


def _without_windows(item: exp.Expr) -> exp.Expr:
    """An item of a SELECT list, with nothing in its place if it has a window that gathers."""
    if not any(_gathering_aggregate(each) is not None for each in nodes_of(item, exp.Window)):
        return item
    return exp.alias_(exp.null(), item.alias) if item.alias else exp.null()
