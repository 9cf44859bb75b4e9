"""Commands that look at the past: reading all tables at a moment, changes, versions of a row."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pykudu_sql
from pykudu_sql.shell.commands.catalog import Relation, find_relation
from pykudu_sql.shell.commands.command import command, quote_identifier
from pykudu_sql.shell.commands.composed_statements import unplaced
from pykudu_sql.shell.commands.timestamps import snapshot_name, timestamp_sql, wall_time
from pykudu_sql.shell.output.drawings.key_trace import trace_lines
from pykudu_sql.shell.output.drawings.row_changes import change_line, net_changes, version_lines
from pykudu_sql.shell.output.drawings.rowset_picture import LEGEND, RowsetShape, draw_rowsets
from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.wrapping import wrap_line
from pykudu_sql.shell.own_queries import query, uncounted
from pykudu_sql.shell.parameters import Value, parse_value, split_arguments
from pykudu_sql.shell.settings import UsageError, suggest_name
from pykudu_sql.storage.common.noun_count import noun_count

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_BATCH_ROWS = 1_000
_SNAPSHOT_FORMS = ("SNAPSHOT name", "snapshot('name')")
_PICTURE_COLUMNS = 72  # where no terminal says how wide it is
_ROWSETS = """
SELECT tablet, rowset_id, kind, "rows", bytes, redo_records + memory_deltas, low, high
FROM sys.rowsets WHERE table_name = ? ORDER BY tablet, rowset_id
"""
_TABLETS = """
SELECT t.tablet, p.partition, t.rowsets, t.live_rows,
  format_bytes(CAST(t.disk_bytes + t.memory_bytes AS BIGINT)), t.average_rowset_height
FROM sys.tablets t LEFT JOIN sys.partitions p USING (table_name, tablet)
WHERE t.table_name = ? ORDER BY t.tablet
"""


@contextmanager
def _moments_as_typed() -> Iterator[None]:
    """Errors without places, that name a snapshot as commands take it: by its name alone."""
    with unplaced():
        try:
            yield
        except pykudu_sql.Error as error:
            for form in _SNAPSHOT_FORMS:
                error.hint = error.hint and error.hint.replace(form, "the name of a snapshot")
            raise


@command(
    ".asof",
    arguments="[MOMENT...]",
    summary="read all tables as of '10 min ago', a time, a snapshot; off: as they are now",
    examples=(".asof 10 min ago", ".asof 2026-01-31 12:00", ".asof before_migration", ".asof off"),
)
@_moments_as_typed()
def asof(session: "ShellSession", arguments: Sequence[str]) -> None:
    text = " ".join(arguments)
    if not text:
        moment_read = session.connection.as_of
        if moment_read is None:
            session.output.write("Tables are read as they are now.\n")
            return
        session.output.write(
            f"Tables are read as of {wall_time(moment_read)} UTC ({moment_read}). "
            "`.asof off` ends it.\n"
        )
    elif text.lower() in ("off", "now", "now()"):
        _read_as_of(session, "DEFAULT")
    else:
        snapshots = _snapshots(session)
        name = snapshot_name(text, snapshots)
        if name is None:
            _read_as_of(session, timestamp_sql(text, snapshots))
        else:
            _read_as_of(session, f"SNAPSHOT {quote_identifier(name)}")


def _read_as_of(session: "ShellSession", moment: str) -> None:
    with uncounted(session.connection):
        session.run_statement(f"SET as_of = {moment}")


@command(
    ".diff",
    arguments="TABLE MOMENT...",
    summary="what became of rows: t since '1 h ago' [until '10 min ago']",
    examples=(
        ".diff stock since 1 h ago",
        ".diff stock since 2026-01-31 until 10 min ago",
        ".diff stock since before_migration",
    ),
    paged=True,
)
@_moments_as_typed()
def diff(session: "ShellSession", arguments: Sequence[str]) -> None:
    table = _table(session, arguments[0])
    words = " ".join(arguments[1:])
    if words.lower().startswith("since "):
        words = words[6:]
    since, _, until = words.partition(" until ")
    snapshots = _snapshots(session)
    bounds = ", ".join(timestamp_sql(text, snapshots) for text in (since, until) if text.strip())
    changes = f"CHANGES({table.sql}, {bounds})"
    keys, others = _columns(session, table)
    order = ", ".join([*map(quote_identifier, keys), "_commit_timestamp", "_change_type DESC"])
    if session.settings.format != "table":
        with uncounted(session.connection):
            session.run_statement(f"SELECT * FROM {changes} ORDER BY {order}")
        return
    column_list = ", ".join(map(quote_identifier, (*keys, *others)))
    counts = {"added": 0, "changed": 0, "removed": 0}
    rows_sql = f"SELECT _change_type, {column_list} FROM {changes} ORDER BY {order}"
    with uncounted(session.connection), session.connection.execute(rows_sql) as cursor:

        def events() -> Iterator[tuple[str, Sequence[Any]]]:
            while rows := cursor.fetchmany(_BATCH_ROWS):
                session.check_cancelled()
                yield from ((kind, row) for kind, *row in rows)

        for old, new in net_changes(events(), len(keys)):
            counts["added" if old is None else "removed" if new is None else "changed"] += 1
            _write_wrapped(session, change_line((*keys, *others), len(keys), old, new))
    session.output.write(", ".join(f"{count:,} {what}" for what, count in counts.items()) + "\n")


@command(
    ".log",
    arguments="TABLE KEY...",
    summary="every version of the row with this key: a value for each key column",
    examples=(".log stock apple", ".log metrics host=web-1 'at=2026-01-31 12:00:00'"),
    paged=True,
)
@unplaced()
def log(session: "ShellSession", arguments: Sequence[str]) -> None:
    table = _table(session, arguments[0])
    keys, others = _columns(session, table)
    where, values = _of_key(table, keys, arguments[1:])
    column_list = ", ".join(map(quote_identifier, (*keys, *others)))
    sql = (
        f"SELECT _valid_from, _valid_to, {column_list} FROM {table.sql} FOR SYSTEM_TIME ALL "
        f"WHERE {where} ORDER BY _valid_from"
    )
    if session.settings.format != "table":
        with uncounted(session.connection):
            session.run_statement(sql, values)
        return
    versions = [(begin, end, row) for begin, end, *row in query(session.connection, sql, values)]
    for line in version_lines((*keys, *others), len(keys), versions):
        _write_wrapped(session, line)
    session.output.write(f"{noun_count(len(versions), 'version')}\n")


def _of_key(
    table: Relation, keys: Sequence[str], arguments: Sequence[str]
) -> tuple[str, list[Value]]:
    """The condition that a row has the key that arguments name, and the values of its `?`.

    Raises UsageError: they do not name one value for each key column.
    """
    positional, named = split_arguments(arguments)
    # `a=b` may be a value itself; it is a name only if a key column has it.
    if not set(named) <= set(keys):
        positional, named = list(arguments), {}
    texts = dict(zip((key for key in keys if key not in named), positional, strict=False)) | named
    if len(texts) != len(keys) or len(positional) + len(named) != len(keys):
        raise UsageError(
            f"the key of '{table.catalog_name}' is ({', '.join(keys)}): give each a value"
        )
    where = " AND ".join(f"{quote_identifier(key)} = ?" for key in keys)
    return where, [parse_value(texts[key]) for key in keys]


@command(
    ".why",
    arguments="TABLE KEY...",
    summary="where the row with this key lies: tablet, rowset, blocks, deltas",
    examples=(".why stock apple", ".why metrics host=web-1 'at=2026-01-31 12:00:00'"),
)
@unplaced()
def why(session: "ShellSession", arguments: Sequence[str]) -> None:
    table = _table(session, arguments[0])
    where, values = _of_key(table, _columns(session, table)[0], arguments[1:])
    ((plan,),) = query(
        session.connection, f"EXPLAIN (FORMAT JSON) SELECT * FROM {table.sql} WHERE {where}", values
    )
    lookup = json.loads(plan).get("lookup")
    if lookup is None:
        raise UsageError("these values cannot be looked up as a key: no column has such a value")
    for line in trace_lines(lookup):
        _write_wrapped(session, line)


@command(
    ".layout",
    arguments="TABLE",
    summary="draw the rowsets of each tablet over its keys",
    paged=True,
)
def layout(session: "ShellSession", arguments: Sequence[str]) -> None:
    table = _table(session, arguments[0])
    shapes: dict[int, list[RowsetShape]] = {}
    for tablet, number, kind, rows, _, changes, low, high in query(
        session.connection, _ROWSETS, [table.catalog_name]
    ):
        if rows:
            shapes.setdefault(tablet, []).append(
                RowsetShape(
                    number or 0,
                    0.0 if low is None else low,
                    1.0 if high is None else high,
                    bool(changes),
                    "Mem" in kind,
                )
            )
    columns = (session.output.width() or _PICTURE_COLUMNS) - 4
    for tablet, part, rowsets, rows, size, height in query(
        session.connection, _TABLETS, [table.catalog_name]
    ):
        heading = f"tablet {tablet}" + (f"  {part}" if part else "")
        amounts = f"{noun_count(rowsets, 'rowset')}, {noun_count(rows, 'row')}"
        counts = f"  {amounts}, {size}, height {height or 0:.1f}"
        _write_wrapped(session, (Span(heading, Role.NAME), Span(counts, Role.FRAME)))
        for line in draw_rowsets(shapes.get(tablet, []), max(columns, 8)):
            session.output.write_line((Span("  "), *line))
    _write_wrapped(session, (Span(LEGEND, Role.FRAME),))


def _write_wrapped(session: "ShellSession", line: Line) -> None:
    for part in wrap_line(line, session.output.width()):
        session.output.write_line(part)


def _snapshots(session: "ShellSession") -> set[str]:
    return {name for (name,) in query(session.connection, "SELECT name FROM sys.snapshots")}


def _table(session: "ShellSession", name: str) -> Relation:
    table_info = find_relation(session, name)
    if table_info is None or table_info.is_view:
        names = session.connection.list_tables()
        raise UsageError(
            f"there is no table '{name}'{suggest_name(name, names)} (.tables lists all)"
        )
    return table_info


def _columns(session: "ShellSession", table: Relation) -> tuple[list[str], list[str]]:
    """Names of the key columns, in the key's order, and of the others."""
    rows = query(
        session.connection,
        "SELECT name, key_position FROM sys.columns WHERE table_name = ? AND NOT hidden "
        "ORDER BY key_position, position",
        [table.catalog_name],
    )
    keys = [name for name, position in rows if position is not None]
    return keys, [name for name, position in rows if position is None]
