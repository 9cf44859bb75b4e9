"""The names for kinds of completion, from the open database, for prompt_toolkit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

import pykudu_sql
from pykudu_sql.settings import SETTINGS
from pykudu_sql.shell.editing.command_arguments import Suggest
from pykudu_sql.shell.editing.completion import Completion as CompletionContext
from pykudu_sql.shell.editing.completion import complete, relations_by_recency
from pykudu_sql.shell.editing.join_conditions import join_conditions
from pykudu_sql.shell.editing.open_call import open_call
from pykudu_sql.shell.editing.tokens import FUNCTIONS, KEYWORDS, TYPES
from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.own_queries import query
from pykudu_sql.shell.settings import FORMATS, saved_names
from pykudu_sql.statements import list_show_statements, list_statements

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

# A column with the letters typed is more often meant than one of the many functions.
_AFTER_COLUMNS = (Suggest.FUNCTIONS, Suggest.KEYWORDS)
_LINES_READ, _MOST_RELATIONS = 50, 500
_FUZZY_LETTERS = 2  # below that, too many names have them


class ShellCompleter(Completer):
    """Suggests names of the session's database, SQL words and commands."""

    def __init__(
        self, session: "ShellSession", typed: Callable[[], Sequence[str]] = list[str]
    ) -> None:
        """`typed`: returns what was typed before, the oldest first."""
        self._session = session
        self._typed = typed
        self._paths = PathCompleter(expanduser=True)
        self._cached_functions: tuple[str, ...] = ()
        self._cached_signatures: Mapping[str, tuple[str, ...]] | None = None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """See prompt_toolkit."""
        completion = complete(document.text, document.cursor_position)
        # A menu over an empty line or after every blank would be in the way; Tab asks for it.
        if (
            not completion.prefix
            and not complete_event.completion_requested
            and not completion.tables
        ):
            return
        if Suggest.FILES in completion.kinds:
            if self._session.safe:
                return
            path = Document(completion.prefix, len(completion.prefix))
            yield from self._paths.get_completions(path, complete_event)
            return
        candidates: dict[str, tuple[str, Suggest]] = {}
        for kind in completion.kinds:
            for name in self._names(kind, completion):
                candidates.setdefault(name.lower(), (name, kind))
        names = [pair for pair in candidates.values() if pair[0] != completion.prefix]
        by_prefix = [pair for pair in names if _has_prefix(pair[0], completion.prefix)]
        # Fuzzy matches are suggested only if no name begins with the letters typed.
        if not by_prefix and completion.prefix.lower() not in candidates:
            by_prefix = sorted(
                (pair for pair in names if is_fuzzy_match(pair[0], completion.prefix)),
                key=lambda pair: (pair[1] in _AFTER_COLUMNS, len(pair[0])),
            )
        for name, kind in by_prefix:
            yield Completion(
                name, -len(completion.prefix), display=escape(name), display_meta=kind.value
            )

    def _names(self, kind: Suggest, completion: CompletionContext) -> Iterator[str]:
        lower = completion.prefix.isalpha() and completion.prefix.islower()
        fold: Callable[[str], str] = str.lower if lower else str
        match kind:
            case Suggest.TABLES:
                yield from completion.names
                yield from map(_quote_if_needed, self._tables())
                yield from map(_quote_if_needed, self._views())
                yield from self._system_tables()
            case Suggest.SYSTEM_TABLES:
                of_schema = f"{completion.schema}."
                yield from (
                    name.removeprefix(of_schema)
                    for name in self._system_tables()
                    if name.startswith(of_schema)
                )
            case Suggest.DATABASES:
                yield from map(_quote_if_needed, self._databases())
            case Suggest.INDEXES:
                yield from map(_quote_if_needed, self._indexes())
            case Suggest.DROPPED_TABLES:
                rows = self._rows("SHOW DROPPED TABLES")
                yield from dict.fromkeys(_quote_if_needed(row[0]) for row in rows)
            case Suggest.CONSTRAINTS:
                yield from map(_quote_if_needed, self._constraints(completion.tables))
            case Suggest.SAVED:
                yield from saved_names()
            case Suggest.COLUMNS:
                yield from map(_quote_if_needed, completion.columns)
                yield from map(_quote_if_needed, self._columns(completion.tables))
                yield from completion.names
            case Suggest.COLUMNS_OF_ALL:
                yield from map(_quote_if_needed, self._columns(self._relations_by_use()))
            case Suggest.JOINS:
                yield from self._joins(completion.joined)
            case Suggest.NEXT:
                yield from map(fold, completion.next)
            case Suggest.STATEMENTS:
                yield from map(fold, list_statements())
            case Suggest.LISTINGS:
                yield from map(fold, list_show_statements())
            case Suggest.SETTINGS:
                yield from sorted(SETTINGS)
            case Suggest.KEYWORDS:
                yield from map(fold, sorted(KEYWORDS))
            case Suggest.TYPES:
                yield from map(fold, sorted(TYPES))
            case Suggest.VALUES:
                if (setting := SETTINGS.get(completion.setting)) is not None:
                    yield from setting.offered
            case Suggest.SNAPSHOTS:
                yield from map(_quote_if_needed, self._snapshots())
            case Suggest.FUNCTIONS:
                yield from self._functions()
            case Suggest.COMMANDS:
                yield from self._commands()
            case Suggest.FORMATS:
                yield from FORMATS
            case Suggest.SWITCHES:
                yield from ("on", "off")
            case Suggest.FILES:
                return

    def _commands(self) -> Iterator[str]:
        # The commands are a tenth of the start, and most first lines are none.
        from pykudu_sql.shell.commands.registry import COMMANDS

        return (name for command in COMMANDS for name in command.names)

    def _tables(self) -> list[str]:
        return self._session.connection.list_tables()

    def _system_tables(self) -> list[str]:
        return self._session.connection.list_system_tables()

    def _views(self) -> list[str]:
        return [name for (name,) in self._rows("SHOW VIEWS")]

    def _indexes(self) -> list[str]:
        return [name for (name,) in self._rows("SELECT DISTINCT name FROM sys.indexes ORDER BY 1")]

    def _constraints(self, tables: Sequence[str]) -> list[str]:
        rows = self._rows(
            "SELECT table_name, constraint_name FROM information_schema.check_constraints"
        )
        return sorted({name for table, name in rows if table in tables})

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return query(self._session.connection, statement)
        except pykudu_sql.Error:
            return []  # such as of a transaction that has failed

    def _relations_by_use(self) -> list[str]:
        """Tables and views, at most `_MOST_RELATIONS`: those that were named last come first."""
        names = dict.fromkeys([*self._tables(), *self._views()])
        recent = relations_by_recency(self._typed()[-_LINES_READ:])
        used = [name for name in recent if name in names]
        return list(dict.fromkeys([*used, *names]))[:_MOST_RELATIONS]

    def _databases(self) -> list[str]:
        return [name for name, *_ in self._rows("SHOW DATABASES")]

    def _snapshots(self) -> list[str]:
        return [name for (name,) in self._rows("SELECT name FROM sys.snapshots")]

    def _functions(self) -> Sequence[str]:
        """All functions, read once; those of `FUNCTIONS` while they cannot be read."""
        if not self._cached_functions:
            try:
                rows = query(self._session.connection, "SHOW FUNCTIONS")
            except pykudu_sql.Error:
                return sorted(FUNCTIONS)
            names = [name for (name,) in rows]
            # Those that people use most come first.
            self._cached_functions = (
                *(n for n in names if n in FUNCTIONS),
                *(n for n in names if n not in FUNCTIONS),
            )
        return self._cached_functions

    def _joins(self, joined: Sequence[tuple[str, str]]) -> Iterator[str]:
        columns: dict[str, list[str]] = {}
        keys: dict[str, list[str]] = {}
        connection = self._session.connection
        for _, table in joined:
            try:
                columns[table] = connection.list_columns(table)
                keys[table] = connection.list_keys(table)
            except pykudu_sql.Error:
                continue
        yield from join_conditions(joined[-1], joined[:-1], columns, keys)

    def signature(self, document: Document) -> tuple[str, ...]:
        """What the function takes whose argument is being typed, a text for each form."""
        call = open_call(document.text, document.cursor_position)
        if call is None:
            return ()
        if self._cached_signatures is None:
            try:
                self._cached_signatures = self._session.connection.list_signatures()
            except pykudu_sql.Error:
                return ()
        return tuple(f"{call.name}({form})" for form in self._cached_signatures.get(call.name, ()))

    def _columns(self, tables: Iterable[str]) -> Iterator[str]:
        for table in tables:
            try:
                yield from self._session.connection.list_columns(table)
            except pykudu_sql.Error:
                continue  # half a name, an alias of a subquery: no columns to offer


def is_fuzzy_match(name: str, typed: str) -> bool:
    """Whether a name has the letters typed, in order, the first one at the beginning of a word."""
    name, typed = name.lower(), typed.lower()
    if len(typed) < _FUZZY_LETTERS:
        return False
    starts = [i for i, c in enumerate(name) if c == typed[0] and not name[i - 1 : i].isalnum()]
    return any(_is_subsequence(typed, name[start:]) for start in starts) or typed in name


def _is_subsequence(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _has_prefix(name: str, prefix: str) -> bool:
    return name.lower().startswith(prefix.lower())


def _quote_if_needed(name: str) -> str:
    """A name the way SQL needs it: quoted unless it is a plain word in lower case."""
    plain = name.isidentifier() and name == name.lower() and name.upper() not in KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'
