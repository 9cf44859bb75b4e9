"""What could come at the cursor: a pure function of the text typed.

It knows no database and no terminal. The answer names kinds (tables, columns of these tables,
keywords) and the part already typed; `completer` maps kinds to names.
"""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.editing.command_arguments import COMMAND_ARGUMENTS, Suggest
from pykudu_sql.shell.editing.derived_columns import derived_columns
from pykudu_sql.shell.editing.next_words import next_words, statement_rest
from pykudu_sql.shell.editing.object_names import expected_object
from pykudu_sql.shell.editing.query_scopes import is_visible, scopes
from pykudu_sql.shell.editing.tokens import KEYWORDS, Kind, Token, tokenize, words


@dataclass(frozen=True, slots=True)
class Completion:
    """What to suggest at the cursor.

    Attributes:
        kinds: in the order to show them; empty where nothing can be suggested.
        prefix: the part of the word before the cursor.
        tables: names of tables and common table expressions, whose columns are listed.
        names: aliases and names of common table expressions that may be written here.
        columns: columns of the subqueries that are named in the statement.
        setting: whose values are suggested.
        joined: (alias, table) of what a join condition is about, the joined table last.
        next: the words that may come.
        schema: the one whose system tables are suggested.
    """

    kinds: tuple[Suggest, ...]
    prefix: str = ""
    tables: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    setting: str = ""
    joined: tuple[tuple[str, str], ...] = ()
    next: tuple[str, ...] = ()
    schema: str = ""


NOTHING = Completion(())

_BEFORE_TABLE = words("FROM JOIN INTO UPDATE TABLE DESCRIBE UPSERT FLUSH OPTIMIZE VACUUM SUMMARIZE")
# The last word of what SHOW lists of one table.
_SHOWN_OF_TABLE = words("PARTITIONS STATS FILES ROWSETS TABLETS SCHEMA INDEXES")
_BEFORE_EXPRESSION = words(
    "SELECT WHERE ON AND OR NOT HAVING BY SET CASE WHEN THEN ELSE DISTINCT BETWEEN IN LIKE "
    "QUALIFY USING DIV RETURNING ALL"
)
_LINE_READ = 2000  # characters of a line typed before
_SYSTEM_SCHEMAS = frozenset({"sys", "information_schema"})
_BEFORE_COLUMN = words("COLUMN CHANGE MODIFY")
# Statements that go on with a word of a list of their own.
_AFTER_FIRST = {
    "SHOW": Suggest.LISTINGS,
    "SET": Suggest.SETTINGS,
    "SET DATABASE": Suggest.SETTINGS,
    "RESET": Suggest.SETTINGS,
    "RESET DATABASE": Suggest.SETTINGS,
}
# A word that ends the list of relations a FROM began.
_ENDS_FROM = words(
    "WHERE GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT SET VALUES SELECT QUALIFY WINDOW"
)
_EXPRESSION = (Suggest.COLUMNS, Suggest.FUNCTIONS, Suggest.KEYWORDS)
_BEFORE_FROM = (Suggest.COLUMNS, Suggest.COLUMNS_OF_ALL, Suggest.FUNCTIONS, Suggest.KEYWORDS)


def complete(text: str, cursor: int) -> Completion:
    """What could stand at the cursor.

    `text`: everything typed, also what is behind the cursor; `cursor`: offset into it.
    """
    before = text[:cursor]
    if before.lstrip()[:1] in (".", "\\"):
        return _complete_command(before.lstrip())
    statement, tokens = _statement_at(text, cursor)
    typed = [token for token in tokens if token.start < cursor]
    if (setting := _setting_of(typed, cursor)) is not None:
        return setting
    if typed and typed[-1].end >= cursor and _is_literal(typed[-1], cursor):
        return NOTHING
    prefix = ""
    if typed and typed[-1].end >= cursor and typed[-1].kind in (Kind.WORD, Kind.QUOTED):
        last = typed.pop()
        prefix = last.text[: cursor - last.start]
    past = [t for t in typed if t.kind not in (Kind.SPACE, Kind.COMMENT)]
    return _complete_sql(past, statement, prefix)


def relations_by_recency(lines: Sequence[str]) -> list[str]:
    """The tables and views that lines name, those of the last line first.

    `lines`: as typed, the oldest first; of a long one the beginning is read.
    """
    named: dict[str, None] = {}
    for line in reversed(lines):
        tokens = tokenize(line[:_LINE_READ])
        meaningful = [t for t in tokens if t.kind not in (Kind.SPACE, Kind.COMMENT)]
        named.update(dict.fromkeys(table for _, table in _relations(meaningful)))
    return list(named)


def _complete_command(before: str) -> Completion:
    name, blank, rest = before.partition(" ")
    if not blank:
        return Completion((Suggest.COMMANDS,), name)
    kinds, rest = COMMAND_ARGUMENTS.get(name, ()), rest.lstrip()
    if len(kinds) < 2:
        return Completion(kinds[0], rest) if kinds else NOTHING
    *past, word = rest.split(" ")
    return Completion(kinds[min(len(past), len(kinds) - 1)], word)


def _setting_of(typed: Sequence[Token], cursor: int) -> Completion | None:
    """The values of a setting behind `SET name =`, also inside the quotes of one."""
    prefix = ""
    if typed and typed[-1].end >= cursor and typed[-1].kind in (Kind.WORD, Kind.STRING):
        prefix = typed[-1].text[: cursor - typed[-1].start]
        typed = typed[:-1]
    past = [t for t in typed if t.kind not in (Kind.SPACE, Kind.COMMENT)]
    words = [token.word or token.text for token in past]
    if words[:1] != ["SET"] or len(past) < 3 or words[-1] not in ("=", "TO"):
        return None
    if len(past) - (words[1] in ("DATABASE", "SESSION")) != 3:
        return None
    return Completion((Suggest.VALUES,), prefix, setting=past[-2].name)


def _is_literal(token: Token, cursor: int) -> bool:
    """Whether the cursor is inside, or right behind, something that cannot be completed."""
    if token.kind is Kind.NUMBER:
        return True
    if token.kind in (Kind.STRING, Kind.COMMENT):
        line_comment = token.text.startswith("--")
        return cursor < token.end or not token.closed or line_comment
    return False


def _statement_at(text: str, cursor: int) -> tuple[list[Token], list[Token]]:
    """Meaningful tokens, and all tokens, of the one statement the cursor is in."""
    tokens: list[Token] = []
    for token in tokenize(text):
        if token.text == ";":
            if token.end > cursor:
                break
            tokens = []
        else:
            tokens.append(token)
    return [t for t in tokens if t.kind not in (Kind.SPACE, Kind.COMMENT)], tokens


def _complete_sql(past: Sequence[Token], statement: Sequence[Token], prefix: str) -> Completion:
    if not past:
        return Completion((Suggest.STATEMENTS,), prefix)
    if (kind := _AFTER_FIRST.get(" ".join(token.word for token in past))) is not None:
        return Completion((kind,), prefix)
    named_anywhere = _relations(statement)
    relations = _visible_relations(statement, len(past))
    expressions = _common_table_expressions(statement)
    tables = tuple(dict.fromkeys(table for _, table in relations))
    derived = derived_columns(statement)
    previous = past[-1]
    if previous.text == "." and len(past) > 1:
        owner = past[-2].name
        if owner in _SYSTEM_SCHEMAS and len(past) > 2 and _expects_table(past[:-2]):
            return Completion((Suggest.SYSTEM_TABLES,), prefix, schema=owner)
        owners = tuple(dict.fromkeys(t for alias, t in named_anywhere if owner in (alias, t)))
        named = tuple(c for t in owners or (owner,) for c in derived.get(t, ()))
        return Completion((Suggest.COLUMNS,), prefix, owners or (owner,), columns=named)
    if (kind := expected_object(past)) is not None:
        return Completion((kind,), prefix, tables)
    if following := next_words(past):
        return Completion((Suggest.NEXT,), prefix, next=following)
    if _expects_table(past):
        return Completion((Suggest.TABLES,), prefix, names=expressions)
    if _expects_column(past) or _in_column_list(past):
        return Completion((Suggest.COLUMNS,), prefix, tables)
    if _expects_type(past):
        return Completion((Suggest.TYPES,), prefix)
    if _expects_moment(past):
        return Completion((Suggest.NEXT, Suggest.FUNCTIONS), prefix, next=("SNAPSHOT",))
    if previous.word in _BEFORE_EXPRESSION or _is_operator(previous):
        if previous.word == "ON" and len(joined := tuple(_relations(past))) > 1:
            return Completion(
                (Suggest.JOINS, *_EXPRESSION), prefix, tables, _aliases(relations), joined=joined
            )
        aliases = _aliases(relations)
        # A subquery's own columns are those of its FROM; outside they are those it names.
        # Before there is a FROM, those of WITH are what will be read.
        read = [n for n in derived if n in tables or n not in expressions or not tables]
        columns = tuple(dict.fromkeys(c for name in read for c in derived[name]))
        kinds = _BEFORE_FROM if _lacks_from(statement, len(past)) else _EXPRESSION
        return Completion(kinds, prefix, tables, aliases, columns)
    following = statement_rest(past)
    if past[0].word == "EXPLAIN" and {token.word for token in past} <= {"EXPLAIN", "ANALYZE"}:
        return Completion((Suggest.NEXT, Suggest.STATEMENTS), prefix, next=following)
    return Completion((Suggest.NEXT if following else Suggest.KEYWORDS,), prefix, next=following)


def _aliases(relations: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(alias for alias, table in relations if alias != table)


def _is_operator(token: Token) -> bool:
    return token.kind is Kind.SYMBOL and token.text not in (")", ".")


def _expects_table(past: Sequence[Token]) -> bool:
    past = _without_if_exists(past)
    previous, first = past[-1], past[0].word
    if first in ("COPY", "DESC") and len(past) == 1:
        return True
    if first == "COPY" and previous.word == "FROM" and "SELECT" not in _words(past):
        return False  # a file
    if first == "COMMENT" and previous.word in ("COLUMN", "VIEW"):
        return True
    if first == "SHOW" and len(past) > 1:
        if previous.word == "IN":
            return True
        if previous.word in _SHOWN_OF_TABLE and "COLUMNS" not in _words(past):
            return True
    if first in ("CREATE", "DROP"):
        words = _words(past)
        if previous.word == "ON" and "INDEX" in words[:3]:
            return True
        if previous.text == "," and words[:2] in (["DROP", "TABLE"], ["DROP", "VIEW"]):
            return True
        if previous.word == "LIKE" and "TABLE" in words and "SELECT" not in words:
            return True
    if previous.word == "USING" and first in ("MERGE", "DELETE"):
        return True
    if previous.word == "VIEW":
        return past[0].word != "CREATE"
    if previous.word == "TABLES":
        return False
    if previous.word in _BEFORE_TABLE:
        # EXTRACT(year FROM ...) and `ON CONFLICT DO UPDATE` take no table.
        return not (previous.word == "FROM" and _is_open_function(past[:-1], "EXTRACT"))
    return previous.text == "," and _in_from_list(past[:-1])


def _words(tokens: Sequence[Token]) -> list[str]:
    return [token.word for token in tokens]


def _without_if_exists(past: Sequence[Token]) -> Sequence[Token]:
    """The tokens but for IF EXISTS, or IF NOT EXISTS, at their end."""
    for ending in (["IF", "EXISTS"], ["IF", "NOT", "EXISTS"]):
        if len(past) > len(ending) and _words(past[-len(ending) :]) == ending:
            return past[: -len(ending)]
    return past


def _expects_column(past: Sequence[Token]) -> bool:
    past = _without_if_exists(past)
    if past[-1].word == "MODIFY":
        return past[0].word == "ALTER"
    return past[-1].word in _BEFORE_COLUMN and past[0].word != "COMMENT"


def _lacks_from(statement: Sequence[Token], cursor: int) -> bool:
    """Whether the query of the cursor has a SELECT, and no FROM that says what it reads."""
    scope_of = scopes(statement)
    scope = scope_of[min(cursor, len(statement))]
    own = {t.word for t, of in zip(statement, scope_of, strict=False) if of == scope}
    return "SELECT" in own and "FROM" not in own


def _expects_moment(past: Sequence[Token]) -> bool:
    """Whether AS OF stands before the cursor, or RESTORE TABLE t TO."""
    if past[-1].word == "OF":
        return len(past) > 1 and past[-2].word == "AS"
    return past[-1].word == "TO" and past[0].word == "RESTORE"


def _is_open_function(past: Sequence[Token], name: str) -> bool:
    depth = 0
    for position in range(len(past) - 1, 0, -1):
        depth += (past[position].text == ")") - (past[position].text == "(")
        if depth < 0:
            return past[position - 1].word == name
    return False


def _in_from_list(past: Sequence[Token]) -> bool:
    """Whether a comma here separates relations: the last clause at this depth is a FROM."""
    depth = 0
    for token in reversed(past):
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0:
            return False
        if depth == 0 and token.word == "FROM":
            return True
        if depth == 0 and token.word in _ENDS_FROM | {"ON", "BY"}:
            return False
    return False


def _in_column_list(past: Sequence[Token]) -> bool:
    """Whether the cursor is in the parentheses of `INSERT INTO t (` or `PRIMARY KEY (`."""
    opened = next((i for i in range(len(past) - 1, -1, -1) if past[i].text in "()"), -1)
    if opened < 1 or past[opened].text != "(":
        return False
    if past[opened - 1].word in ("KEY", "HASH", "RANGE"):
        return True
    if past[0].word == "CREATE" and "INDEX" in _words(past[:3]):
        return True
    if past[0].word == "COPY" and opened == 2:
        return True
    return opened >= 2 and past[opened - 2].word == "INTO"


def _expects_type(past: Sequence[Token]) -> bool:
    """Whether a column was just named in CREATE TABLE or ADD COLUMN, or a CAST is open."""
    if past[-1].text == "::" or (past[-1].word == "AS" and _is_open_function(past, "CAST")):
        return True
    if past[-1].kind not in (Kind.WORD, Kind.QUOTED) or len(past) < 3:
        return False
    before = past[-2]
    if past[0].word == "CREATE" and before.text in ("(", ","):
        return past[-1].word not in ("PRIMARY", "NON", "PARTITION", "HASH", "RANGE")
    return past[0].word == "ALTER" and before.word == "COLUMN" and past[-3].word == "ADD"


def _visible_relations(statement: Sequence[Token], cursor: int) -> list[tuple[str, str]]:
    """`_relations` that can be named before the token at the cursor."""
    scope_of = scopes(statement)
    visible = [is_visible(scope, scope_of[min(cursor, len(statement))]) for scope in scope_of]
    return [pair for place, pair in _placed_relations(statement) if visible[place]]


def _relations(statement: Sequence[Token]) -> list[tuple[str, str]]:
    """(alias, table) of everything FROM, JOIN, INTO, UPDATE and ALTER TABLE name.

    CREATE TABLE names one whose columns there are not yet, CREATE INDEX ON one that is there.
    """
    return [pair for _, pair in _placed_relations(statement)]


def _placed_relations(statement: Sequence[Token]) -> list[tuple[int, tuple[str, str]]]:
    """`_relations`, each with the number of the token before it."""
    relations = []
    for i, token in enumerate(statement[:-1]):
        listed = token.text == "," and _in_from_list(statement[:i])
        if not (listed or _names_relation(statement, token, i)):
            continue
        table = statement[i + 1]
        if not _is_name(table):
            continue
        name, rest = table.name, statement[i + 2 :]
        if len(rest) > 1 and rest[0].text == "." and rest[1].kind in (Kind.WORD, Kind.QUOTED):
            table, rest = rest[1], rest[2:]
            name = f"{name}.{table.name}"
        if rest and rest[0].word == "AS":
            rest = rest[1:]
        alias = rest[0] if rest and _is_name(rest[0]) else table
        relations.append((i, (alias.name, name)))
    return relations


def _names_relation(statement: Sequence[Token], token: Token, place: int) -> bool:
    """Whether a word has the name of a relation behind it that can be read."""
    first = statement[0].word
    if token.word == "TABLE":
        return first != "CREATE"
    if token.word == "USING":
        return first in ("MERGE", "DELETE")
    if token.word == "ON":
        return first == "CREATE" and "INDEX" in _words(statement[1:3])
    if token.word == "COPY":
        return place == 0
    return token.word in ("FROM", "JOIN", "INTO", "UPDATE")


def _is_name(token: Token) -> bool:
    return token.kind is Kind.QUOTED or (token.kind is Kind.WORD and token.word not in KEYWORDS)


def _common_table_expressions(statement: Sequence[Token]) -> tuple[str, ...]:
    """Names that WITH defines."""
    if not statement or statement[0].word != "WITH":
        return ()
    return tuple(
        token.name
        for token, after, bracket in zip(statement, statement[1:], statement[2:], strict=False)
        if _is_name(token) and after.word == "AS" and bracket.text == "("
    )
