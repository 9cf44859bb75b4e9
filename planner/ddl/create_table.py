"""CREATE TABLE from syntax to plan: definitions become schemas, constants become cells.

Every rule that the storage enforces is tried here against the catalog of the moment, so a wrong
statement fails before anything is touched, with its position.
"""

from collections.abc import Sequence
from dataclasses import replace

from pykudu_sql.planner.bind.named_table import existing_table
from pykudu_sql.planner.ddl.check_conditions import check_constraints
from pykudu_sql.planner.ddl.column_definitions import column_of, near_column
from pykudu_sql.planner.ddl.partitioning import partition_schema
from pykudu_sql.planner.ddl_grammar.syntax import CreateTableSyntax
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import CreateTable
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.query.result_types import result_columns
from pykudu_sql.storage.catalog.check_constraint import check_names
from pykudu_sql.storage.catalog.namespace import database_of
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.identifiers import check_identifier
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.table_properties import check_properties
from pykudu_sql.storage.errors import (
    Error,
    InvalidSchemaError,
    SourceSpan,
    UndefinedColumnError,
)


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
        columns = [column_of(definition, context) for definition in node.columns]
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
    key, unique, notes = _key(node, columns, context)
    try:
        schema = create_schema(columns, key, unique=unique)
        scheme = _partitions(node, schema, context)
        scheme.validate(schema)
        clauses = [check for definition in node.columns for check in definition.checks]
        checks = check_constraints([*clauses, *node.checks], node.name, schema, (), context)
        check_names(checks)
    except Error as error:
        if isinstance(error, UndefinedColumnError):
            error.hint = near_column(error.message, columns) or error.hint
        if error.span is None:
            error.span = _blame(node, error)
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
            f"{noun_count(len(names), 'column name')} for "
            f"a query of {noun_count(len(columns), 'column')}",
            span=SourceSpan(node.start, len(node.name)),
        )
    return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]


def _blame(node: CreateTableSyntax, error: Error) -> SourceSpan:
    """The clause an error is about: the first whose column it names, else the table's name."""
    for definition in node.columns:
        if f"'{definition.name}'" in error.message:
            return SourceSpan(definition.start, len(definition.name))
    if node.key is not None and isinstance(error, UndefinedColumnError):
        return SourceSpan(node.key.start)
    if "partition" in error.message and node.partitions is not None:
        return SourceSpan(node.partitions.start)
    return SourceSpan(node.start)


def _create_like(node: CreateTableSyntax, name: str, context: PlanContext) -> CreateTable:
    like = existing_table(name, SourceSpan(node.like_start, len(name)), context)
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


def _key(
    node: CreateTableSyntax, columns: Sequence[ColumnSchema], context: PlanContext
) -> tuple[tuple[str, ...], bool, list[str]]:
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
        hint=_key_hint(node, columns),
        span=SourceSpan(node.start, len(node.name)),
    )


def _key_hint(node: CreateTableSyntax, columns: Sequence[ColumnSchema]) -> str:
    """How a key is written: behind AS there are no definitions to write it among."""
    if node.query is None:
        return "write PRIMARY KEY (column, ...), or NON UNIQUE PRIMARY KEY (column, ...)"
    names = f" ({', '.join(node.column_names)})" if node.column_names else ""
    key = quoted_name(columns[0].name)
    return f"write CREATE TABLE {node.name}{names} PRIMARY KEY ({key}) AS SELECT .."


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
