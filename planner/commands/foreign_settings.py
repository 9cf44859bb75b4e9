"""SET and SHOW of settings in the forms of MySQL, PostgreSQL and T-SQL.

What asks for what is so here is taken: texts are UTF-8, times are UTC, a backslash in a string is
itself. The others are refused with what to write instead.
"""

from collections.abc import Mapping

from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.plan import NoOperation
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan

_OWN_TRANSACTIONS = "BEGIN .. COMMIT make a transaction; in Python connect(autocommit=False) does"
_NO_FOREIGN_KEYS = "there are no foreign keys and no unique columns: leave it out"
_RIGHTS = "who may read the files may read the database: leave it out"
_NO_WAITING = "nobody waits for locks: the first to commit wins; statement_timeout ends statements"
_INSTEAD: Mapping[str, str] = {
    "search_path": "USE db, or SET database = 'db', is for names that are written without one",
    "autocommit": _OWN_TRANSACTIONS,
    "implicit_transactions": _OWN_TRANSACTIONS,
    "foreign_key_checks": _NO_FOREIGN_KEYS,
    "unique_checks": _NO_FOREIGN_KEYS,
    "identity_insert": "leave it out: INSERT may give the values of an identity column",
    "nocount": "leave it out: every statement tells its number of rows",
    "role": _RIGHTS,
    "row_security": _RIGHTS,
    "lock_timeout": _NO_WAITING,
    "innodb_lock_wait_timeout": _NO_WAITING,
    "max_execution_time": "SET statement_timeout = '5 s' ends statements that take longer",
    "idle_in_transaction_session_timeout": "a transaction may be idle: leave it out",
    "default_transaction_isolation": "transactions read a snapshot, which is REPEATABLE READ",
    "work_mem": "connect(path, memory_limit='4 GB') is for all statements together",
    "sql_mode": 'there is one mode; SET double_quoted_strings = true reads "text" as a string',
    "quoted_identifier": "double quotes name columns, unless SET double_quoted_strings = true",
    "ansi_nulls": "x = NULL is never true, as in standard SQL: leave it out",
    "default_tablespace": "all files of a database lie in its folder: leave it out",
    "default_table_access_method": "all tables have one format: leave it out",
    "check_function_bodies": "there are no functions to define: leave it out",
    "client_min_messages": "there are no notices: leave it out",
    "datestyle": "times are written as in ISO 8601; to_char() writes them otherwise",
}
_OF_PROGRAM = "SET name = value is for a connection, connect(path, name=value) for a program"
_SCOPES: Mapping[str, str] = {
    "LOCAL": "SET name = value lasts as long as the connection, and RESET name ends it",
    "GLOBAL": _OF_PROGRAM,
    "PERSIST": _OF_PROGRAM,
}
_OF_SESSION = frozenset({"CHARACTERISTICS", "AUTHORIZATION", "TRANSACTION"})
_UTF8 = frozenset({"utf8", "utf-8", "utf8mb3", "utf8mb4", "unicode", "default"})
_UTC = frozenset({"utc", "gmt", "z", "etc/utc", "etc/gmt", "+00:00", "0", "default"})
_TRUE = frozenset({"on", "true", "1"})
_NULL_ORDER = (
    frozenset({"nulls_last_on_asc_first_on_desc", "postgres", "default"}),
    "NULL comes last, and first under DESC; ORDER BY a DESC NULLS LAST says otherwise",
)


def foreign_setting(tokens: TokenStream) -> NoOperation | None:
    """Read a setting of another database that asks for what is so; None for one of our own.

    `tokens`: behind SET; SESSION before one of our own is passed over. Raises NotSupportedError: a
    setting, or a scope, that there is not.
    """
    first, second = tokens.current, tokens.ahead(1)
    if first.word in _SCOPES and second.kind is TokenKind.WORD and second.word != "TO":
        what = "TRANSACTION" if second.word == "TRANSACTION" else "name"
        raise _unsupported(f"SET {first.word} {what}", _SCOPES[first.word], first.span)
    if first.word == "SESSION" and second.kind is TokenKind.WORD and second.word != "TO":
        tokens.take()
        if tokens.current.word in _OF_SESSION:
            hint = _RIGHTS if tokens.at("AUTHORIZATION") else "BEGIN READ ONLY is for a transaction"
            raise _unsupported(f"SET SESSION {second.word}", hint, second.span)
    start = tokens.current
    if tokens.accept("NAMES") or tokens.accept("CHARSET") or tokens.accept("CHARACTER", "SET"):
        done = _accept_if(tokens, _UTF8, "texts are UTF-8")
        if tokens.accept("COLLATE"):
            tokens.take()
        return _ended(tokens, done)
    if tokens.accept("TIME", "ZONE"):
        return _ended(tokens, _times_are_utc(tokens))
    name = start.name
    if name in _INSTEAD:
        raise _unsupported(f"the setting {name}", _INSTEAD[name], start.span)
    values = _FIXED.get(name)
    if values is None:
        return None
    tokens.take()
    if not tokens.accept_symbol("="):
        tokens.accept("TO")
    if name in _ZONES:
        return _ended(tokens, _times_are_utc(tokens))
    return _ended(tokens, _accept_if(tokens, *values))


_ZONES = frozenset({"timezone", "time_zone"})
_FIXED: Mapping[str, tuple[frozenset[str], str]] = {
    "timezone": (_UTC, "times are UTC"),
    "time_zone": (_UTC, "times are UTC"),
    "client_encoding": (_UTF8, "texts are UTF-8"),
    "character_set_client": (_UTF8, "texts are UTF-8"),
    "default_null_order": _NULL_ORDER,
    "null_order": _NULL_ORDER,
    "standard_conforming_strings": (_TRUE, "a backslash in a string is itself, but in E'..'"),
}


_FACTS: Mapping[str, str] = {
    "transaction_isolation": "repeatable read",
    "default_transaction_isolation": "repeatable read",
    "tx_isolation": "repeatable read",
    "timezone": "UTC",
    "time_zone": "UTC",
    "client_encoding": "UTF8",
    "server_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "datestyle": "ISO, YMD",
    "lc_collate": "C",
    "lc_ctype": "C",
}
_SEVERAL_WORDS: Mapping[str, tuple[str, ...]] = {
    "transaction_isolation": ("TRANSACTION", "ISOLATION", "LEVEL"),
    "timezone": ("TIME", "ZONE"),
}


def shown_setting(tokens: TokenStream, database: str) -> tuple[str, str] | None:
    """What a setting of another database would be here, as `SHOW name` has it; None: it is none.

    Args:
        tokens: behind SHOW; read only where such a setting is named.
        database: whose tables need no name of their database.

    Raises NotSupportedError: nothing here is like it.
    """
    for name, words in _SEVERAL_WORDS.items():
        if tokens.accept(*words):
            tokens.expect_end()
            return name, _FACTS[name]
    if tokens.ahead(1).kind is not TokenKind.END:
        return None
    word = tokens.current
    value = database if word.name == "search_path" else _FACTS.get(word.name)
    if value is not None:
        return tokens.take().name, value
    if word.name in _INSTEAD:
        raise _unsupported(f"the setting {word.name}", _INSTEAD[word.name], word.span)
    return None


def _times_are_utc(tokens: TokenStream) -> NoOperation:
    zone = tokens.current
    hint = "times are UTC; from_utc_timestamp(t, 'Europe/Berlin') gives those of a zone"
    return _accept_if(tokens, _UTC, hint, f"the time zone {zone.text:.40}")


def _accept_if(
    tokens: TokenStream, values: frozenset[str], fact: str, what: str = ""
) -> NoOperation:
    """Pass over a value that says what is so. Raises NotSupportedError: it says otherwise."""
    signed = tokens.current.text if tokens.accept_symbol("+") or tokens.accept_symbol("-") else ""
    token = tokens.take()
    text = token.text.strip("'\"").lower()
    if signed or text not in values:
        raise _unsupported(what or f"the value {token.text:.40}", fact, token.span)
    return NoOperation(f"Nothing to do: {fact.partition(';')[0]}.")


def _ended(tokens: TokenStream, done: NoOperation) -> NoOperation:
    tokens.expect_end()
    return done


def _unsupported(what: str, hint: str, span: SourceSpan) -> NotSupportedError:
    return NotSupportedError(f"{what} is not supported", hint=hint, span=span)
