"""Settings: one frozen table of names, meanings and rules, and the values in force.

A setting belongs to the open database, and is given to `connect`; or to a session, where `connect`
and `SET` may choose it; or to the program, which gives it to `connect` while no SQL may change it;
or it is remembered by the database itself: `SET DATABASE` changes it.
docs/settings.md is built from the table here.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.setting_values import (
    Words,
    boolean,
    count,
    database_name,
    directory,
    duration,
    folder_of_files,
    history_age,
    one_of,
    size,
    spark_master,
    timestamp,
)
from pykudu_sql.storage.commit.history import DEFAULT_MAX_AGE
from pykudu_sql.storage.common.memory_budget import (
    MOST_CACHED,
    MOST_IN_MEMSTORES,
    MemoryShares,
    shares_of,
)
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.value_text import quote_value
from pykudu_sql.storage.errors import InvalidValueError, ProgrammingError
from pykudu_sql.storage.fs.machine_memory import usable_memory

SettingValue = bool | int | str | None
EMBEDDED: Final = "duckdb"
LOCAL: Final = "local[*]"
MASTER_VARIABLE: Final = "PYKUDU_SPARK_MASTER"
_MOST_SCANNED: Final = 1 << 30
_MOST_IN_RESULT: Final = 64 << 20
_MOST_UNFLUSHED: Final = 128 << 20


class SettingScope(StrEnum):
    """How long a setting holds."""

    DATABASE = "DATABASE"
    SESSION = "SESSION"
    PROGRAM = "PROGRAM"
    REMEMBERED = "REMEMBERED"


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """Settings of an open database, the same for all its connections."""

    durability: str = "full"
    read_only: bool = False
    threads: int = 0
    memory_limit: int = 0
    engine_memory_bytes: int = 0
    spill_directory: str = ""
    spill_limit: int = 0
    block_cache_bytes: int = MOST_CACHED
    flush_bytes: int = _MOST_UNFLUSHED
    rowset_bytes: int = 32 << 20
    log_segment_bytes: int = 16 << 20
    write_memory_bytes: int = MOST_IN_MEMSTORES
    maintenance: bool = True

    @property
    def shares(self) -> MemoryShares:
        """Of the memory of the process."""
        return shares_of(
            self.memory_limit or usable_memory(),
            self.block_cache_bytes,
            self.write_memory_bytes,
            self.engine_memory_bytes or None,
        )


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of one connection; `as_of` is a hybrid timestamp."""

    implicit_primary_key: bool = False
    default_hash_partitions: int = 0
    as_of: Timestamp | None = None
    row_errors: str = "fail"
    double_quoted_strings: bool = False
    database: str = "default"
    scan_memory_bytes: int = _MOST_SCANNED
    result_memory_bytes: int = _MOST_IN_RESULT
    statement_timeout: int = 0
    log_slow_statements: int = 0
    engine: str = EMBEDDED
    spark_scan_bytes: int = 16 << 30
    spark_master: str = LOCAL
    files: str | bool = False
    frames: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its name, type, rule and meaning.

    Attributes:
        name: lower case.
        scope: who owns it.
        type: for people.
        read: converts what a user wrote to the value; raises ValueError with the rule.
        summary: what it does.
        unit: of its number, where it has one.
    """

    name: str
    scope: SettingScope
    type: str
    read: Callable[[object], SettingValue]
    summary: str
    unit: str = ""

    @property
    def default(self) -> SettingValue:
        """Its default value."""
        if self.scope is SettingScope.REMEMBERED:
            return DEFAULT_MAX_AGE
        owner = DatabaseSettings() if self.scope is SettingScope.DATABASE else SessionSettings()
        value: SettingValue = getattr(owner, self.name)
        return value

    @property
    def offered(self) -> tuple[str, ...]:
        """What can stand behind SET and `=`, as it stands in SQL; empty if that is no list."""
        if isinstance(self.read, Words):
            return tuple(f"'{word}'" for word in self.read.words)
        return ("true", "false") if self.read is boolean else ()

    def checked(self, value: object) -> SettingValue:
        """A value for it; None is the default. Raises InvalidValueError: it does not fit."""
        if value is None:
            return self.default
        try:
            return self.read(value)
        except (ValueError, TypeError) as error:
            raise InvalidValueError(
                f"setting '{self.name}' cannot be {quote_value(value):.60}",
                hint=f"it takes {error}",
                sqlstate="22023",
            ) from error


_TABLE = (
    Setting("durability", SettingScope.DATABASE, "text", one_of("full", "normal", "off"),
            "when a commit returns: 'full' once it survives a power cut; 'normal' at once, "
            "durable within a second; 'off' when the operating system likes"),
    Setting("read_only", SettingScope.DATABASE, "boolean", boolean, "refuse every write"),
    Setting("threads", SettingScope.DATABASE, "number", count(0, 1024),
            "threads that scans and queries use; 0 is one for each processor"),
    Setting("memory_limit", SettingScope.DATABASE, "size", size,
            "memory of the process: SELECT * FROM sys.memory shows who has how much of it; 0 is "
            "80% of all", "bytes"),
    Setting("engine_memory_bytes", SettingScope.DATABASE, "size", size,
            "of it for sorts, joins and groups, beyond which they go to disk; 0 is half of what "
            "cache and changes leave", "bytes"),
    Setting("spill_directory", SettingScope.DATABASE, "text", directory,
            "where what exceeds engine_memory_bytes goes, in a folder of its own that is removed "
            "at the end; empty is tmp/ of the database, or the system's for one in memory or only "
            "read"),
    Setting("spill_limit", SettingScope.DATABASE, "size", size,
            "how much may go there; 0 is 90% of what the disk has free", "bytes"),
    Setting("block_cache_bytes", SettingScope.DATABASE, "size", size,
            "memory for decoded blocks of files; less by default where memory_limit is small",
            "bytes"),
    Setting("flush_bytes", SettingScope.DATABASE, "size", size,
            "a tablet with more changes than this in memory is flushed in the background; less by "
            "default where memory_limit is small", "bytes"),
    Setting("rowset_bytes", SettingScope.DATABASE, "size", size,
            "a rowset that grows past this on disk is closed and the next one begun", "bytes"),
    Setting("log_segment_bytes", SettingScope.DATABASE, "size", size,
            "the write-ahead log is cut into segments of about this size", "bytes"),
    Setting("write_memory_bytes", SettingScope.DATABASE, "size", size,
            "memory for changes of all tablets; at 60% flushing goes before other maintenance, "
            "beyond it commits flush first; less by default where memory_limit is small", "bytes"),
    Setting("maintenance", SettingScope.DATABASE, "boolean", boolean,
            "flush, compact and drop old history in the background, not only on demand"),
    Setting("implicit_primary_key", SettingScope.SESSION, "boolean", boolean,
            "CREATE TABLE without a key makes a table with only the hidden counter as its key"),
    Setting("default_hash_partitions", SettingScope.SESSION, "number", count(0, 1024),
            "hash partitions of a CREATE TABLE without PARTITION BY; 0 is a single tablet"),
    Setting("as_of", SettingScope.SESSION, "moment", timestamp,
            "the moment at which tables without an AS OF of their own are read"),
    Setting("database", SettingScope.SESSION, "text", database_name,
            "where tables and views without a database are looked for; USE changes it too"),
    Setting("double_quoted_strings", SettingScope.SESSION, "boolean", boolean,
        'reads `"text"` as a string, as Impala and MySQL do; names are quoted by backticks then'),
    Setting("row_errors", SettingScope.SESSION, "text", one_of("fail", "collect"),
            "what a bad row does: 'fail' fails its statement; 'collect' leaves the row out and "
            "reports it in SHOW ROW ERRORS"),
    Setting("scan_memory_bytes", SettingScope.SESSION, "size", size,
            "a query holds rows of its tables up to this, the smallest tables first, and reads the "
            "others as streams; less by default where memory_limit is small", "bytes"),
    Setting("result_memory_bytes", SettingScope.SESSION, "size", size,
            "a result that takes more than this is computed while it is fetched, instead of being "
            "held: it has no rowcount and cannot be scrolled; less by default where memory_limit "
            "is small", "bytes"),
    Setting("engine", SettingScope.SESSION, "text", one_of(EMBEDDED, "spark", "auto"),
            "what computes queries: 'duckdb' in this process, 'spark', or 'auto', which is Spark "
            "for those that scan more than spark_scan_bytes; EXPLAIN shows which, and why"),
    Setting("spark_scan_bytes", SettingScope.SESSION, "size", size,
            "with engine = 'auto', a query whose scans may take more than this runs on Spark",
            "bytes"),
    Setting("spark_master", SettingScope.PROGRAM, "text", spark_master,
            "where Spark runs, such as 'local[4]', unless this process has a Spark session"),
    Setting("files", SettingScope.PROGRAM, "folder", folder_of_files,
            "the folder whose files COPY may read and write; True is all files, False none"),
    Setting("frames", SettingScope.PROGRAM, "boolean", boolean,
            "whether a name that is no table's may be that of a pandas, polars or Arrow variable "
            "where the statement is executed; register() needs no permission"),
    Setting("history_max_age", SettingScope.REMEMBERED, "age", history_age,
            "how long tables keep history unless they say otherwise, -1 for ever", "seconds"),
    Setting("statement_timeout", SettingScope.SESSION, "duration", duration,
            "a statement that takes longer is stopped and changes nothing; 0 sets no limit",
            "milliseconds"),
    Setting("log_slow_statements", SettingScope.SESSION, "duration", duration,
            "a statement that takes as long is logged, without its values, by the logger "
            "pykudu_sql.statements; 0 logs none", "milliseconds"),
)  # fmt: skip

SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in _TABLE}


def find_setting(name: str) -> Setting:
    """The setting of a name. Raises ProgrammingError: there is none; a near name is suggested."""
    setting = SETTINGS.get(name.lower())
    if setting is None:
        near = difflib.get_close_matches(name.lower(), SETTINGS, n=1, cutoff=0.7)
        raise ProgrammingError(
            f"there is no setting '{name}'",
            hint=f"did you mean '{near[0]}'?" if near else "SHOW SETTINGS lists them",
            sqlstate="42704",
        )
    return setting


def settings_of(values: Mapping[str, object]) -> tuple[DatabaseSettings, SessionSettings]:
    """The settings that arguments of `connect` name.

    Raises ProgrammingError: no such setting, or the database remembers it; InvalidValueError: a
    value does not fit.
    """
    database: dict[str, Any] = {}
    session: dict[str, Any] = _from_environment()
    for name, value in values.items():
        setting = find_setting(name)
        _check_not_stored(setting)
        target = database if setting.scope is SettingScope.DATABASE else session
        if value is not None:
            target[setting.name] = setting.checked(value)
    settings = _within_limit(database)
    return settings, replace(session_defaults(settings), **session)


def _within_limit(values: Mapping[str, Any]) -> DatabaseSettings:
    """The settings of a database; what is not given has its share of `memory_limit`."""
    settings = DatabaseSettings(**values)
    shares = shares_of(
        settings.memory_limit or usable_memory(),
        values.get("block_cache_bytes"),
        values.get("write_memory_bytes"),
        settings.engine_memory_bytes or None,
    )
    return replace(
        settings,
        block_cache_bytes=shares.block_cache,
        write_memory_bytes=shares.memstores,
        flush_bytes=values.get("flush_bytes", min(_MOST_UNFLUSHED, shares.memstores // 2)),
    )


def session_defaults(database: DatabaseSettings) -> SessionSettings:
    """The settings that a session begins with; what holds rows has its share of statements'."""
    share = database.shares.statements
    return SessionSettings(
        scan_memory_bytes=min(_MOST_SCANNED, share // 4),
        result_memory_bytes=min(_MOST_IN_RESULT, share // 8),
    )


def _from_environment() -> dict[str, Any]:
    """Settings in the environment, which replace defaults."""
    master = os.environ.get(MASTER_VARIABLE)
    return {"spark_master": find_setting("spark_master").checked(master)} if master else {}


def reset_settings(settings: SessionSettings, defaults: SessionSettings) -> SessionSettings:
    """A session's settings after `RESET ALL`; those that the program chose stay."""
    of_program = {
        setting.name: getattr(settings, setting.name)
        for setting in _TABLE
        if setting.scope is SettingScope.PROGRAM
    }
    return replace(defaults, **of_program)


def with_setting(
    settings: SessionSettings, name: str, value: object, defaults: SessionSettings
) -> SessionSettings:
    """A session's settings after `SET name = value`; a value of None resets.

    `defaults`: what sessions of the database begin with. Raises ProgrammingError: no such setting,
    or it belongs to the database or to the program; InvalidValueError: the value does not fit.
    """
    setting = find_setting(name)
    _check_not_stored(setting)
    if setting.scope is SettingScope.PROGRAM:
        raise ProgrammingError(
            f"setting '{setting.name}' is for the program to choose, not for a statement",
            hint=_PROGRAM_HINTS[setting.name],
            sqlstate="42501",
        )
    if setting.scope is SettingScope.DATABASE:
        raise ProgrammingError(
            f"setting '{setting.name}' cannot be changed while the database is open",
            hint=f"open it with {_at_opening(setting.name)}",
            sqlstate="55P02",
        )
    default = getattr(defaults, setting.name)
    changed: dict[str, Any] = {setting.name: default if value is None else setting.checked(value)}
    return replace(settings, **changed)


def stored_setting_value(name: str, value: object) -> SettingValue:
    """What `SET DATABASE name = value` has the database remember.

    Raises ProgrammingError: no such setting, or the database does not remember it;
    InvalidValueError: the value does not fit.
    """
    setting = find_setting(name)
    if setting.scope is not SettingScope.REMEMBERED:
        raise ProgrammingError(
            f"the database does not remember a setting '{setting.name}'",
            hint=f"open it with {_at_opening(setting.name)}"
            if setting.scope in (SettingScope.DATABASE, SettingScope.PROGRAM)
            else f"write SET {setting.name} = ...",
            sqlstate="55P02",
        )
    return setting.checked(value)


def _at_opening(name: str) -> str:
    """How a program and the shell give a setting when they open a database."""
    option = "--read-only" if name == "read_only" else f"--set {name}=..."
    if name in _PROGRAM_HINTS:
        return f"connect(path, {name}=...)"
    return f"connect(path, {name}=...), in the shell {option}"


_PROGRAM_HINTS: Final[Mapping[str, str]] = {
    "spark_master": f"give it to connect(path, spark_master=...), in the environment as "
    f"{MASTER_VARIABLE}, or on the command line as --spark-master",
    "files": "give it to connect(path, files=...); the shell has them unless --safe is given",
    "frames": "give it to connect(path, frames=True), or register the frame",
}


def _check_not_stored(setting: Setting) -> None:
    if setting.scope is SettingScope.REMEMBERED:
        raise ProgrammingError(
            f"setting '{setting.name}' belongs to the database, which remembers it",
            hint=f"write SET DATABASE {setting.name} = ...",
            sqlstate="55P02",
        )
