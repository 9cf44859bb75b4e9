"""The dialect: what SQLAlchemy must know of the database and of its connections.

`pykudu:///my.db` opens a relative directory, `pykudu:////data/my.db` an absolute one, `pykudu://`
a database in memory. What stands behind `?` are settings of `connect`. Tables without a key get a
hidden one (`implicit_primary_key`), unless the URL says otherwise.

Reads of the past: `execution_options(as_of=...)` of a connection, session or statement takes a
datetime, a timedelta before now, a hybrid timestamp, or a text of either form; `as_of_snapshot`
the name of a snapshot.
"""

import datetime as dt
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from sqlalchemy import exc, pool, schema
from sqlalchemy.engine import URL, Connection
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import (
    DBAPIConnection,
    DBAPICursor,
    ExecutionContext,
    IsolationLevel,
)
from sqlalchemy.sql.compiler import InsertmanyvaluesSentinelOpts

from pykudu_sql.sqlalchemy.compiler import (
    PykuduCompiler,
    PykuduDDLCompiler,
    PykuduIdentifierPreparer,
)
from pykudu_sql.sqlalchemy.reflection import DEFAULT_SCHEMA, Reflection
from pykudu_sql.sqlalchemy.types import COLSPECS, PykuduTypeCompiler, text_literal

MEMORY = ":memory:"
AS_OF = "as_of"
AS_OF_SNAPSHOT = "as_of_snapshot"
_SNAPSHOT: IsolationLevel = "REPEATABLE READ"  # what PostgreSQL calls snapshot isolation
_AUTOCOMMIT: IsolationLevel = "AUTOCOMMIT"
_FLAGS = {"true": True, "false": False}


_TABLE: Mapping[str, Any] = {"partition_by": None, "unique_key": True, "properties": None}
_COLUMN: Mapping[str, Any] = {
    "encoding": None, "compression": None, "block_size": None, "immutable": False,
}  # fmt: skip
_CHECK: Mapping[str, Any] = {"enforced": True}
_ARGUMENTS = [
    (schema.Table, _TABLE),
    (schema.Column, _COLUMN),
    (schema.CheckConstraint, _CHECK),
]


class PykuduDialect(Reflection, DefaultDialect):
    """SQLAlchemy's view of pykudu_sql."""

    name = "pykudu"
    driver = "pykudu"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    max_identifier_length = 256
    default_schema_name = DEFAULT_SCHEMA

    supports_native_boolean = True
    supports_native_decimal = True
    supports_native_enum = False
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_default_values = True
    supports_default_metavalue = True
    supports_empty_insert = False
    supports_multivalues_insert = True
    supports_alter = True
    supports_comments = True
    inline_comments = True
    supports_sequences = False
    supports_identity_columns = True
    postfetch_lastrowid = False
    insert_returning = True
    update_returning = True
    update_returning_multifrom = True
    delete_returning = True
    insert_executemany_returning = True
    use_insertmanyvalues = True
    insertmanyvalues_implicit_sentinel = InsertmanyvaluesSentinelOpts.ANY_AUTOINCREMENT
    tuple_in_values = True
    supports_is_distinct_from = True
    cte_follows_insert = True
    div_is_floordiv = False

    statement_compiler = PykuduCompiler
    ddl_compiler = PykuduDDLCompiler
    type_compiler_cls = PykuduTypeCompiler
    preparer = PykuduIdentifierPreparer
    colspecs = COLSPECS
    construct_arguments = _ARGUMENTS

    def __init__(
        self,
        json_serializer: Callable[[Any], str] | None = None,
        json_deserializer: Callable[[str], Any] | None = None,
        **options: Any,
    ) -> None:
        """Made by `create_engine`.

        Args:
            json_serializer, json_deserializer: of JSON columns; None for the standard library's.
            **options: those of every dialect.
        """
        super().__init__(**options)
        self._json_serializer = json_serializer
        self._json_deserializer = json_deserializer
        if "alembic" in sys.modules:
            import_module("pykudu_sql.sqlalchemy.alembic_impl")

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module of PEP 249."""
        import pykudu_sql

        return pykudu_sql

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        """A database in memory lives in its connection, which its thread keeps."""
        in_memory = not url.database or url.database == MEMORY
        return pool.SingletonThreadPool if in_memory else pool.QueuePool

    def create_connect_args(self, url: URL) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments of `connect`. Raises ArgumentError: the URL names a host or a user."""
        if url.host or url.username or url.password or url.port:
            raise exc.ArgumentError(
                f"{url.render_as_string()} names a server: a database is a directory, as in "
                "pykudu:///relative.db or pykudu:////absolute/my.db"
            )
        settings: dict[str, Any] = {"implicit_primary_key": True}
        for name, value in url.query.items():
            settings[name] = _FLAGS.get(value, value) if isinstance(value, str) else value
        return [url.database or MEMORY], settings

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> Sequence[IsolationLevel]:
        """The levels: a snapshot for each transaction, or for each statement."""
        return (_SNAPSHOT, _AUTOCOMMIT)

    def get_default_isolation_level(self, dbapi_conn: DBAPIConnection) -> IsolationLevel:
        """Transactions read one snapshot."""
        return _SNAPSHOT

    def set_isolation_level(self, dbapi_connection: Any, level: str) -> None:
        """Commit each statement, or wait for `commit`."""
        dbapi_connection.autocommit = level == _AUTOCOMMIT

    def get_isolation_level(self, dbapi_connection: Any) -> IsolationLevel:
        """The level in force."""
        return _AUTOCOMMIT if dbapi_connection.autocommit else _SNAPSHOT

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        """Whether statements commit at once."""
        return bool(dbapi_conn.autocommit)

    def do_execute(
        self,
        cursor: DBAPICursor,
        statement: str,
        parameters: Any,
        context: ExecutionContext | None = None,
    ) -> None:
        """Run a statement, at the moment that its options name; nothing of an empty one.

        That is what a constraint becomes that is not enforced.
        """
        if not statement:
            return
        options = {} if context is None else context.execution_options
        with _reading_as_of(cursor, options):
            cursor.execute(statement, parameters)

    def do_execute_no_params(
        self, cursor: DBAPICursor, statement: str, context: ExecutionContext | None = None
    ) -> None:
        """Run a statement without parameters, at the moment that its options name."""
        self.do_execute(cursor, statement, (), context)

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        """Whether a connection cannot be used any more: it is closed, or inherited by fork."""
        return getattr(e, "sqlstate", None) == "08003"

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        version = self.loaded_dbapi.__version__
        return tuple(int(part) for part in version.split(".") if part.isdigit())

    def _get_default_schema_name(self, connection: Connection) -> str:
        return DEFAULT_SCHEMA


@contextmanager
def _reading_as_of(cursor: DBAPICursor, options: Mapping[str, Any]) -> Iterator[None]:
    if options.get(AS_OF) is not None:
        moment = _moment(options[AS_OF])
    elif options.get(AS_OF_SNAPSHOT) is not None:
        moment = 'SNAPSHOT "' + str(options[AS_OF_SNAPSHOT]).replace('"', '""') + '"'
    else:
        yield
        return
    cursor.execute(f"SET as_of = {moment}")
    try:
        yield
    finally:
        cursor.connection.execute("SET as_of = DEFAULT")


def _moment(value: object) -> str:
    """A read timestamp as SQL. Raises ArgumentError: its type or text is no timestamp."""
    if isinstance(value, dt.datetime):
        utc = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return f"'{utc.isoformat(sep=' ')}'"
    if isinstance(value, dt.timedelta):
        return f"now() - INTERVAL {value // dt.timedelta(microseconds=1)} MICROSECONDS"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return text_literal(value)
    raise exc.ArgumentError(
        f"as_of takes a datetime, timedelta, hybrid timestamp or text, not {value!r}"
    )
