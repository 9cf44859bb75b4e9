"""Column lineage: the stored columns behind those of a query, so that filters can be pushed down.

`SELECT * FROM (SELECT k, sum(x) FROM t GROUP BY k) WHERE k = 5` needs the rows of `t` with `k = 5`
only. A filter on a query's rows is the same as one on the rows that its SELECTs read, where

- the column is shown as it is;
- no LIMIT or OFFSET counts rows, and no DISTINCT ON selects among them;
- rows are gathered, if at all, by groups the column is a key of, and no window reaches beyond its
  partitions; grouping sets show NULL in place of keys, and have none here;
- in a set operation all operands say so of a column of the same type: a common type could compare
  otherwise than theirs.

`OutputColumn.branches` notes it, one branch a SELECT, and none for what is no SELECT.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of
from pykudu_sql.planner.bind.names import repeated
from pykudu_sql.planner.bind.relations import (
    Branch,
    ColumnReference,
    ColumnReferences,
    OutputColumn,
    Projections,
    Relation,
    Scope,
)
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.types import DataType

_GROUPING_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def is_cut(query: exp.Expr) -> bool:
    """Whether a query counts its rows, so that one may depend on another's being there."""
    return query.args.get("limit") is not None or query.args.get("offset") is not None


def sealed(columns: Sequence[OutputColumn]) -> list[OutputColumn]:
    """Columns of a query that no filter may enter."""
    return [
        replace(column, branches=tuple(Branch(branch.scope) for branch in column.branches))
        for column in columns
    ]


def united(operands: Sequence[Sequence[OutputColumn]]) -> list[OutputColumn]:
    """The columns of a set operation; all those of its operands are used.

    `operands`: the columns of each. The first has the names.
    """
    whole = all(column.branches for columns in operands for column in columns)
    same_width = len({len(columns) for columns in operands}) == 1
    if not whole or not same_width:
        scopes = [branch.scope for columns in operands for branch in columns[0].branches]
        unknown = tuple(map(Branch, scopes)) if whole else ()
        return [
            OutputColumn(columns[0].name, branches=unknown, projections=_together(columns))
            for columns in zip(*operands, strict=False)
        ]
    return [_united(column) for column in zip(*operands, strict=True)]


def by_their_names(
    operands: Sequence[Sequence[OutputColumn]], node: exp.SetOperation
) -> list[OutputColumn]:
    """The columns of a set operation BY NAME, as the engine orders them; no filter enters it.

    Raises ProgrammingError: an operand has two of one name.
    """
    columns: dict[str, list[OutputColumn]] = {}
    for operand in operands:
        names = [column.name.lower() for column in operand]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise repeated(twice, node, "BY NAME takes each name of a query once")
        for column in operand:
            columns.setdefault(column.name.lower(), []).append(column)
    together = []
    for alike in columns.values():
        projections = _together(alike)
        projections = projections if len(alike) == len(operands) else or_null(projections)
        together.append(replace(alike[0], projections=projections))
    return sealed(together)


def or_null(projections: Projections) -> Projections:
    """The same or NULL, as rows have it that come from elsewhere; nothing of what is not known."""
    return (*projections, exp.null()) if projections else ()


def _together(columns: Sequence[OutputColumn]) -> Projections:
    """What columns show that become one; nothing unless all of them have it."""
    whole = all(column.projections for column in columns)
    return tuple(each for column in columns for each in column.projections) if whole else ()


def _united(columns: Sequence[OutputColumn]) -> OutputColumn:
    branches = [branch for column in columns for branch in column.branches]
    types = [column.stored_type() for column in columns]
    if not all(_compare_alike(types[0], other) for other in types):
        branches = [Branch(branch.scope) for branch in branches]
    return OutputColumn(columns[0].name, branches=tuple(branches), projections=_together(columns))


def _compare_alike(one: DataType | None, other: DataType | None) -> bool:
    if one is None or other is None:
        return False
    return one == other or (one.is_text and other.is_text) or (one.is_integer and other.is_integer)


def ambiguous_names(outputs: Sequence[OutputColumn]) -> Set[str]:
    """The names, lower case, that entries of a SELECT list have which do not show the same."""
    meanings: dict[str, list[object]] = {}
    for column in outputs:
        meanings.setdefault(column.name.lower(), []).append(_meaning(column))
    return {name for name, values in meanings.items() if any(v != values[0] for v in values)}


def _meaning(column: OutputColumn) -> object:
    branch = column.branches[0]
    if branch.relation is not None:
        return (id(branch.relation), branch.name)
    first = column.projections[0] if column.projections else None
    return first.unalias() if isinstance(first, exp.Expr) else first


def filterable(
    select: exp.Select,
    scope: Scope,
    groups: ColumnReferences | None,
    outputs: list[OutputColumn],
) -> list[OutputColumn]:
    """The columns of a SELECT, with a branch that has a relation where this may be filtered.

    Args:
        select: bound.
        scope: of it.
        groups: of `group_columns`.
        outputs: its columns, each with what it shows as its one branch.
    """
    if all(column.branches[0].relation is None for column in outputs):
        return outputs
    free = _free(select, scope, groups)
    local = set(scope.relations)
    return [
        column if _shows(column, local, free) else replace(column, branches=(Branch(scope),))
        for column in outputs
    ]


def _shows(column: OutputColumn, local: Set[Relation], free: ColumnReferences | None) -> bool:
    """Whether a column is one of these relations, and one of the free columns if not all are."""
    relation, name = _reference(column)
    return relation in local and (free is None or (relation, name) in free)


def group_columns(select: exp.Select, outputs: Sequence[OutputColumn]) -> ColumnReferences | None:
    """The columns that rows of one group have in common; None without GROUP BY."""
    group = select.args.get("group")
    return None if group is None else frozenset(_groups(group, outputs))


def _free(
    select: exp.Select, scope: Scope, groups: ColumnReferences | None
) -> ColumnReferences | None:
    """The columns on which a filter may go before all that a SELECT does; None for any."""
    distinct = select.args.get("distinct")
    if is_cut(select) or select.args.get("windows") or (distinct and distinct.args.get("on")):
        return frozenset()
    if any(step.join is not None and step.join.method == "ASOF" for step in scope.steps):
        return frozenset()  # the nearest row depends on the rows that do not match
    free = groups
    for clause in (*select.expressions, select.args.get("qualify"), select.args.get("order")):
        for window in nodes_of(clause, exp.Window) if clause is not None else ():
            parts = window.args.get("partition_by") or ()
            references = frozenset(
                reference for part in parts if (reference := _column_reference(part))
            )
            free = references if free is None else free & references
    return free


def _groups(group: exp.Group, outputs: Sequence[OutputColumn]) -> Iterator[ColumnReference]:
    """The columns that rows of one group have in common."""
    if group.find(*_GROUPING_SETS) is not None or group.args.get("totals"):
        return
    if group.args.get("all"):
        yield from (_reference(column) for column in outputs)
    for key in group.expressions:
        reference = _column_reference(key)
        if reference is not None:
            yield reference
        elif isinstance(key, exp.Literal) and not key.is_string and key.this.isdigit():
            number = int(key.this)
            yield from (_reference(column) for column in outputs[number - 1 : number])
        elif isinstance(key, exp.Column) and not key.table:
            named = [column for column in outputs if column.name.lower() == key.name.lower()]
            yield from (_reference(column) for column in named if len(named) == 1)


def _reference(column: OutputColumn) -> ColumnReference:
    (branch,) = column.branches
    return (branch.relation, branch.name)


def _column_reference(node: exp.Expr) -> ColumnReference | None:
    """The column that an expression is, by its relation and name."""
    while isinstance(node, exp.Paren):
        node = node.this
    binding = binding_of(node)
    return None if binding is None else (binding.relation, binding.name)
