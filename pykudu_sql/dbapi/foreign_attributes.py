"""Attributes of Python's sqlite3 that mean something there: setting one here is no silent no-op."""

from typing import Any, NoReturn

from pykudu_sql.storage.errors import NotSupportedError


class ForeignAttribute:
    """An attribute that cannot be set, and is not there to be read."""

    def __init__(self, hint: str) -> None:
        """`hint`: what there is instead."""
        self._hint = hint
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"there is no attribute '{self._name}': {self._hint}")

    def __set__(self, instance: Any, value: object) -> NoReturn:
        raise NotSupportedError(f"attribute '{self._name}' is not supported", hint=self._hint)


ROW_FACTORY = "rows are tuples; fetch_dicts() gives them by the names of their columns"
TEXT_FACTORY = "texts are str; CAST(x AS BINARY) gives bytes"
ISOLATION_LEVEL = "set autocommit, or pass it to connect(); BEGIN and COMMIT are statements"
