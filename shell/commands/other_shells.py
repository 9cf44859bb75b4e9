"""Commands of sqlite3, DuckDB's shell and psql that have another name here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OTHER_SHELLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".backup": "pykudu-sql backup DB FOLDER, outside of the shell",
        ".cd": ".open and .read, which take a path",
        ".clone": "pykudu-sql backup and pykudu-sql restore, outside of the shell",
        ".dbinfo": "pykudu-sql inspect DB, outside of the shell",
        ".eqp": "EXPLAIN before a statement",
        ".excel": ".once FILE.csv",
        ".explain": "EXPLAIN before a statement",
        ".format": ".mode",
        ".fullschema": ".schema",
        ".indices": ".indexes",
        ".load": "SELECT and COPY alone: there are no extensions",
        ".nullvalue": ".null",
        ".print": "SELECT 'text'",
        ".restore": "pykudu-sql restore FOLDER DB, outside of the shell",
        ".separator": ".mode csv or .mode tsv",
        ".show": ".settings",
        ".stats": "SELECT * FROM sys.memory",
        ".system": ".shell",
        ".width": ".maxwidth",
        "\\c": ".open",
        "\\connect": ".open",
        "\\conninfo": ".settings",
        "\\copy": ".import, .export, or COPY without the backslash",
        "\\dn+": ".databases",
        "\\dp": "the rights of the database's directory",
        "\\dt+": ".tables",
        "\\du": "the rights of the database's directory",
        "\\dv": ".tables",
        "\\echo": "SELECT 'text'",
        "\\l+": ".databases",
        "\\pset": ".mode, .null and .pager",
        "\\z": "the rights of the database's directory",
    }
)
