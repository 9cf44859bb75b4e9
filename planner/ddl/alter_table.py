"""ALTER TABLE from syntax to plan: each step is tried on the table that those before it leave.

A wrong statement fails before anything is touched, with its position. A step that IF [NOT] EXISTS
makes needless does not reach the plan.
"""

from collections.abc import Iterator, Sequence

from pykudu_sql.planner.bind.named_table import existing_table
from pykudu_sql.planner.ddl.check_conditions import check_constraints
from pykudu_sql.planner.ddl.column_default import frozen, with_default
from pykudu_sql.planner.ddl.column_definitions import (
    column_of,
    compression_of,
    encoding_of,
    near_column,
)
from pykudu_sql.planner.ddl.new_names import check_new_name
from pykudu_sql.planner.ddl.partitioning import range_partition
from pykudu_sql.planner.ddl.view_columns import views_with_new_types
from pykudu_sql.planner.ddl_grammar.alter_syntax import (
    AddCheckSyntax,
    AddColumnsSyntax,
    AddRangeSyntax,
    AlterColumnSyntax,
    AlterStepSyntax,
    AlterTableSyntax,
    DropColumnSyntax,
    DropConstraintSyntax,
    DropRangeSyntax,
    PropertiesSyntax,
    RenameColumnSyntax,
    RenameTableSyntax,
    TableCommentSyntax,
)
from pykudu_sql.planner.ddl_grammar.syntax import ColumnDefinition, Expression
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import AlterTable
from pykudu_sql.storage.catalog.alter import (
    AddCheck,
    AddColumn,
    AddRange,
    AlterStep,
    DropCheck,
    DropColumn,
    DropRange,
    RenameColumn,
    RenameTable,
    SetAttributes,
    SetDefault,
    SetNullable,
    SetProperties,
    SetTableComment,
    SetType,
    apply_steps,
)
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.range_bound import range_text
from pykudu_sql.storage.common.types.schema import (
    ColumnSchema,
    Schema,
)
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import (
    Error,
    InvalidSchemaError,
    SourceSpan,
    UndefinedColumnError,
)


def plan_alter_table(node: AlterTableSyntax, context: PlanContext) -> AlterTable:
    """The plan of an ALTER TABLE, all its steps tried in order.

    Raises UndefinedTableError, UndefinedColumnError, DuplicateObjectError, InvalidSchemaError: a
    step breaks a rule.
    """
    table = existing_table(node.name, SourceSpan(node.start, len(node.name)), context)
    changed, steps = table, []
    notes: list[str] = []
    for syntax, start in zip(node.steps, node.starts, strict=True):
        try:
            for step in _steps(syntax, changed, context):
                changed = apply_steps(changed, (step,))
                steps.append(step)
            notes += _notes(syntax, changed, context)
        except Error as error:
            if isinstance(error, UndefinedColumnError):
                error.hint = near_column(error.message, changed.schema.columns) or error.hint
            if error.span is None:
                error.span = SourceSpan(start, len(str(syntax)))
            raise
    views: tuple[tuple[ViewInfo, ViewInfo], ...] = ()
    if context.catalog.views and any(isinstance(step, SetType) for step in steps):
        views = tuple(views_with_new_types(table, changed, context))
    return AlterTable(table, tuple(steps), str(node), tuple(notes), views)


def _notes(syntax: AlterStepSyntax, table: TableInfo, context: PlanContext) -> Iterator[str]:
    """What to tell of a step, of the table after it: a range that others stand in the way of."""
    if not isinstance(syntax, AddRangeSyntax) or not syntax.if_not_exists:
        return
    schema, scheme = table.schema, table.partition_schema
    span = range_partition(syntax.range, schema, scheme, context)
    if span in scheme.ranges:
        return
    columns = [schema.by_id[i] for i in scheme.range_column_ids]
    for other in filter(span.overlaps, scheme.ranges):
        text = range_text(columns, other.lower, other.upper)
        yield f"Range partition {text} overlaps {syntax.range.bounds()}, which was not added."


def _steps(syntax: AlterStepSyntax, table: TableInfo, context: PlanContext) -> list[AlterStep]:
    """The storage's steps for one step of the statement; none where IF [NOT] EXISTS applies."""
    schema = table.schema
    match syntax:
        case AddColumnsSyntax(definitions, if_not_exists):
            additions = (d for d in definitions if not (if_not_exists and d.name in schema.by_name))
            return _add_columns(list(additions), table, context)
        case DropColumnSyntax(name, if_exists):
            return [] if if_exists and name not in schema.by_name else [DropColumn(name)]
        case RenameColumnSyntax(name, new_name, type_name):
            typed = [] if type_name is None else _set_type(schema.column(name), type_name)
            return [*typed, *([] if name == new_name else [RenameColumn(name, new_name)])]
        case AlterColumnSyntax(name, type=str(type_name)):
            return _set_type(schema.column(name), type_name)
        case AlterColumnSyntax():
            return [_alter_column(syntax, schema, context)]
        case AddCheckSyntax(clause):
            added = check_constraints([clause], table.name, schema, table.checks, context)
            return [AddCheck(check) for check in added]
        case DropConstraintSyntax(name, if_exists):
            _check_not_key(name, table)
            is_there = name in {check.name for check in table.checks}
            return [] if if_exists and not is_there else [DropCheck(name)]
        case AddRangeSyntax(clause, if_not_exists):
            span = range_partition(clause, schema, table.partition_schema, context)
            is_there = any(map(span.overlaps, table.partition_schema.ranges))
            return [] if if_not_exists and is_there else [AddRange(span)]
        case DropRangeSyntax(clause, if_exists):
            span = range_partition(clause, schema, table.partition_schema, context)
            existing = {(r.lower, r.upper) for r in table.partition_schema.ranges}
            return (
                [] if if_exists and (span.lower, span.upper) not in existing else [DropRange(span)]
            )
        case RenameTableSyntax(new_name):
            full_name = context.catalog.full_name(new_name)
            check_new_name(full_name, context)
            return [RenameTable(full_name)]
        case TableCommentSyntax(comment):
            return [SetTableComment(comment)]
        case PropertiesSyntax(values, unset):
            return [SetProperties((*values, *((name, None) for name in unset)))]


def _add_columns(
    definitions: Sequence[ColumnDefinition], table: TableInfo, context: PlanContext
) -> list[AlterStep]:
    """The steps that add columns, and then the constraints that they bring."""
    steps: list[AlterStep] = [AddColumn(_added(each, context)) for each in definitions]
    clauses = [check for definition in definitions for check in definition.checks]
    schema = apply_steps(table, steps).schema if clauses else table.schema
    checks = check_constraints(clauses, table.name, schema, table.checks, context)
    return [*steps, *map(AddCheck, checks)]


def _check_not_key(name: str, table: TableInfo) -> None:
    """Refuse to drop the primary key by its name."""
    if name == f"{table.name.removeprefix(f'{database_of(table.name)}.')}_pkey":
        raise InvalidSchemaError(
            f"constraint '{name}' is the primary key, which cannot be dropped",
            hint="CREATE TABLE .. PRIMARY KEY (..) AS SELECT makes a table with another key",
        )


def _added(definition: ColumnDefinition, context: PlanContext) -> ColumnSchema:
    if definition.primary_key:
        raise InvalidSchemaError(
            f"column '{definition.name}' cannot be added to the primary key",
            hint="the key is fixed when the table is created",
            span=SourceSpan(definition.start, len(definition.name)),
        )
    return frozen(column_of(definition, context), context)


def _set_type(column: ColumnSchema, type_name: str) -> list[AlterStep]:
    """The step that gives a column a type, none where it has that already."""
    column_type = parse_type(type_name)
    return [] if column_type == column.type else [SetType(column.name, column_type)]


def _alter_column(syntax: AlterColumnSyntax, schema: Schema, context: PlanContext) -> AlterStep:
    column = schema.column(syntax.name)
    if syntax.nullable is not None:
        return SetNullable(column.name, syntax.nullable)
    if syntax.drop_default:
        return SetDefault(column.name, None)
    if syntax.default is not None:
        return _set_default(syntax.default, column, context)
    return SetAttributes(
        column.name,
        None if syntax.encoding is None else encoding_of(syntax.encoding),
        None if syntax.compression is None else compression_of(syntax.compression),
        syntax.block_size,
        syntax.comment,
        syntax.immutable,
    )


def _set_default(default: Expression, column: ColumnSchema, context: PlanContext) -> SetDefault:
    changed = with_default(column, default, context)
    if not changed.has_default and not column.nullable:
        raise InvalidSchemaError(
            f"column '{column.name}' is NOT NULL and cannot have DEFAULT NULL",
            hint="DROP DEFAULT makes every INSERT give a value",
            span=default.span,
        )
    return SetDefault(column.name, changed.write_default, changed.default_function)
