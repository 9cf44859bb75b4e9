"""The kinds of completion, and which of them each argument of each command has: closed lists."""

from collections.abc import Mapping
from enum import StrEnum


class Suggest(StrEnum):
    """A kind of thing to suggest."""

    STATEMENTS = "statements"
    LISTINGS = "listings"
    SETTINGS = "settings"
    VALUES = "values"
    SNAPSHOTS = "snapshots"
    KEYWORDS = "keywords"
    TYPES = "types"
    FUNCTIONS = "functions"
    TABLES = "tables"
    SYSTEM_TABLES = "system tables"
    DATABASES = "databases"
    INDEXES = "indexes"
    DROPPED_TABLES = "dropped tables"
    CONSTRAINTS = "constraints"
    COLUMNS = "columns"
    COLUMNS_OF_ALL = "columns of all tables"
    JOINS = "join conditions"
    NEXT = "words"
    COMMANDS = "commands"
    SAVED = "saved statements"
    FORMATS = "formats"
    SWITCHES = "switches"
    FILES = "files"


Kinds = tuple[Suggest, ...]
_TABLES: tuple[Kinds, ...] = ((Suggest.TABLES,),)
_FILES: tuple[Kinds, ...] = ((Suggest.FILES,),)
_SWITCHES: tuple[Kinds, ...] = ((Suggest.SWITCHES,),)

# For each command the kinds of its first word, its second, and so on; a single entry is for all of
# the rest of the line.
COMMAND_ARGUMENTS: Mapping[str, tuple[Kinds, ...]] = {
    ".mode": ((Suggest.FORMATS,), (Suggest.TABLES,)),
    ".copy": ((Suggest.FORMATS,),),
    ".timer": _SWITCHES,
    "\\timing": _SWITCHES,
    ".expanded": _SWITCHES,
    "\\x": _SWITCHES,
    ".echo": _SWITCHES,
    ".bail": _SWITCHES,
    ".guard": _SWITCHES,
    ".separators": _SWITCHES,
    ".headers": _SWITCHES,
    ".progress": _SWITCHES,
    ".pager": _SWITCHES,
    ".read": _FILES,
    "\\i": _FILES,
    ".output": _FILES,
    "\\o": _FILES,
    ".once": _FILES,
    ".open": _FILES,
    ".edit": _FILES,
    "\\e": _FILES,
    ".import": ((Suggest.FILES,), (Suggest.TABLES,)),
    ".export": ((Suggest.TABLES,), (Suggest.FILES,)),
    ".tables": _TABLES,
    "\\dt": _TABLES,
    ".schema": _TABLES,
    ".describe": _TABLES,
    "\\d": _TABLES,
    ".columns": _TABLES,
    "\\d+": _TABLES,
    ".indexes": _TABLES,
    "\\di": _TABLES,
    ".dump": _TABLES,
    ".diff": ((Suggest.TABLES,), (Suggest.SNAPSHOTS,), (Suggest.SNAPSHOTS,)),
    ".log": _TABLES,
    ".why": _TABLES,
    ".layout": _TABLES,
    ".asof": ((Suggest.SNAPSHOTS,),),
    ".functions": ((Suggest.FUNCTIONS,),),
    "\\df": ((Suggest.FUNCTIONS,),),
    ".run": ((Suggest.SAVED,), ()),
    ".save": ((Suggest.SAVED,), ()),
    ".help": ((Suggest.COMMANDS, Suggest.STATEMENTS),),
    "\\h": ((Suggest.COMMANDS, Suggest.STATEMENTS),),
}
