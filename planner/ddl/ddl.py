"""DDL from syntax to plan: definitions become schemas, constants become cells, steps are checked.

Every rule that the storage enforces is tried here against the catalog of the moment, so a wrong
statement fails before anything is touched, with the place in its text. IF [NOT] EXISTS is decided
here too: a step that has nothing to do does not reach the plan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pykudu_sql.planner.bind.named_table import existing_table
from pykudu_sql.planner.ddl.check_conditions import check_constraints
from pykudu_sql.planner.ddl.ddl_constants import default_cell
from pykudu_sql.planner.ddl.partitioning import partition_schema, range_partition
from pykudu_sql.planner.ddl_grammar.syntax import (
    AddCheckSyntax,
    AddColumnsSyntax,
    AddRangeSyntax,
    AlterColumnSyntax,
    AlterStepSyntax,
    AlterTableSyntax,
    ColumnDefinition,
    CreateTableSyntax,
    DropColumnSyntax,
    DropConstraintSyntax,
    DropRangeSyntax,
    Expression,
    PropertiesSyntax,
    RenameColumnSyntax,
    RenameTableSyntax,
    TableCommentSyntax,
)
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import AlterTable, CreateTable
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.query.result_types import result_columns
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
    apply_steps,
    check_names,
)
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import database_of
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.cfile.encoding.type_encodings import SQL_NAMES, resolve_encoding
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.partition.range_bound import range_text
from pykudu_sql.storage.common.types.schema import (
    DEFAULT_BLOCK_SIZE,
    ColumnSchema,
    Schema,
    check_identifier,
    create_schema,
)
from pykudu_sql.storage.common.types.table_properties import check_properties
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Cell, Compression, Encoding
from pykudu_sql.storage.errors import (
    Error,
    InvalidSchemaError,
    SourceSpan,
    UndefinedColumnError,
)

_COMPRESSION_NAMES = {
    "DEFAULT": Compression.DEFAULT_COMPRESSION,
    "NONE": Compression.NO_COMPRESSION,
    **{str(compression): compression for compression in Compression},
}


def plan_create_table(node: CreateTableSyntax, context: PlanContext) -> CreateTable:
    """The plan of a CREATE TABLE.

    Raises InvalidSchemaError, DuplicateObjectError, UndefinedColumnError: the definition breaks a
    rule; DataError: a default or a bound does not fit its column.
    """
    check_identifier(node.name, "table")
    span = SourceSpan(node.start)
    check_not_system(node.name, span)
    node = replace(node, name=context.catalog.full_name(node.name))
    with errors_at(span):
        context.catalog.check_database(database_of(node.name))
    check_properties(dict(node.properties))
    if node.like is not None:
        return _create_like(node, node.like, context)
    query = None
    if node.query is None:
        columns = [_column(definition, context) for definition in node.columns]
    else:
        if node.columns:
            raise InvalidSchemaError(
                "CREATE TABLE .. AS takes the types of its columns from the query",
                hint="write the names of the columns alone, or PRIMARY KEY (...) without them",
                span=SourceSpan(node.start),
            )
        folding = replace(context, folds_parameters=context.bound_parameters is not None)
        query = plan_rows(node.query, folding)
        columns = _named(node, result_columns(query, context))
        query = query if node.with_data else None
    key, unique, notes = _key(node, context)
    try:
        schema = create_schema(columns, key, unique=unique)
        scheme = _partitions(node, schema, context)
        scheme.validate(schema)
        clauses = [check for definition in node.columns for check in definition.checks]
        checks = check_constraints([*clauses, *node.checks], node.name, schema, (), context)
        check_names(checks)
    except Error as error:
        if isinstance(error, UndefinedColumnError):
            error.hint = _near_column(error.message, columns) or error.hint
        if error.span is None:
            error.span = SourceSpan(_blame(node, error), 1)
        raise
    return CreateTable(
        node.name,
        node.if_not_exists,
        schema,
        scheme,
        node.comment,
        query,
        tuple(notes),
        dict(node.properties),
        node.replaces,
        checks,
    )


def _named(node: CreateTableSyntax, columns: list[ColumnSchema]) -> list[ColumnSchema]:
    """The columns of a query under the names that the statement gives them."""
    names = node.column_names
    if not names:
        return columns
    if len(names) != len(columns):
        raise InvalidSchemaError(
            f"{len(names)} column names are given for a query of {len(columns)} columns",
            span=SourceSpan(node.start, len(node.name)),
        )
    return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]


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
                error.hint = _near_column(error.message, changed.schema.columns) or error.hint
            if error.span is None:
                error.span = SourceSpan(start, len(str(syntax)))
            raise
    return AlterTable(table, tuple(steps), str(node), tuple(notes))


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


def _near_column(message: str, columns: Sequence[ColumnSchema]) -> str | None:
    name = message.split("'")[1] if message.count("'") >= 2 else ""
    return near(name, [column.name for column in columns])


def _blame(node: CreateTableSyntax, error: Error) -> int:
    """The clause an error is about: the first whose column it names, else the table's name."""
    for definition in node.columns:
        if f"'{definition.name}'" in error.message or f"`{definition.name}`" in error.message:
            return definition.start
    if node.key is not None and isinstance(error, UndefinedColumnError):
        return node.key.start
    if "partition" in error.message and node.partitions is not None:
        return node.partitions.start
    return node.start


def _create_like(node: CreateTableSyntax, name: str, context: PlanContext) -> CreateTable:
    like = existing_table(name, SourceSpan(node.start, len(name)), context)
    return CreateTable(
        node.name,
        node.if_not_exists,
        like.schema,
        like.partition_schema,
        node.comment,
        properties={**like.properties, **dict(node.properties)},
        replaces=node.replaces,
        checks=like.checks,
    )


def _key(node: CreateTableSyntax, context: PlanContext) -> tuple[tuple[str, ...], bool, list[str]]:
    """The key's columns, whether it is unique, and what to warn about."""
    inline = [definition for definition in node.columns if definition.primary_key]
    if len(inline) + (node.key is not None) > 1:
        raise InvalidSchemaError(
            "a table has one PRIMARY KEY",
            hint="list its columns together: PRIMARY KEY (a, b)",
            span=SourceSpan((inline[-1] if inline else node).start),
        )
    if inline:
        return (inline[0].name,), inline[0].unique_key, []
    if node.key is not None:
        return node.key.columns, node.key.unique, []
    promoted = _promoted(node)
    if promoted:
        listed = ", ".join(promoted)
        return (
            promoted,
            False,
            [f"Partition columns ({listed}) are promoted as non unique primary key."],
        )
    if context.settings.implicit_primary_key:
        return (), False, []
    raise InvalidSchemaError(
        f"table '{node.name}' needs a primary key",
        hint="write PRIMARY KEY (column, ...), or NON UNIQUE PRIMARY KEY (column, ...)",
        span=SourceSpan(node.start, len(node.name)),
    )


def _promoted(node: CreateTableSyntax) -> tuple[str, ...]:
    """The partition columns of a table without key, as Impala promotes them."""
    if node.partitions is None:
        return ()
    names = [name for clause in node.partitions.hashes for name in clause.columns]
    names += node.partitions.range_columns or ()
    return tuple(dict.fromkeys(names))


def _partitions(node: CreateTableSyntax, schema: Schema, context: PlanContext) -> PartitionSchema:
    if node.partitions is not None:
        return partition_schema(node.partitions, schema, context)
    return default_partitions(schema, context)


def default_partitions(schema: Schema, context: PlanContext) -> PartitionSchema:
    """One tablet, or the session's number of hash buckets over the whole key."""
    buckets = context.settings.default_hash_partitions
    if buckets < 2:
        return PartitionSchema()
    return PartitionSchema((HashDimension(tuple(sorted(schema.key_ids)), buckets),))


def _column(definition: ColumnDefinition, context: PlanContext) -> ColumnSchema:
    """A column as defined; its id is given later."""
    span = SourceSpan(definition.start, len(definition.name))
    with errors_at(span):
        column = ColumnSchema(
            id=0,
            name=definition.name,
            type=parse_type(definition.type),
            nullable=definition.nullable is not False,
            encoding=_encoding(definition.encoding),
            compression=_compression(definition.compression),
            block_size=definition.block_size or DEFAULT_BLOCK_SIZE,
            comment=definition.comment or "",
            immutable=definition.immutable,
            identity=definition.identity,
        )
        resolve_encoding(column.type, column.encoding)
    if definition.primary_key and definition.nullable:
        raise InvalidSchemaError(
            f"primary key column '{definition.name}' cannot be NULL", span=span
        )
    if definition.default is None:
        return column
    default = default_cell(definition.default, column, context)
    if default is None and not column.nullable:
        raise InvalidSchemaError(
            f"column '{column.name}' is NOT NULL and cannot have DEFAULT NULL", span=span
        )
    return replace(column, write_default=default)


def _encoding(name: str | None) -> Encoding:
    return AUTO_ENCODING if name is None else SQL_NAMES.get(name, Encoding(name))


def _compression(name: str | None) -> Compression:
    compression = _COMPRESSION_NAMES.get(name or "DEFAULT_COMPRESSION")
    if compression is None:
        raise InvalidSchemaError(
            f"unknown compression {name}", hint=f"compressions are {', '.join(Compression)}"
        )
    return compression


def _steps(syntax: AlterStepSyntax, table: TableInfo, context: PlanContext) -> list[AlterStep]:
    """The storage's steps for one step of the statement; none where IF [NOT] EXISTS applies."""
    schema = table.schema
    match syntax:
        case AddColumnsSyntax(definitions, if_not_exists):
            wanted = (d for d in definitions if not (if_not_exists and d.name in schema.by_name))
            return _add_columns(list(wanted), table, context)
        case DropColumnSyntax(name, if_exists):
            return [] if if_exists and name not in schema.by_name else [DropColumn(name)]
        case RenameColumnSyntax(name, new_name, type_name):
            _check_same_type(schema, name, type_name)
            return [] if name == new_name else [RenameColumn(name, new_name)]
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
            check_not_system(new_name)
            return [RenameTable(context.catalog.full_name(new_name))]
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
    return _column(definition, context)


def _check_same_type(schema: Schema, name: str, type_name: str | None) -> None:
    column = schema.column(name)
    if type_name is not None and parse_type(type_name) != column.type:
        raise InvalidSchemaError(
            f"type of column '{name}' cannot be altered from {column.type} to {type_name}",
            hint="add a column of the new type, UPDATE it from the old one, drop the old one",
        )


def _alter_column(syntax: AlterColumnSyntax, schema: Schema, context: PlanContext) -> AlterStep:
    column = schema.column(syntax.name)
    if syntax.nullable is not None:
        return SetNullable(column.name, syntax.nullable)
    if syntax.drop_default:
        return SetDefault(column.name, None)
    if syntax.default is not None:
        return SetDefault(column.name, _new_default(syntax.default, column, context))
    return SetAttributes(
        column.name,
        None if syntax.encoding is None else _encoding(syntax.encoding),
        None if syntax.compression is None else _compression(syntax.compression),
        syntax.block_size,
        syntax.comment,
        syntax.immutable,
    )


def _new_default(default: Expression, column: ColumnSchema, context: PlanContext) -> Cell:
    cell = default_cell(default, column, context)
    if cell is None and not column.nullable:
        raise InvalidSchemaError(
            f"column '{column.name}' is NOT NULL and cannot have DEFAULT NULL",
            hint="DROP DEFAULT makes every INSERT give a value",
            span=default.span,
        )
    return cell
