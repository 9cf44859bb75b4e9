"""Names of the columns of a query, in its result and in the relation that is made of it.

Headings that nobody gave are made unlike for a relation, in any case of letters, as the engine
does: `'a'` and `'A'` are the columns `'a'` and `'A'_1`. Names that are given twice stay, for `*`
and by position; who says such a name says too little (42702).
"""

from collections.abc import Sequence, Set

from sqlglot import exp

from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.parse.headings import heading, name_entry
from pykudu_sql.planner.tree_nodes import nodes_of


def output_name(item: exp.Expr) -> str:
    """The result's name of an entry of the SELECT list: its alias, its column, or its text."""
    written = heading(item)
    item = item.unnest()
    if isinstance(item, exp.Alias):
        identifier = item.args["alias"]
        quoted = isinstance(identifier, exp.Identifier) and identifier.quoted
        return item.alias if quoted else item.alias.lower()
    if isinstance(item, exp.Column):
        return item.name.lower()
    return display(item) if written is None else written


def name_outputs(query: exp.Expr) -> None:
    """Write the names of a query's computed columns behind them, for the engine, in place.

    It would call them otherwise than `output_name` does.
    """
    query = query.unnest()
    if isinstance(query, exp.SetOperation):
        name_outputs(query.this)
        name_outputs(query.expression)
    elif isinstance(query, exp.Select):
        query.set("expressions", [_named(item) for item in query.expressions])


def name_ordered(query: exp.Expr, order: exp.Expr) -> None:
    """The same where the query's own ORDER BY may name a heading: it has to be quoted."""
    if any(column.this.args.get("quoted") for column in nodes_of(order, exp.Column)):
        name_outputs(query)


def is_computed(item: exp.Expr) -> bool:
    """Whether an entry of a SELECT list has no name but its text."""
    return not isinstance(item.unnest(), exp.Column | exp.Alias | exp.Star)


def _named(item: exp.Expr) -> exp.Expr:
    if not is_computed(item):
        return item
    return exp.Alias(this=item, alias=exp.to_identifier(output_name(item), quoted=True))


def first_select(query: exp.Expr) -> exp.Expr:
    """The SELECT of a query whose list names its columns."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    return query


def make_unlike(entries: Sequence[tuple[exp.Expr, Sequence[str]]]) -> list[str]:
    """Head computed entries of a SELECT list otherwise than all others, and return all names.

    `entries`: with the names of their columns.
    """
    written_names = (names for item, names in entries if not is_computed(item))
    used_names = {name.lower() for names in written_names for name in names}
    unlike: list[str] = []
    for item, names in entries:
        if not is_computed(item):
            unlike.extend(names)
            continue
        unlike.append(_unlike(names[0], used_names))
        used_names.add(unlike[-1].lower())
        if unlike[-1] != names[0]:
            name_entry(item, unlike[-1])
    return unlike


def is_ambiguous(name: str, names: Sequence[str]) -> bool:
    """Whether a name is that of several columns of a relation, for us or for the engine.

    `name`, `names`: lower case; the engine numbers those that are given twice.
    """
    if len(set(names)) == len(names):
        return False
    used_names: set[str] = set()
    matches = 0
    for each in names:
        used_names.add(unlike := _unlike(each, used_names))
        matches += name in (each, unlike)
    return matches > 1


def _unlike(name: str, used_names: Set[str]) -> str:
    unlike, number = name, 0
    while unlike.lower() in used_names:
        number += 1
        unlike = f"{name}_{number}"
    return unlike
