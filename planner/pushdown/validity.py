"""Columns that scans need not decode, since the query only asks whether they are NULL.

Binding notes them (`BoundQuery.null_tested`). What passes have left of the tree is looked at once
more, for a rule may have put a column into an expression of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of
from pykudu_sql.planner.bind.null_tests import is_null_tested
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import Scan


def with_validity(
    scans: Sequence[Scan],
    names: Mapping[TableReference, str],
    bound: BoundQuery,
    columns: Sequence[exp.Column],
) -> tuple[Scan, ...]:
    """Scans that say of which columns only is asked where they are NULL.

    Args:
        scans: of the query.
        names: the scan of each mention of a table.
        bound: the query.
        columns: of its tree as the engine gets it.
    """
    tested: dict[str, set[int]] = {scan.name: set() for scan in scans}
    read: dict[str, set[int]] = {scan.name: set() for scan in scans}
    for reference, column_ids in bound.null_tested.items():
        if reference.is_plain:
            tested[names[reference]] |= column_ids
        read[names[reference]] |= bound.used[reference] - column_ids
    if not any(tested.values()):
        return tuple(scans)
    for column in columns:
        binding = binding_of(column)
        if binding is None or is_null_tested(column):
            continue
        for relation, name in binding.origins:
            if isinstance(relation, TableReference):
                read[names[relation]].add(relation.column(name).id)
    return tuple(
        replace(scan, validity_ids=frozenset(tested[scan.name] - read[scan.name])) for scan in scans
    )
