"""The kind of thing that a statement names next, where it is no table: a pure function."""

from collections.abc import Mapping, Sequence

from pykudu_sql.shell.editing.command_arguments import Suggest
from pykudu_sql.shell.editing.tokens import Token

_OF_STATEMENT: Mapping[tuple[str, ...], Suggest] = {
    ("USE",): Suggest.DATABASES,
    ("DROP", "DATABASE"): Suggest.DATABASES,
    ("DROP", "SCHEMA"): Suggest.DATABASES,
    ("ALTER", "DATABASE"): Suggest.DATABASES,
    ("COMMENT", "ON", "DATABASE"): Suggest.DATABASES,
    ("SHOW", "CREATE", "DATABASE"): Suggest.DATABASES,
    ("DROP", "INDEX"): Suggest.INDEXES,
    ("UNDROP", "TABLE"): Suggest.DROPPED_TABLES,
}


def expected_object(past: Sequence[Token]) -> Suggest | None:
    """What kind of thing is named behind these tokens; None: a table, or nothing of the kind."""
    words = [token.word for token in past]
    if words[-2:] == ["IF", "EXISTS"]:
        words = words[:-2]
    if words[:2] == ["ALTER", "TABLE"] and words[-2:] == ["DROP", "CONSTRAINT"]:
        return Suggest.CONSTRAINTS
    if words[-1:] == ["SNAPSHOT"] and words[0] != "CREATE":
        return Suggest.SNAPSHOTS
    return _OF_STATEMENT.get(tuple(words))
