"""Options behind the columns of CREATE TABLE: properties, and what other databases have.

Of the latter some ask for what is so here, or mean nothing to one engine; the others are refused
with what to write instead.
"""

from collections.abc import Mapping

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.errors import NotSupportedError

_CHARACTER_SETS = frozenset({"utf8", "utf8mb3", "utf8mb4", "ascii"})
_OPTIONS_ELSEWHERE = {
    "COLLATE": "texts compare by bytes",
    "AUTO_INCREMENT": "numbers go on behind the largest there is",
    "TABLESPACE": "all files of a database lie in its folder",
    "LOCATION": "all files of a database lie in its folder",
    "WITH": "properties are written TBLPROPERTIES ('name' = 'value')",
    "USING": "all tables have one format: leave it out",
    "ROW": "all tables have one format: leave it out",
    "CLUSTER": "rows lie in the order of the primary key",
    "CLUSTERED": "rows lie in the order of the primary key",
    "DISTRIBUTE": "write PARTITION BY HASH (columns) PARTITIONS n",
    "PARTITIONED": "write PARTITION BY HASH (columns) PARTITIONS n, or BY RANGE",
    "CLONE": "write CREATE TABLE t LIKE other, and INSERT INTO t SELECT * FROM other",
    "COPY": "write CREATE TABLE t LIKE other, and INSERT INTO t SELECT * FROM other",
    "INHERITS": "write CREATE TABLE t LIKE other",
}


def accept_without_meaning(tokens: TokenStream) -> bool:
    """Pass over an option of MySQL or SQLite that asks for what is so, or means nothing here.

    Raises NotSupportedError: a character set that texts do not have.
    """
    if tokens.accept("STRICT") or tokens.accept("WITHOUT", "ROWID") or tokens.accept_symbol(","):
        return True
    if tokens.accept("ENGINE") or tokens.accept("ROW_FORMAT"):
        tokens.accept_symbol("=")
        tokens.name("a name")
        return True
    first = 1 if tokens.at("DEFAULT") else 0
    words = [tokens.ahead(first + i).word for i in range(2)]
    if words[0] != "CHARSET" and words != ["CHARACTER", "SET"]:
        return False
    for _ in range(first + (1 if words[0] == "CHARSET" else 2)):
        tokens.take()
    tokens.accept_symbol("=")
    place = tokens.current
    if tokens.name("a character set") not in _CHARACTER_SETS:
        raise NotSupportedError(
            f"character set {place.text} is not supported",
            hint="texts are UTF-8",
            span=place.span,
        )
    return True


def refuse_option(tokens: TokenStream) -> None:
    """Refuse an option that tables do not have. Raises NotSupportedError: one comes next."""
    refuse_word(tokens, _OPTIONS_ELSEWHERE, "{} of a table")


def refuse_word(tokens: TokenStream, hints: Mapping[str, str], form: str) -> None:
    """Refuse a word of other databases.

    `hints`: what to write instead, by word; `form`: what the message names, with `{}` for the word.
    Raises NotSupportedError: one of the words comes next.
    """
    token = tokens.current
    if token.word in hints:
        raise NotSupportedError(
            f"{form.format(token.word)} is not supported", hint=hints[token.word], span=token.span
        )


def table_properties(tokens: TokenStream) -> tuple[tuple[str, str], ...]:
    """`('name' = 'value', ..)` behind TBLPROPERTIES; the last value of a name holds."""
    tokens.expect_symbol("(")
    values: dict[str, str] = {}
    while True:
        name = tokens.string()
        tokens.expect_symbol("=")
        values[name] = tokens.string()
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return tuple(values.items())


def property_names(tokens: TokenStream) -> tuple[str, ...]:
    """`[IF EXISTS] ('name', ..)` behind UNSET TBLPROPERTIES."""
    tokens.accept("IF", "EXISTS")
    tokens.expect_symbol("(")
    names = [tokens.string()]
    while tokens.accept_symbol(","):
        names.append(tokens.string())
    tokens.expect_symbol(")")
    return tuple(names)
