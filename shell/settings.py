"""What a user can choose about the shell, and the file where choices are kept.

The file is `pykudu-sql/config.toml` in `$XDG_CONFIG_HOME` (or `~/.config`):

    format = "table"     # one of FORMATS
    timer = true         # how long each statement took; on in an interactive shell
    null = "NULL"        # how NULL is written
    max_rows = 40        # rows of a table shown on a terminal, 0 for all; else as many as fit
    max_width = 0        # columns of a table, 0 for as wide as the terminal
    history = true       # keep the lines typed
    echo = false         # print each statement before it runs
    insert_table = "result"  # the table of INSERT statements
    guard = true         # ask before DELETE and UPDATE without WHERE, TRUNCATE and DROP
    separators = false   # numbers of a table with `,` between thousands
    progress = true      # a bar for statements that take longer than a second
    pager = "auto"       # on: all results that do not fit the screen; auto: what .last, .help show
    pager_command = ""   # else $PYKUDU_SQL_PAGER, $PAGER or less
    headers = true       # names of columns in CSV and TSV
    guard_formulas = false   # keep spreadsheets from computing text of CSV and TSV
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from pykudu_sql.dataclass import dataclass

FORMATS = (
    "table", "csv", "tsv", "json", "jsonlines", "line", "markdown", "box", "psql", "html", "latex",
    "insert",
)  # fmt: skip

FORMATS_OF_FILES: Mapping[str, str] = MappingProxyType({
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonlines", ".ndjson": "jsonlines",
    ".md": "markdown", ".html": "html", ".htm": "html", ".tex": "latex",
})  # fmt: skip

# on: all results go through the pager; auto: texts such as those of .help do; off: nothing does.
PAGERS = ("on", "auto", "off")


class UsageError(Exception):
    """A command line, command or setting is wrong; the message says what would be right."""


class UnknownCommandError(UsageError):
    """A line begins like a command and names none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices of one session.

    Attributes:
        format: one of FORMATS.
        timer: whether each statement's time is shown.
        null: how NULL is written; None for the format's own way.
        max_rows: rows of a table shown on a terminal; 0 for all, None for as many as fit, up to 40.
        max_width: columns of a table; 0 for the terminal's width.
        separators: whether numbers of a table have `,` between their thousands.
        history: whether lines typed are kept for the next session.
        guard: whether a prompt asks before statements that remove or change many rows.
        echo: whether each statement is printed before it runs.
        insert_table: the table of INSERT statements, as it stands in SQL.
        progress: whether a line says how far a statement is that takes longer than a second.
        pager: one of PAGERS: whether a pager shows what does not fit the screen.
        pager_command: of the pager; empty for the one that the environment names.
        headers: whether CSV and TSV begin with the names of the columns.
        guard_formulas: whether text of CSV and TSV is kept from being a spreadsheet's formula.
    """

    format: str = "table"
    timer: bool = False
    null: str | None = None
    max_rows: int | None = None
    max_width: int = 0
    separators: bool = False
    history: bool = True
    guard: bool = True
    echo: bool = False
    insert_table: str = "result"
    progress: bool = True
    pager: str = "auto"
    pager_command: str = ""
    headers: bool = True
    guard_formulas: bool = False


_TYPES: Mapping[str, type] = {
    "format": str,
    "timer": bool,
    "null": str,
    "max_rows": int,
    "max_width": int,
    "separators": bool,
    "history": bool,
    "guard": bool,
    "echo": bool,
    "insert_table": str,
    "progress": bool,
    "pager": str,
    "pager_command": str,
    "headers": bool,
    "guard_formulas": bool,
}


# Names of other shells for what a format is like.
_OTHER_FORMATS: Mapping[str, str] = {
    "column": "table", "columns": "table", "duckbox": "table", "aligned": "psql",
    "unaligned": "tsv", "list": "tsv", "tabs": "tsv", "ascii": "tsv", "lines": "line",
    "expanded": "line", "vertical": "line", "jsonl": "jsonlines", "ndjson": "jsonlines",
    "md": "markdown", "tex": "latex",
}  # fmt: skip
_TYPE_NAMES: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    str: "a text",
}


def replace_setting(settings: Settings, name: str, value: object) -> Settings:
    """Settings with one changed.

    Raises UsageError: no such setting, or a value of another type or range.
    """
    names = [field.name for field in fields(Settings)]
    if name not in names:
        raise UsageError(f"unknown setting {name!r}{suggest_name(name, names)}")
    expected = _TYPES[name]
    # bool is a subclass of int, so `max_rows = true` needs the exact type.
    if type(value) is not expected:
        raise UsageError(f"setting {name!r} needs {_TYPE_NAMES[expected]}, not {value!r}")
    if name == "format" and value not in FORMATS:
        own = _OTHER_FORMATS.get(str(value).lower())
        hint = f"; here it is '{own}'" if own else suggest_name(str(value).lower(), FORMATS)
        raise UsageError(f"unknown format {value!r}{hint} (there are {', '.join(FORMATS)})")
    if name == "pager" and value not in PAGERS:
        raise UsageError(f"setting 'pager' is one of {', '.join(PAGERS)}, not {value!r}")
    if isinstance(value, int) and value < 0:
        raise UsageError(f"setting {name!r} needs a number of 0 or more, not {value}")
    change: dict[str, Any] = {name: value}
    return replace(settings, **change)


def suggest_name(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean 'x'?` when a known name is close, else nothing."""
    import difflib

    matches = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def load_settings(settings: Settings, path: Path) -> Settings:
    """Settings overridden by a file; unchanged if there is none.

    Raises UsageError: the file is not TOML or holds something unknown; the message names the file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return settings
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    import tomllib

    try:
        for name, value in tomllib.loads(text).items():
            settings = replace_setting(settings, name, value)
    except (tomllib.TOMLDecodeError, UsageError) as error:
        raise UsageError(f"{path}: {error}") from error
    return settings


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file of settings."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / "config.toml"


def startup_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The script that runs before the first prompt."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / "startup.sql"


def history_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file of lines typed."""
    return _xdg(environ, "XDG_STATE_HOME", ".local/state") / "history"


def queries_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of saved statements."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / "queries"


def saved_names(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The names of saved statements."""
    return sorted(path.stem for path in queries_path(environ).glob("*.sql"))


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> Path:
    # The XDG rules ignore a path that is not absolute.
    folder = environ.get(variable, "")
    base = Path(folder) if folder.startswith("/") else Path.home() / default
    return base / "pykudu-sql"


def settings_for(settings: Settings, target: str) -> Settings:
    """The settings for results that go to a file, whose suffix says how if `.mode` does not.

    `target`: its path, empty where results go elsewhere.
    """
    suffix_format = FORMATS_OF_FILES.get(PurePath(target).suffix.lower())
    if suffix_format is None or settings.format != "table":
        return settings
    return replace(settings, format=suffix_format)
