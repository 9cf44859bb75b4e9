"""The manual page, as `man` reads it. A pure function."""

from collections.abc import Iterator, Sequence

from pykudu_sql.shell.command_lines.command_line import PROGRAM, CommandLine, Option

_DESCRIPTION = """\
Kudu's tablet storage with Impala's SQL on it, inside one process over local files. DB is the
directory of a database, made where there is none; without it, one in memory. At a terminal the
shell starts; .help lists its commands. Statements of -c, of files of -f and of the standard
input run in the order given."""
_FILES = (
    ("~/.config/pykudu-sql/config.toml", "choices of the shell, unless --no-init"),
    ("~/.config/pykudu-sql/startup.sql", "what runs before the first prompt, unless --no-init"),
    ("~/.config/pykudu-sql/queries/NAME.sql", "statements that .save has saved"),
    ("~/.local/state/pykudu-sql/history", "what was typed"),
)
_ENVIRONMENT = (
    ("PYKUDU_SQL_OPTION", "the option of the shell of that name, such as PYKUDU_SQL_MAX_ROWS for "
     "--max-rows; yes or no for one that takes no value. The command line goes before it, it goes "
     "before config.toml"),
    ("PYKUDU_SQL_PAGER, PAGER", "the pager"),
    ("VISUAL, EDITOR", "the editor of .edit"),
    ("NO_COLOR", "no colours"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", "in place of ~/.config and ~/.local/state"),
    ("PYKUDU_SQL_TRACEBACK", "show where an internal error came from"),
)  # fmt: skip
_CODES = (
    ("0", "all went well"),
    ("1", "a statement, a job or a check failed, or a transaction was left open"),
    ("2", "the command line is wrong, or what it names is not there"),
    ("130", "Ctrl-C"),
    ("141", "the reader of the pipe went away"),
)


def man_page(lines: Sequence[CommandLine], version: str) -> str:
    """The text of `pykudu-sql.1`."""
    return "\n".join([*_page(lines, version), ""])


def _page(lines: Sequence[CommandLine], version: str) -> Iterator[str]:
    yield f'.TH PYKUDU\\-SQL 1 "" "pykudu\\-sql {_plain(version)}" "User Commands"'
    yield ".SH NAME"
    yield "pykudu\\-sql \\- Kudu's tablets and Impala's SQL over local files"
    yield ".SH SYNOPSIS"
    yield f".B {_plain(PROGRAM)}"
    yield "[DB] [\\-c SQL]... [\\-f FILE]... [options]"
    for line in lines:
        if line.name:
            yield ".br"
            yield f".B {_plain(PROGRAM)} {line.name}"
            yield _plain(line.arguments)
    yield ".SH DESCRIPTION"
    yield from map(_plain, _DESCRIPTION.split("\n"))
    for line in lines:
        yield f".SH {line.name.upper() or 'OPTIONS'}"
        if line.name:
            yield _plain(f"{line.summary[0].upper()}{line.summary[1:]}.")
        for option in line.options:
            if option.flags[-1] != "--help":
                yield from _entry(_flags(option), option.help)
    for title, entries in (
        ("FILES", _FILES),
        ("ENVIRONMENT", _ENVIRONMENT),
        ("EXIT STATUS", _CODES),
    ):
        yield f".SH {title}"
        for name, text in entries:
            yield from _entry(f"\\fB{_plain(name)}\\fR", text)


def _flags(option: Option) -> str:
    value = "" if option.value is None else f" \\fI{_plain(option.value)}\\fR"
    return ", ".join(f"\\fB{_plain(flag)}\\fR" for flag in option.flags) + value


def _entry(name: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield name
    yield _plain(text)


def _plain(text: str) -> str:
    """Text that roff shows as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
