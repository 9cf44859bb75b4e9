"""Outer joins whose conditions get few rows at once, where rows are wide.

The engine computes a condition with calls over both sides for the rows of a vector. A WHERE cannot
stand between, as it does for inner joins (`vector_parts`): rows without a match stay. So the side
whose rows without a match are left out anyway gets rows between the rows, which match none:

    a LEFT JOIN b ON upper(a.x || b.x) = 'A'

becomes

    a LEFT JOIN (SELECT unnest(range(128)) AS part, * FROM b) AS b
    ON CASE WHEN b.part = 0 THEN upper(a.x || b.x) = 'A' END

Equality of a call of each side stays one, by which the engine joins: the call of that side alone is
put within the CASE. FULL joins have no such side, and stay.
"""

from collections.abc import Collection

from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.pushdown.condition import conjuncts
from pykudu_sql.planner.pushdown.wide_calls import is_wide_call, qualifier
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of

_PART = "__part_{}"
_JOINED = "__joined_{}"
_ONE_SIDED = ("SEMI", "ANTI")


def cut_joins(select: exp.Select, count: int) -> bool:
    """Let the conditions of outer joins of a SELECT get few rows at once, in place; whether any do.

    Args:
        select: whose joins may have such conditions.
        count: into how many parts a vector of its rows is to be cut.
    """
    parts: dict[str, str] = {}
    for number, join in enumerate(select.args.get("joins") or ()):
        relation = _optional_side(select, join, number)
        name = None if relation is None else _name_of(relation)
        if relation is None or name is None:
            continue
        conditions = list(conjuncts(join.args.get("on")))
        if not any(_is_computed_of_pairs(each, name) for each in conditions):
            continue
        part = _PART.format(number)
        condition = [_of_part(each, name, part) for each in conditions]
        join.set("on", exp.and_(*condition, copy=False, wrap=True))
        relation.replace(_with_rows_between(relation, name, number, count))
        parts[name] = part
    for item in select.expressions:
        _leave_out(item, parts)
    return bool(parts)


def _optional_side(select: exp.Select, join: exp.Join, number: int) -> exp.Expr | None:
    """The relation of a join whose rows without a match are left out, None where there is none."""
    if join.side == "RIGHT":
        is_first = not number and join.kind not in _ONE_SIDED
        first: exp.Expr | None = select.args["from_"].this if is_first else None
        return first
    is_optional = join.side == "LEFT" or join.kind in _ONE_SIDED
    other: exp.Expr | None = join.this if is_optional and join.side != "FULL" else None
    return other


def _name_of(relation: exp.Expr) -> str | None:
    """What the columns of a relation are qualified with, lower case; None for one of other kinds.

    Those of functions, samples and the like stay, and those whose columns have other names.
    """
    if not isinstance(relation, exp.Table | exp.Subquery) or relation.alias_column_names:
        return None
    others = (relation.args.get(key) for key in ("joins", "laterals", "pivots", "sample"))
    if any(others) or (isinstance(relation, exp.Table) and isinstance(relation.this, exp.Func)):
        return None
    return relation.alias_or_name.lower() or None


def _relations(node: exp.Expr) -> set[str]:
    return {qualifier(column) for column in nodes_of(node, exp.Column)}


def _is_wide(node: exp.Expr) -> bool:
    return any(map(is_wide_call, all_nodes(node)))


def _sides_of_key(condition: exp.Expr, name: str) -> tuple[exp.Expr, exp.Expr] | None:
    """The sides of an equality by which the engine joins, that of a relation first."""
    if not isinstance(condition, exp.EQ):
        return None
    for own, other in (
        (condition.this, condition.expression),
        (condition.expression, condition.this),
    ):
        if _relations(own) == {name} and name not in _relations(other):
            return own, other
    return None


def _is_computed_of_pairs(condition: exp.Expr, name: str) -> bool:
    """Whether a condition has wide calls, and is computed of rows of a relation beside others."""
    if any(isinstance(node, exp.Query) for node in all_nodes(condition)):
        return False
    relations = _relations(condition)
    return (
        name in relations
        and len(relations) > 1
        and _sides_of_key(condition, name) is None
        and _is_wide(condition)
    )


def _of_part(condition: exp.Expr, name: str, part: str) -> exp.Expr:
    """A condition that is computed only of the rows that count."""
    has_query = any(isinstance(node, exp.Query) for node in all_nodes(condition))
    is_of_others = name not in _relations(condition)
    if has_query or is_of_others or not _is_wide(condition):
        return condition
    sides = _sides_of_key(condition, name)
    if sides is None:
        return _where_it_counts(condition, name, part)
    own, other = (side.copy() for side in sides)
    return exp.EQ(this=_where_it_counts(own, name, part), expression=other)


def _where_it_counts(value: exp.Expr, name: str, part: str) -> exp.Expr:
    counts = exp.EQ(this=exp.column(part, name, quoted=True), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=counts, true=value)])


def _with_rows_between(relation: exp.Expr, name: str, number: int, count: int) -> exp.Expr:
    """A relation with rows between its rows. `number`: of the join."""
    rows = parse(f"SELECT unnest(range({count})) AS {_PART.format(number)}, *")
    assert isinstance(rows, exp.Select)
    alias = relation.args.get("alias")
    identifier = alias.this if isinstance(alias, exp.TableAlias) else None
    inner = relation.copy()
    inner.set("alias", exp.TableAlias(this=exp.to_identifier(_JOINED.format(number), quoted=True)))
    rows.set("from_", exp.From(this=inner))
    outer = identifier.copy() if identifier else exp.to_identifier(name, quoted=True)
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=outer))


def _leave_out(item: exp.Expr, parts: dict[str, str]) -> None:
    """Let a `*` of a SELECT list not have the numbers of rows between rows."""
    if isinstance(item, exp.Star):
        star, names = item, list(parts.values())
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        star = item.this
        names = [part for name, part in parts.items() if name == item.table.lower()]
    else:
        return
    if names:
        _exclude(star, names)


def _exclude(star: exp.Star, names: Collection[str]) -> None:
    hidden = [exp.column(name, quoted=True) for name in names]
    star.set("except_", [*(star.args.get("except_") or ()), *hidden])
