"""Forms of a query that the engine lacks, rewritten to ones it has."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.functions.output_names import output_name
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import children_of, nodes_of
from pykudu_sql.storage.errors import ProgrammingError, SyntaxError

_OF_WHOLE: Mapping[str, str] = {"order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET"}


def name_rolled_up(select: exp.Select) -> None:
    """`GROUP BY a, b WITH ROLLUP` as `GROUP BY ROLLUP (a, b)`; CUBE alike."""
    group = select.args.get("group")
    if group is None:
        return
    for key in ("rollup", "cube"):
        for node in group.args.get(key) or ():
            if not node.expressions and group.expressions:
                node.set("expressions", group.expressions)
                group.set("expressions", [])


def free_variable(node: exp.Comprehension) -> None:
    """Let the variable of `[x + 1 FOR x IN list]` be a name of its own, no column."""
    name = node.expression.name.lower()
    for part in (node.this, node.args.get("condition")):
        for column in [] if part is None else nodes_of(part, exp.Column):
            if column.name.lower() == name and not column.table:
                column.replace(exp.to_identifier(column.name, quoted=True))


def values_names(node: exp.Values) -> list[str]:
    """The columns of VALUES; Impala names them in any row, `VALUES (1 AS a), (2)`."""
    names = [f"col{i}" for i in range(len(node.expressions[0].expressions))]
    for row in node.expressions:
        for i, value in enumerate(row.expressions[: len(names)]):
            if isinstance(value, exp.Alias):
                names[i] = output_name(value)
                value.replace(value.this)
    return names


def name_columns(node: exp.Expr, names: Sequence[str]) -> None:
    """Write the names that VALUES gives its columns behind its alias, for the engine."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("values"))
    if not alias.columns:
        alias.set("columns", [exp.to_identifier(name) for name in names])
        node.set("alias", alias)


def name_number(node: exp.Expr) -> None:
    """Write the name of the number that WITH ORDINALITY gives each row behind the alias, in place.

    sqlglot moves it there when it prints a tree, and leaves a tree that prints without it.
    """
    alias, number = node.args.get("alias"), node.args.get("offset")
    if alias is not None and isinstance(number, exp.Identifier):
        alias.append("columns", number)
        node.set("offset", True)


def is_from_item(node: exp.Expr) -> bool:
    """Whether what stands in parentheses is tables or a join of them, and no query."""
    while isinstance(node, exp.Subquery) and not (node.alias or node.args.get("joins")):
        node = node.this
    return isinstance(node, exp.Table | exp.Unnest | exp.Subquery)


def without_lateral(node: exp.Lateral) -> exp.Expr:
    """`LATERAL f(..)` as `f(..)`, in place: a function sees what stands before it anyway."""
    inner: exp.Expr = node.this
    item = inner if isinstance(inner, exp.Unnest) else exp.Table(this=inner)
    for key in ("alias", "joins", "ordinality"):
        if node.args.get(key):
            item.set(key, node.args[key])
    return node.replace(item)


def select_from_item(node: exp.Subquery) -> None:
    """`(a JOIN b ..) AS c` as `(SELECT * FROM a JOIN b ..) AS c`, in place."""
    node.set("this", exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this)))


def without_parentheses(node: exp.Subquery) -> exp.Expr:
    """`(a)` as `a`, if it is no join; in place. The engine has no parentheses around a table."""
    inner: exp.Expr = node.this
    if inner.args.get("joins"):
        return node
    inner.set("joins", node.args.get("joins"))
    return node.replace(inner)


def is_numbered(node: exp.Expr) -> bool:
    """Whether an item of FROM is a table function, whose rows WITH ORDINALITY numbers."""
    return isinstance(node.this, exp.Func) and not isinstance(node.this, exp.Anonymous)


def is_stray_join(node: exp.Subquery) -> bool:
    """Whether a query is joined where no FROM clause is."""
    in_clause = isinstance(node.parent, exp.From | exp.Join | exp.Lateral | exp.Subquery)
    return bool(node.args.get("joins")) and not in_clause


def swap_right_semi_join(select: exp.Select) -> None:
    """`a RIGHT SEMI JOIN b` as `b LEFT SEMI JOIN a`, which the engine has; ANTI alike."""
    joins, clause = select.args.get("joins"), select.args.get("from_")
    if not joins or clause is None:
        return
    first = joins[0]
    if first.side != "RIGHT" or first.kind not in ("SEMI", "ANTI"):
        return
    if clause.this.args.get("joins") or first.this.args.get("joins"):
        return
    left, right = clause.this, first.this
    clause.set("this", right)
    first.set("this", left)
    first.set("side", None)


def referenced_outputs(select: exp.Select, names: Sequence[str]) -> list[int]:
    """The indices of the SELECT list's entries that its own ORDER BY and GROUP BY refer to.

    A `*` brings only columns that are used, so these are needed: by name, and all of them where a
    clause counts entries (`ORDER BY 2`, `GROUP BY ALL`). `names`: of its columns, stars
    spread.
    """
    order, group = select.args.get("order"), select.args.get("group")
    keys = [node.this.unnest() for node in order.expressions] if order is not None else []
    counted = [key for key in keys if isinstance(key, exp.Literal | exp.Var)]
    if group is not None:
        counted.extend(nodes_of(group, exp.Literal))
    if any(not key.is_string for key in counted) or (group is not None and group.args.get("all")):
        return list(range(len(names)))
    referenced = {column.name.lower() for key in keys for column in nodes_of(key, exp.Column)}
    return [i for i, name in enumerate(names) if name.lower() in referenced]


def check_positions(query: exp.Expr, count: int) -> None:
    """See that numbers in ORDER BY, GROUP BY and DISTINCT ON are those of a query's columns.

    `count`: of these. Raises ProgrammingError: there is no such column (42P10).
    """
    order, group, distinct = (query.args.get(key) for key in ("order", "group", "distinct"))
    keys = [ordered.this for ordered in order.expressions] if order is not None else []
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    for clause in (group, on):
        keys.extend(_keys(clause) if clause is not None else ())
    for key in [key.unnest() for key in keys]:
        number = key.this if isinstance(key, exp.Neg) else key
        is_count = isinstance(number, exp.Literal) and not number.is_string
        if not is_count or not number.name.isdigit():
            continue
        position = int(number.name) if number is key else -int(number.name)
        if not 0 < position <= count:
            raise ProgrammingError(
                f"there is no column {position}: the SELECT list has {count}",
                span=node_span(key),
                sqlstate="42P10",
            )


def _keys(clause: exp.Expr) -> Iterator[exp.Expr]:
    """The keys of GROUP BY or DISTINCT ON, those in ROLLUP, CUBE and GROUPING SETS too."""
    for each in children_of(clause):
        if isinstance(each, exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets):
            yield from _keys(each)
        else:
            yield each


def check_operand(operand: exp.Expr, operation: exp.SetOperation) -> None:
    """See that an operand of a set operation has no clause that is about its rows alone.

    What stands behind the last operand is about the whole; before it, nobody reads it alike. Raises
    SyntaxError: it has one, and no parentheses around it.
    """
    for key, clause in _OF_WHOLE.items() if isinstance(operand, exp.Select) else ():
        node = operand.args.get(key)
        if node is not None:
            word = operation.key.upper()
            raise SyntaxError(
                f"{clause} of one query of {word} needs parentheses around that query",
                hint=f"write (SELECT ... {clause} ...) {word} ..., or put it behind the last query",
                span=node_span(node),
            )


def check_width(operand: exp.Expr, operation: str, expected: int, columns: int) -> None:
    """See that an operand of a set operation has as many columns as the first one.

    `operation`: its word. Raises ProgrammingError: it has more or fewer (42601).
    """
    if columns != expected:
        raise ProgrammingError(
            f"{operation} of queries with {expected} and {columns} columns",
            span=node_span(operand),
            sqlstate="42601",
        )


def check_single(query: exp.Expr, columns: int) -> None:
    """See that a subquery that stands for a value, or for a list of these, has one column.

    Raises ProgrammingError: it has several (42601).
    """
    if columns > 1 and not isinstance(query.parent, exp.Exists):
        raise ProgrammingError(
            f"a subquery used as a value has {columns} columns, not one",
            hint="select one column, or compare a row: (a, b) IN (SELECT ...)",
            span=node_span(query),
            sqlstate="42601",
        )
