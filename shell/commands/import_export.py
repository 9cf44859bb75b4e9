"""Commands that import files into tables, and export tables or queries to files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pykudu_sql
from pykudu_sql.shell.commands.command import (
    ExternalAccess,
    command,
    parse_path,
    quote_identifier,
)
from pykudu_sql.shell.commands.composed_statements import placed_in, unplaced
from pykudu_sql.shell.output.terminal import print_error
from pykudu_sql.shell.settings import UsageError

if TYPE_CHECKING:
    from pykudu_sql.files.formats import FileOptions
    from pykudu_sql.shell.session import ShellSession

_IMPORT_ARGUMENTS = "FILE TABLE [--create] [--key A,B] [--null WORD] [--no-header]"
_AFTER_FAILURE = (
    "HINT: SET row_errors = 'collect' leaves out rows that do not fit, and SHOW ROW ERRORS lists "
    "them; or run the CREATE TABLE above with wider types or another key, and .import without "
    "--create"
)
_IMPORT = f"usage: .import {_IMPORT_ARGUMENTS}"


@command(
    ".import",
    arguments=_IMPORT_ARGUMENTS,
    summary="rows of files into a table, or a new one: CSV, JSON, Parquet, ORC, Arrow",
    examples=(
        ".import new.csv stock",
        ".import 'data/*.parquet' events --create --key host,at",
        ".import plain.csv readings --create --no-header --null NA",
    ),
    access=ExternalAccess.FILE,
)
@unplaced()
def import_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    from pykudu_sql.files.formats import FileOptions
    from pykudu_sql.files.inferred_table import with_likely_delimiter

    words, key, null, creates, has_header = list[str](), None, None, False, True
    remaining_arguments = iter(arguments)
    for word in remaining_arguments:
        if word == "--create":
            creates = True
        elif word == "--no-header":
            has_header = False
        elif word == "--key":
            key = next(remaining_arguments, "")
        elif word.startswith("--key="):
            key = word.removeprefix("--key=")
        elif word == "--null":
            null = next(remaining_arguments, None)
            if null is None:
                raise UsageError(_IMPORT)
        elif word.startswith("--null="):
            null = word.removeprefix("--null=")
        else:
            words.append(word)
    if len(words) != 2 or key == "" or (key is not None and not creates):
        raise UsageError(_IMPORT + ("; --key belongs to --create" if key and not creates else ""))
    file, table = str(parse_path(words[0])), _table(words[1])
    options = with_likely_delimiter(file, FileOptions(null=null or "", header=has_header))
    copy = f"COPY {table} FROM {_text(file)}{_copy_options(options)}"
    if not creates:
        is_plain = "." not in words[1]
        if is_plain and words[1].lower() not in session.connection.list_tables():
            raise UsageError(f"there is no table '{words[1]}'; --create makes it of the file")
        session.run_statement(copy)
        return
    session.run_statement(_create_statement(file, table, key, options))
    try:
        session.run_statement(copy)
    except BaseException as error:
        session.connection.execute(f"DROP TABLE {table}")
        print_error(f"Table {table} has been dropped again: nothing was imported.")
        if isinstance(error, pykudu_sql.Error):
            print_error(_AFTER_FAILURE)
        raise


def _copy_options(options: "FileOptions") -> str:
    """The options of COPY that are not its defaults."""
    delimiter = options.delimiter if options.delimiter != "," else None
    named = {"NULL": options.null or None, "DELIMITER": delimiter}
    texts = [f"{name} {_text(text)}" for name, text in named.items() if text is not None]
    if not options.header:
        texts.append("HEADER false")
    return f" ({', '.join(texts)})" if texts else ""


def _create_statement(file: str, table: str, key: str | None, options: "FileOptions") -> str:
    """The CREATE TABLE for files. Raises UsageError: no key is named, and none was found."""
    from pykudu_sql.files.inferred_table import infer_table

    inferred = infer_table(file, options)
    if key is not None:
        inferred = inferred.with_key([name.strip() for name in key.split(",")])
    if not inferred.key:
        raise UsageError("no column differs in all rows: name the key, --key a,b")
    statement = inferred.create_statement(table)
    print_error(statement)
    return statement


@command(
    ".export",
    arguments="TABLE|QUERY FILE",
    summary="a table, or the rows of a query in quotes, to a file of one of these formats",
    examples=(
        ".export stock stock.parquet",
        ".export 'SELECT item FROM stock WHERE amount = 0' sold_out.csv",
    ),
    access=ExternalAccess.FILE,
)
def export(session: "ShellSession", arguments: Sequence[str]) -> None:
    source, file = arguments
    target = _text(str(parse_path(file)))
    if " " not in source.strip():
        with unplaced():
            session.run_statement(f"COPY {_table(source)} TO {target}")
        return
    query = source.rstrip().rstrip(";")
    with placed_in(query):
        session.run_statement(f"COPY (\n{query}\n) TO {target}")


def _table(name: str) -> str:
    return ".".join(map(quote_identifier, name.split(".")))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
