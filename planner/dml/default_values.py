"""The word DEFAULT as a value: of a row to be inserted, and of a column that is set.

A time is that of the statement and goes into its plan, which is not kept then; what chance gives is
left to the engine, which draws one value for each row.
"""

from sqlglot import exp

from pykudu_sql.planner.bind.target import cell_literal
from pykudu_sql.planner.constant_folding.moment import reads_current_time
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_cell
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell


def is_default(node: exp.Expr) -> bool:
    """Whether a value is the word DEFAULT."""
    if isinstance(node, exp.Var):
        return node.name.upper() == "DEFAULT"
    return (
        isinstance(node, exp.Column)
        and not node.table
        and node.name.upper() == "DEFAULT"
        and not node.this.args.get("quoted")
    )


def is_drawn(column: ColumnSchema) -> bool:
    """Whether the default differs from row to row."""
    function = column.default_function
    return function is not None and not function.is_of_the_moment


def cell_of_default(column: ColumnSchema, context: PlanContext) -> Cell:
    """The default of a column, which is not drawn, in the statement that is planned."""
    return default_cell(column, StatementTime(lambda: context.now))


def default_node(column: ColumnSchema, context: PlanContext) -> exp.Expr:
    """The default of a column as an expression."""
    if is_drawn(column):
        text = exp.cast(exp.Uuid(), exp.DType.TEXT)
        if column.default_function is DefaultFunction.UUID:
            return text
        dash, nothing = exp.Literal.string("-"), exp.Literal.string("")
        return exp.Replace(this=text, expression=dash, replacement=nothing)
    return cell_literal(cell_of_default(column, context), column)


def depends_on_moment(tree: exp.Expr, table: TableInfo) -> bool:
    """Whether a statement about a table means something else at each planning.

    It calls the current time, or sets a column to its DEFAULT that may be that.
    """
    return reads_current_time(tree) or sets_moment(tree, table)


def sets_moment(tree: exp.Expr, table: TableInfo) -> bool:
    """Whether a statement sets a column of a table to its DEFAULT, which may be a time."""
    functions = (column.default_function for column in table.schema.columns)
    if not any(each is not None and each.is_of_the_moment for each in functions):
        return False
    return any(map(is_default, all_nodes(tree)))
