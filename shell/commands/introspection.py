"""Commands that list tables, columns, indexes, databases and functions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.catalog import (
    DEFAULT_DATABASE,
    creating_statement,
    find_relation,
    find_relations,
    indexes_by_table,
    list_relations,
    sort_views,
)
from pykudu_sql.shell.commands.command import command, quote_identifier
from pykudu_sql.shell.commands.listing import list_rows, show_rows
from pykudu_sql.shell.own_queries import query

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_COLUMNS = """
SELECT name, type,
  CASE WHEN key_position IS NOT NULL THEN 'key ' || CAST(key_position AS STRING) ELSE '' END AS key,
  CASE WHEN nullable THEN 'null' ELSE 'not null' END AS "null", default_value AS "default"
FROM sys.columns WHERE table_name = ? AND NOT hidden ORDER BY position
"""
# On a narrow terminal the middle is left out: what `\\d` shows, too.
_STORED_COLUMNS = """
WITH files AS (
  SELECT column_name, string_agg(DISTINCT replace(encoding, '_ENCODING', ''), ', ') AS encodings,
    sum(rows) AS "rows", sum(raw_bytes) AS raw_bytes, sum(bytes) AS bytes
  FROM sys.column_files WHERE table_name = ? GROUP BY column_name
)
SELECT c.name, c.type, replace(c.encoding, '_ENCODING', '') AS encoding, f.encodings AS stored,
  CASE WHEN c.key_position IS NOT NULL THEN 'key ' || CAST(c.key_position AS STRING) ELSE '' END
    AS key,
  CASE WHEN c.nullable THEN 'null' ELSE 'not null' END AS "null", c.default_value AS "default",
  c.comment, f."rows", replace(c.compression, '_COMPRESSION', '') AS compression,
  format_bytes(CAST(f.raw_bytes AS BIGINT)) AS plain, format_bytes(CAST(f.bytes AS BIGINT)) AS disk
FROM sys.columns c LEFT JOIN files f ON f.column_name = c.name
WHERE c.table_name = ? ORDER BY c.position
"""
_FILES = "SELECT rowset_id FROM sys.column_files WHERE table_name = ? LIMIT 1"
_TABLES = """
SELECT name, lower(kind) AS kind, live_rows AS "rows",
  format_bytes(CAST(disk_bytes + memory_bytes AS BIGINT)) AS size, comment
FROM sys.tables WHERE name IN ({}) ORDER BY name
"""


@command(
    ".tables",
    "\\dt",
    arguments="[PATTERN]",
    summary="list tables and views, such as 'm*'; at a terminal with rows and sizes",
)
def tables(session: "ShellSession", arguments: Sequence[str]) -> None:
    names = [matched.catalog_name for matched in find_relations(session, arguments)]
    if names and session.output.is_terminal and session.settings.format == "table":
        list_rows(session, _TABLES.format(", ".join("?" * len(names))), names)
        return
    for name in names:
        session.output.write(f"{name}\n")


@command(
    ".schema",
    arguments="[PATTERN]",
    summary="show the statements that make tables, views, indexes and databases again",
    paged=True,
)
def schema(session: "ShellSession", arguments: Sequence[str]) -> None:
    matched = find_relations(session, arguments)
    in_use = DEFAULT_DATABASE

    def write(database: str, statement: str) -> None:
        nonlocal in_use
        if database != in_use:
            session.output.write(f"USE {quote_identifier(database)};\n")
            in_use = database
        session.output.write(f"{statement};\n")

    if not arguments:
        for database, *_ in query(session.connection, "SHOW DATABASES"):
            if database != DEFAULT_DATABASE:
                ((statement,),) = query(
                    session.connection, f"SHOW CREATE DATABASE {quote_identifier(database)}"
                )
                session.output.write(f"{statement};\n")
    indexes = indexes_by_table(session)
    for table in matched:
        if not table.is_view:
            write(table.database, creating_statement(session, table))
            for index, names in indexes.get(table.catalog_name, {}).items():
                on = f"{table.sql} ({', '.join(map(quote_identifier, names))})"
                write(table.database, f"CREATE INDEX {quote_identifier(index)} ON {on}")
    views = [(view, creating_statement(session, view)) for view in matched if view.is_view]
    for view, text in sort_views(views):
        write(view.database, text)
    if in_use != DEFAULT_DATABASE:
        session.output.write(f"USE {quote_identifier(DEFAULT_DATABASE)};\n")


@command(
    ".describe",
    "\\d",
    arguments="[TABLE]",
    summary="show a table's columns and what else defines it, or all tables",
)
def describe(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not arguments:
        tables.action(session, ())
        return
    matched = find_relation(session, arguments[0])
    if matched is None:
        # A table of `sys`, or an error that names what there is.
        list_rows(
            session, f"DESCRIBE {'.'.join(map(quote_identifier, arguments[0].split('.', 1)))}"
        )
        return
    list_rows(session, _COLUMNS, [matched.catalog_name])
    if session.settings.format != "table":
        return
    _, _, behind = creating_statement(session, matched).partition("\n)\n")
    if matched.is_view:
        behind = creating_statement(session, matched)
    for line in behind.splitlines():
        if line != "STORED AS KUDU":
            session.output.write(f"{line}\n")
    for index, names in indexes_by_table(session).get(matched.catalog_name, {}).items():
        session.output.write(f"INDEX {index} ({', '.join(names)})\n")


@command(
    ".columns",
    "\\d+",
    arguments="TABLE",
    summary="show a table's columns with encodings, compression and sizes",
)
def columns(session: "ShellSession", arguments: Sequence[str]) -> None:
    matched = find_relation(session, arguments[0])
    if matched is None:
        describe.action(session, arguments)
    else:
        name = matched.catalog_name
        list_rows(session, _STORED_COLUMNS, [name, name])
        is_drawn = session.settings.format == "table" and not matched.is_view
        if is_drawn and not query(session.connection, _FILES, [name]):
            session.output.write(f"{name} has no files yet, so no sizes: FLUSH TABLE {name}\n")


@command(
    ".databases",
    "\\l",
    "\\dn",
    summary="list the databases, that is, schemas, of this database",
)
def databases(session: "ShellSession", arguments: Sequence[str]) -> None:
    list_rows(session, "SHOW DATABASES")


@command(".indexes", "\\di", arguments="[PATTERN]", summary="list indexes, of tables such as 'm*'")
def list_indexes(session: "ShellSession", arguments: Sequence[str]) -> None:
    matched = find_relations(session, arguments) if arguments else list_relations(session)
    indexes = indexes_by_table(session)
    rows = [
        (table.catalog_name, index, column)
        for table in matched
        for index, names in indexes.get(table.catalog_name, {}).items()
        for column in names
    ]
    show_rows(session, ("table", "index", "column"), rows)


@command(
    ".functions",
    "\\df",
    arguments="[PATTERN]",
    summary="list functions, such as 'date*' with what each takes",
)
def functions(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not arguments:
        list_rows(session, "SHOW FUNCTIONS")
        return
    pattern = arguments[0].replace("*", "%").replace("'", "''")
    names = query(session.connection, f"SHOW FUNCTIONS LIKE '{pattern}'")
    forms = session.connection.list_signatures()
    rows = [(name, f"{name}({form})") for (name,) in names for form in forms.get(name, ("",))]
    show_rows(session, ("name", "call"), rows)
