"""A query whose calls get few rows at once: for rows so wide that 2048 of them are too much.

The engine computes calls for vectors of 2048 rows, counts what they make against no limit and
cannot be told to make vectors shorter. Scans give it short ones of wide rows, but joins, sorts and
groups hand on long ones. What stands between those and the calls of a SELECT is an inner one that
puts rows between the rows, and a filter that leaves them out again:

    SELECT upper(a.x || b.x) FROM a, b WHERE a.k < b.k

becomes

    SELECT upper(q.c0 || q.c1) FROM (
        SELECT unnest(range(128)) AS part, a.x AS c0, b.x AS c1 FROM a, b WHERE a.k < b.k
    ) AS q WHERE q.part = 0

of which each vector of 2048 rows has 16 that count. Rows that are put there cost little beside the
bytes of wide rows: they share them. Conditions with calls of several relations go along, within
`CASE WHEN part = 0 THEN .. END`. The form is chosen when the query runs, by rows known then.

Of a subquery that names rows around it the engine makes a join. So it gets such an inner SELECT
too, which has the columns of those rows as well, and whose `unnest` depends on them. A result that
has wide columns of a join gets one, since each of its rows has a copy of a value that they share.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import binding_of
from pykudu_sql.planner.functions.functions import gathers
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.pushdown.condition import conjuncts
from pykudu_sql.planner.pushdown.join_parts import cut_joins
from pykudu_sql.planner.pushdown.wide_calls import is_wide_call, qualifier
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.value_bounds.value_sizes import FIXED_BYTES, most_bytes

_ROWS = "__rows_{}"
_PART = "__part"
_INSIDE = ("from_", "joins", "laterals", "where", "sample")
_AROUND = ("expressions", "distinct", "group", "having", "qualify", "windows", "order")
# Between an aggregate and its window.
_CLAUSES = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_GATHERING = ("distinct", "group", "having", "qualify", "order")
Parts = Callable[[float], int]


@dataclass(frozen=True, slots=True)
class _Sources:
    """What a SELECT reads.

    Attributes:
        rows: the name of the inner SELECT; no other one of the query has it.
        names: that its columns are qualified with, lower case; an empty one where a relation has
            none.
        hidden: those that subqueries of the SELECT have for something else.
        is_grouped: whether the SELECT has a row of each group, or one of all rows.
    """

    rows: str
    names: frozenset[str]
    hidden: frozenset[str]
    is_grouped: bool

    def has(self, column: exp.Column) -> bool:
        """Whether a column is one of these."""
        name = qualifier(column)
        if "" in self.names and not column.table and binding_of(column) is not None:
            return name not in self.hidden
        return bool(name) and name in self.names

    def takes(self, column: exp.Column) -> bool:
        """Whether a column comes out of the inner SELECT: also one of rows around, for a call.

        Beside groups such a column has one value for all rows, and no group.
        """
        name = qualifier(column)
        if self.has(column) or name in ("", self.rows) or name in self.hidden:
            return self.has(column)
        if not self.is_grouped or isinstance(column.find_ancestor(exp.Where, exp.Query), exp.Where):
            return True
        aggregate = _aggregate_around(column)
        return aggregate is not None and any(map(self.has, nodes_of(aggregate, exp.Column)))


def in_parts(tree: exp.Expr, widths: Mapping[str, float], parts: Parts) -> exp.Expr | None:
    """The form of a query, None where no SELECT of it has such calls.

    Args:
        tree: of the query, as it is printed; it stays as it is.
        widths: bytes of a row of each relation, by the names that the tree has.
        parts: into how many parts a vector of rows of a width is to be cut; one for none.
    """
    if not any(map(is_wide_call, all_nodes(tree))) and not any(map(_has_wide_rows, _results(tree))):
        return None
    form = tree.copy()
    is_cut = False
    results = {id(select) for select in _results(form) if _has_wide_rows(select)}
    for number, select in enumerate(reversed(nodes_of(form, exp.Select))):
        if not _hands_on_long_vectors(select):
            continue
        count = parts(_width(select, widths))
        if count == 1:
            continue
        is_cut |= cut_joins(select, count)
        if sources := _sources(select, _ROWS.format(number)):
            is_cut |= _cut(select, sources, count, id(select) in results)
    return form if is_cut else None


def _results(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows are the result of a query, as they come."""
    if isinstance(tree, exp.Select):
        yield tree
    elif isinstance(tree, exp.SetOperation):
        yield from _results(tree.this)
        yield from _results(tree.expression)
    elif isinstance(tree, exp.Subquery):
        yield from _results(tree.this)


def _has_wide_rows(select: exp.Select) -> bool:
    """Whether a SELECT has columns of any length, and hands on rows that nothing has gathered.

    Many rows of a join may share a value then, of which each gets a copy in the result.
    """
    if any(select.args.get(key) for key in _GATHERING):
        return False
    return any(
        _is_star(item)
        or (isinstance(item.unalias(), exp.Column) and most_bytes(item.unalias()) > FIXED_BYTES)
        for item in select.expressions
    )


def _width(select: exp.Select, widths: Mapping[str, float]) -> float:
    """Bytes of a row of what a SELECT reads.

    All of the query's relations where it reads WITH, or names rows of a query around it.
    """
    names = [table.name for table in nodes_of(select, exp.Table)]
    if all(name in widths for name in names) and not _names_rows_around(select):
        return sum(widths[name] for name in names)
    return sum(widths.values())


def _hands_on_long_vectors(select: exp.Select) -> bool:
    """Whether what a SELECT reads is more than one scan, whose vectors are short.

    Of a subquery that names rows around it the engine makes a join of both queries.
    """
    source = select.args.get("from_")
    if source is None:
        return False
    is_scan = isinstance(source.this, exp.Table) and source.this.name.startswith(SCAN_PREFIX)
    if not is_scan or select.args.get("joins") or select.args.get("laterals"):
        return True
    inner = (each for each in nodes_of(select, exp.Select) if each is not select)
    return _names_rows_around(select) or any(map(_names_rows_around, inner))


def _names_rows_around(select: exp.Select) -> bool:
    """Whether a SELECT has columns of relations that no SELECT within it reads."""
    names = {name for query in nodes_of(select, exp.Select) for name in _names(query)}
    columns = map(qualifier, nodes_of(select, exp.Column))
    return any(name and name not in names for name in columns)


def _is_grouped(select: exp.Select) -> bool:
    nodes = (node for part in _parts_of(select, _AROUND) for node in _own_nodes(part))
    return bool(select.args.get("group") or select.args.get("having")) or any(
        map(_is_aggregate, nodes)
    )


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether a call takes the rows of a group."""
    if not isinstance(node, exp.Func) or not gathers(node):
        return False
    around: exp.Expr = node
    while isinstance(around.parent, _CLAUSES) and around.arg_key == "this":
        around = around.parent
    return not (isinstance(around.parent, exp.Window) and around.arg_key == "this")


def _aggregate_around(column: exp.Column) -> exp.Expr | None:
    """The innermost aggregate that a column is given to, in its own SELECT."""
    node = column.parent
    while node is not None and not isinstance(node, exp.Query):
        if _is_aggregate(node):
            return node
        node = node.parent
    return None


def _own_nodes(part: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression outside of its subqueries."""
    stack = [part]
    while stack:
        node = stack.pop()
        if not isinstance(node, exp.Query):
            yield node
            stack.extend(node.iter_expressions())


def _renamed_nodes(part: exp.Expr) -> Sequence[exp.Expr]:
    """The nodes of a part of a SELECT; of a `*`, which goes into the inner one, none."""
    return () if _is_star(part) else all_nodes(part)


def _is_star(item: exp.Expr) -> bool:
    """Whether an item of a SELECT is `*` or `t.*`."""
    return isinstance(item.this if isinstance(item, exp.Column) else item, exp.Star)


def _are_stars_together(items: Sequence[exp.Expr], names: frozenset[str]) -> bool:
    """Whether one `*` can stand for all that a SELECT has, in their order.

    `names`: of its relations; `s.*` of a struct is none of them.
    """
    places = [place for place, item in enumerate(items) if _is_star(item)]
    qualifiers = {items[place].text("table").lower() for place in places} - {""}
    return qualifiers <= names and (not places or places[-1] - places[0] < len(places))


def _parts_of(select: exp.Select, keys: Sequence[str]) -> Iterator[exp.Expr]:
    for key in keys:
        value = select.args.get(key)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, exp.Expr):
                yield each


def _sources(select: exp.Select, rows: str) -> _Sources | None:
    """What a SELECT reads; None where its columns cannot all be given other names.

    Those of rows around it are no columns of its own. `rows`: see _Sources.
    """
    names = frozenset(_names(select))
    inner = [each for each in nodes_of(select, exp.Select) if each is not select]
    hidden = frozenset(name for query in inner for name in _names(query))
    if ("" in names and ("" in hidden or not _is_alone(select))) or names & hidden:
        return None
    items = select.expressions
    if not _are_stars_together(items, names):
        return None
    named = (item for item in items if not isinstance(item, exp.Column) or qualifier(item))
    aliases = {item.alias_or_name.lower() for item in named}
    sources = _Sources(rows, names, hidden, _is_grouped(select))
    for part in _parts_of(select, (*_AROUND, "where")):
        for node in _renamed_nodes(part):
            if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                return None
            if not isinstance(node, exp.Column) or sources.has(node):
                continue
            if not qualifier(node) and node.name.lower() not in aliases:
                return None
    return sources


def _is_alone(select: exp.Select) -> bool:
    """Whether a SELECT is no part of an expression, nor lateral: it names nothing around it."""
    node: exp.Expr = select
    while (around := node.parent) is not None:
        is_read = isinstance(around, exp.From | exp.Join | exp.CTE | exp.With)
        if isinstance(around, exp.Select):
            is_read = isinstance(node, exp.From | exp.Join | exp.With)
        elif isinstance(around, exp.Query):
            is_read = node.arg_key in ("this", "expression", "with_", "joins")
        if not is_read:
            return False
        node = around
    return True


def _names(select: exp.Select) -> Iterator[str]:
    """What columns of the relations that a SELECT names are qualified with, lower case."""
    for each in _parts_of(select, ("from_", "joins", "laterals")):
        relation = each if isinstance(each, exp.Lateral) else each.this
        is_called = isinstance(relation, exp.Table) and isinstance(relation.this, exp.Func)
        yield relation.alias if is_called else relation.alias_or_name.lower()


def _cut(select: exp.Select, sources: _Sources, count: int, is_result: bool) -> bool:
    """Put an inner SELECT into one that has wide calls, in place; whether it has.

    `is_result`: whether it is needed for the rows themselves.
    """
    inside: list[exp.Expr] = []
    along: list[exp.Expr] = []
    condition = select.args.get("where")
    for each in conjuncts(None if condition is None else condition.this):
        (along if _goes_along(each) else inside).append(each)
    calls = (node for each in _parts_of(select, _AROUND) for node in _own_nodes(each))
    if not is_result and not along and not any(map(is_wide_call, calls)):
        return False
    rows = parse(f"SELECT unnest(range({count})) AS {_PART}")
    assert isinstance(rows, exp.Select)
    for key in _INSIDE:
        value = select.args.get(key)
        select.set(key, None)
        if key != "where" and value:
            rows.set(key, value)
    if inside:
        rows.set("where", exp.Where(this=exp.and_(*inside, copy=False, wrap=True)))
    alias = exp.TableAlias(this=exp.to_identifier(sources.rows, quoted=True))
    select.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
    part = exp.column(_PART, sources.rows, quoted=True)
    counts = exp.EQ(this=part, expression=exp.Literal.number(0))
    conditions = [exp.Case(ifs=[exp.If(this=counts.copy(), true=each)]) for each in along]
    select.set("where", exp.Where(this=exp.and_(counts, *conditions, copy=False, wrap=True)))
    names = _rename(select, rows, sources)
    _tie_to_rows_around(rows, sources, count)
    _move_stars(select, rows, names)
    return True


def _move_stars(select: exp.Select, rows: exp.Select, names: Iterable[str]) -> None:
    """Let the stars of a SELECT be expanded by its inner one; `names`: of other columns there."""
    stars = [item for item in select.expressions if _is_star(item)]
    for star in stars:
        rows.append("expressions", star.copy())
    for star in stars[1:]:
        star.pop()
    for star in stars[:1]:
        hidden = [exp.column(name, quoted=True) for name in (_PART, *names)]
        star.replace(exp.Star(except_=hidden))


def _tie_to_rows_around(rows: exp.Select, sources: _Sources, count: int) -> None:
    """Let the rows between rows depend on a row around, if an inner SELECT names one.

    The engine would else put them between the rows of the relation, and then join.
    """
    for item in rows.expressions:
        column = item.this
        if isinstance(column, exp.Column) and not sources.has(column):
            absent = exp.Is(this=column.copy(), expression=exp.Null())
            number = exp.Literal.number(count)
            tied = exp.Case(ifs=[exp.If(this=absent, true=number)], default=number.copy())
            range_call = next(rows.expressions[0].find_all(exp.GenerateSeries))
            range_call.set("end", tied)
            return


def _goes_along(condition: exp.Expr) -> bool:
    """Whether a condition has wide calls over several relations, and is one of rows alone."""
    nodes = all_nodes(condition)
    if any(isinstance(node, exp.Query) for node in nodes):
        return False
    relations = {qualifier(node) for node in nodes if isinstance(node, exp.Column)}
    return len(relations) > 1 and any(map(is_wide_call, nodes))


def _rename(select: exp.Select, rows: exp.Select, sources: _Sources) -> Collection[str]:
    """Let the columns of a SELECT come out of its inner one; their names there."""
    names: dict[tuple[str, str], str] = {}
    for part in _parts_of(select, (*_AROUND, "where")):
        for column in _renamed_nodes(part):
            if not isinstance(column, exp.Column) or not sources.takes(column):
                continue
            key = (column.table.lower(), column.name.lower())
            if key not in names:
                names[key] = f"__c{len(names)}"
                rows.append("expressions", exp.alias_(column.copy(), names[key], quoted=True))
            renamed: exp.Expr = exp.column(names[key], sources.rows, quoted=True)
            renamed.meta.update(column.meta)
            if column.parent is select and column.arg_key == "expressions":
                renamed = exp.alias_(renamed, column.name, quoted=True)
            column.replace(renamed)
    return names.values()
