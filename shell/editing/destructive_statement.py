"""Statements that remove or change more than a person may mean, and what undoes them.

A pure function of the text. DELETE and UPDATE count where they have no WHERE of their own.
"""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.editing.tokens import Kind, Token, tokenize


@dataclass(frozen=True, slots=True)
class DestructiveStatement:
    """A statement that removes or changes much.

    Attributes:
        effect: as a sentence without its full stop.
        undo: a statement that undoes it, with `{now}` for the moment before it; empty if
            there is none.
        rolls_back: whether a transaction holds it; definitions are made at once.
    """

    effect: str
    undo: str
    rolls_back: bool = False

    def question(self, now: int, *, in_transaction: bool) -> str:
        """What to ask. `now`: this moment as a hybrid timestamp; `in_transaction`: one is open."""
        rolls_back = in_transaction and self.rolls_back
        way = "ROLLBACK" if rolls_back else self.undo.replace("{now}", str(now))
        back = f"{way} brings it back." if way else "Nothing brings it back."
        return f"{self.effect}. {back}"


_DROPPED = {
    "TABLE": "UNDROP TABLE {name}",
    "VIEW": "",
    "DATABASE": "",
    "SCHEMA": "",
    "INDEX": "",
    "SNAPSHOT": "",
}


def destructive_statement(sql: str) -> DestructiveStatement | None:
    """What one statement would remove or change; None if it is harmless."""
    tokens = [t for t in tokenize(sql) if t.kind not in (Kind.SPACE, Kind.COMMENT)]
    outer = _outside_parentheses(tokens)
    words = [token.word for token in outer]
    if not words:
        return None
    if words[0] == "WITH":
        start = next((i for i, word in enumerate(words) if word in ("DELETE", "UPDATE")), None)
        # Behind another verb it is a part of that statement, as in ON CONFLICT DO UPDATE.
        if start is None or {"SELECT", "INSERT", "UPSERT", "MERGE"} & set(words[1:start]):
            return None
        outer, words = outer[start:], words[start:]
    match words[0]:
        case "DELETE" | "UPDATE" if "WHERE" not in words:
            verb = "removes" if words[0] == "DELETE" else "changes"
            name = _name(outer[1:], skipped=("FROM", "IGNORE", "OR", "ONLY"))
            return DestructiveStatement(
                f"{words[0]} without WHERE {verb} all rows of {name}",
                f"RESTORE TABLE {name} TO {{now}}",
                rolls_back=True,
            )
        case "TRUNCATE":
            name = _name(outer[1:], skipped=("TABLE", "IF", "EXISTS"))
            return DestructiveStatement(
                f"TRUNCATE removes all rows of {name}",
                f"RESTORE TABLE {name} TO {{now}}",
                rolls_back=True,
            )
        case "DROP" if len(words) > 1 and words[1] in _DROPPED:
            name = _name(outer[2:], skipped=("IF", "EXISTS"))
            way = _DROPPED[words[1]].format(name=name)
            return DestructiveStatement(f"DROP {words[1]} takes {name} away", way)
        case "CREATE" if words[1:4] == ["OR", "REPLACE", "TABLE"]:
            name = _name(outer[4:], skipped=("IF", "NOT", "EXISTS"))
            return DestructiveStatement(
                f"CREATE OR REPLACE TABLE takes the rows of a table {name} away",
                f"UNDROP TABLE {name} AS ..",
            )
        case "ALTER" if words[1:2] == ["TABLE"] and "DROP" in words:
            return _dropped_part(outer)
    return None


def _dropped_part(tokens: Sequence[Token]) -> DestructiveStatement | None:
    """What ALTER TABLE .. DROP takes away with its values or rows."""
    table = _name(tokens[2:], skipped=("IF", "EXISTS"))
    # The table's name is one token, or three; an action begins behind it and behind each comma.
    start = 4 if len(tokens) > 3 and tokens[3].text == "." else 2
    for i, token in enumerate(tokens):
        if token.word != "DROP" or not (i == start + 1 or tokens[i - 1].text == ","):
            continue
        behind = tokens[i + 1 :]
        words = [word.word for word in behind[:4]]
        if words[:1] in (["CONSTRAINT"], ["INDEX"]):
            continue
        column = _name(behind, skipped=("COLUMN", "IF", "EXISTS"))
        part = "PARTITION" if "PARTITION" in words else "COLUMN"
        what = f"rows of {table}" if part == "PARTITION" else f"{column} of {table}"
        return DestructiveStatement(
            f"DROP {part} takes {what} away",
            f"CREATE TABLE .. AS SELECT * FROM {table} AS OF {{now}}",
        )
    return None


def _outside_parentheses(tokens: Sequence[Token]) -> list[Token]:
    depth, outer = 0, []
    for token in tokens:
        depth -= token.text == ")"
        if depth == 0 and token.text not in ("(", ")", ";"):
            outer.append(token)
        depth += token.text == "("
    return outer


def _name(tokens: Sequence[Token], skipped: Sequence[str]) -> str:
    """The name that comes first, with its database, as it was written."""
    rest = list(tokens)
    while rest and rest[0].word in skipped:
        rest.pop(0)
    parts = [rest[0].text] if rest else ["it"]
    while len(rest) > 2 and rest[1].text == ".":
        parts += [".", rest[2].text]
        rest = rest[2:]
    return "".join(parts)
