"""Connections for asyncio: the same database, awaited.

Lives above `dbapi` and adds nothing to it. Each connection has a thread of its own, where its
statements run one after another.
"""

from pykudu_sql.aio.connection import AsyncConnection, connect
from pykudu_sql.aio.cursor import AsyncCursor

__all__ = ["AsyncConnection", "AsyncCursor", "connect"]
