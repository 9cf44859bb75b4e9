"""Statements of other databases that are not offered here, and what to write instead."""

from collections.abc import Mapping
from types import MappingProxyType

from pykudu_sql.planner.lexer import source_position
from pykudu_sql.planner.token_stream import TokenStream
from pykudu_sql.storage.errors import NotSupportedError

_FILES = "files are loaded by `pykudu-sql load` and by connection.append(table, data)"
_RIGHTS = "who may read the files may read the database"
_HEADS: Mapping[str, str] = MappingProxyType(
    {
        "GRANT": _RIGHTS,
        "REVOKE": _RIGHTS,
        "COPY": _FILES,
        "LOAD": _FILES,
        "ATTACH": "a connection has one database; open another connection",
        "DETACH": "close the connection",
        "CALL": "there are no procedures",
        "PREPARE": "statements are kept by their text; pass parameters for `?`",
        "EXECUTE": "statements are kept by their text; pass parameters for `?`",
        "LOCK": "transactions need no locks: the first to commit wins",
        "ANALYZE": "statistics are computed when SHOW COLUMN STATS asks for them",
        "PRAGMA": "see DESCRIBE, SHOW SETTINGS and the schema information_schema",
    }
)
_CREATED: Mapping[str, str] = MappingProxyType(
    {
        "MATERIALIZED": "CREATE TABLE .. AS SELECT keeps the rows of a query",
        "TEMPORARY": "create a table and drop it again",
        "TEMP": "create a table and drop it again",
        "SEQUENCE": "the hidden counter of a NON UNIQUE PRIMARY KEY numbers rows",
        "FUNCTION": "SHOW FUNCTIONS lists those there are",
        "TRIGGER": "CHANGES(t, a, b) tells what happened to a table",
        "ROLE": _RIGHTS,
        "USER": _RIGHTS,
    }
)


def refuse_what_is_not_offered(tokens: TokenStream) -> None:
    """Say of a known statement that is not offered what there is instead; let others pass.

    Args:
        tokens: at the statement's first word.

    Raises:
        NotSupportedError: it is one of those.
    """
    first, second = tokens.current, tokens.ahead(1)
    if first.word == "CREATE" and second.word in _CREATED:
        what, hint = f"CREATE {second.word}", _CREATED[second.word]
    elif first.word in _HEADS:
        what, hint = first.word, _HEADS[first.word]
    else:
        return
    position = source_position(tokens.text, first.start, len(first.text))
    raise NotSupportedError(f"{what} is not supported", hint=hint, position=position)
