"""The few words that may come at a place of a definition: a pure function of its tokens."""

from collections.abc import Callable, Mapping, Sequence

from pykudu_sql.shell.editing.tokens import Kind, Token
from pykudu_sql.statements import list_compressions, list_encodings, list_statements

_NAME = "{name}"  # stands for any name

# What comes behind the last words of a statement, the longest match first; the statement's own
# first word stands before a colon where it matters.
_NEXT: Mapping[str, tuple[str, ...]] = {
    "PARTITION BY": ("HASH", "RANGE"),
    "CREATE: PARTITION": ("BY", "VALUES", "VALUE"),
    "RANGE PARTITION": ("VALUES", "VALUE"),
    "ADD PARTITION": ("VALUES", "VALUE"),
    "ALTER: ADD": ("COLUMN", "RANGE PARTITION"),
    "ALTER: DROP": ("COLUMN", "RANGE PARTITION"),
    "ALTER: ADD RANGE": ("PARTITION",),
    "ALTER: DROP RANGE": ("PARTITION",),
    "CREATE: PRIMARY": ("KEY",),
    "PARTITION VALUE": ("=",),
    "ALTER: TABLE {name}": (
        "ADD",
        "ADD CONSTRAINT",
        "ALTER COLUMN",
        "DROP",
        "DROP CONSTRAINT",
        "RENAME TO",
        "RENAME COLUMN",
        "SET TBLPROPERTIES",
    ),
    "ALTER: ALTER COLUMN {name}": ("SET", "DROP"),
    "RESTORE: TABLE {name}": ("TO",),
    "UNDROP: TABLE {name}": ("AS",),
    "COMMENT: ON": ("TABLE", "COLUMN", "VIEW", "DATABASE"),
    "COMMENT: ON TABLE {name}": ("IS",),
    "COMMENT: ON VIEW {name}": ("IS",),
    "COMMENT: ON DATABASE {name}": ("IS",),
    "COMMENT: . {name}": ("IS",),
    "DROP: IF": ("EXISTS",),
    "DROP: INDEX IF": ("EXISTS",),
    "DROP: INDEX {name}": ("ON",),
    "DROP: INDEX IF EXISTS {name}": ("ON",),
}
_NAMES: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "ENCODING": list_encodings,
    "COMPRESSION": list_compressions,
}
_BEHIND_BRACKETS: Mapping[str, tuple[str, ...]] = {
    "HASH": ("PARTITIONS",),
    "RANGE": ("(PARTITION VALUES",),
}
_STATEMENTS = ("CREATE", "ALTER", "RESTORE", "UNDROP", "COMMENT", "DROP")
_MOST_WORDS = 4


def statement_rest(past: Sequence[Token]) -> tuple[str, ...]:
    """The words that statements go on with that begin so: of CREATE, TABLE and others."""
    beginning = " ".join(token.word for token in past) + " "
    return tuple(
        text.removeprefix(beginning) for text in list_statements() if text.startswith(beginning)
    )


def next_words(past: Sequence[Token]) -> tuple[str, ...]:
    """The words that may come behind these tokens; empty where this is no such place."""
    words = [token.word or token.text for token in past]
    if words[:1] not in ([statement] for statement in _STATEMENTS):
        return ()
    if words[-1] == ")":
        return _BEHIND_BRACKETS.get(_before_brackets(words), ()) if "BY" in words else ()
    named = [*words[:-1], _NAME] if past[-1].kind in (Kind.WORD, Kind.QUOTED) else words
    for count in range(_MOST_WORDS, 0, -1):
        for ending in (" ".join(words[-count:]), " ".join(named[-count:])):
            for key in (f"{words[0]}: {ending}", ending):
                if key in _NEXT and len(words) > count:
                    return _NEXT[key]
    list_names = _NAMES.get(words[-1])
    return () if list_names is None else list_names()


def _before_brackets(words: Sequence[str]) -> str:
    """The word before the brackets that the last token closes."""
    depth = 0
    for i in range(len(words) - 1, 0, -1):
        depth += (words[i] == ")") - (words[i] == "(")
        if depth == 0:
            return words[i - 1]
    return ""
