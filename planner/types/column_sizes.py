"""How large the values of columns may be, noted for the checks of what calls make of them.

A column of a table has the size of a cell, and so has one whose type has values of few bytes. A
computed column has at most the size of what it shows; not so in a recursive query, where the first
SELECT determines the types of all rows and the values of the first.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.types.engine_types import column_type
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.types.origins import origins, projections_of
from pykudu_sql.planner.value_bounds.value_sizes import (
    has_size,
    note_cell,
    note_computed,
    note_unbounded,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema


def note_cells(columns: Sequence[exp.Column], types: ExpressionTypes) -> None:
    """Note which columns are as small as cells of tables."""
    for column in columns:
        projections = projections_of(column)
        sources = origins(projections)
        stored = [each.type for each in sources if isinstance(each, ColumnSchema)]
        if stored and len(stored) == len(sources):
            note_cell(column, max(stored, key=lambda each: each.is_variable))
        elif projections:
            computed = column_type(types.rule_name(column))
            if computed is not None and not computed.is_variable:
                note_cell(column, computed)


def note_computed_sizes(columns: Sequence[exp.Column]) -> None:
    """Note the sizes of computed columns, as far as their expressions bound them."""
    for column in columns:
        if not has_size(column):
            _note(column)


def _note(column: exp.Column) -> None:
    note_unbounded(column)  # until it is known, for an alias may be said within its own entry
    projections = origins(projections_of(column))
    sources = [each for each in projections if isinstance(each, exp.Expr)]
    if not sources or len(sources) < len(projections):
        return
    for source in sources:
        if not has_size(source):
            note_unbounded(source)
            note_computed_sizes(nodes_of(source, exp.Column))
            note_computed(source, [source])
    note_computed(column, sources)
