"""The process that Spark's Python workers are forked from.

Spark's own (`pyspark.daemon`), but for two things. When a LIMIT has its rows, Spark closes the
connections of workers that have more to give, and of each its daemon prints a traceback. And what
our tasks import is imported here, once: a worker that starts takes a third of the processor time,
and one starts for each core, and behind each task that failed. Run as
`python -m pykudu_sql.spark.sessions.worker_daemon MODULE`, where the module is that of the workers.
"""

import socket
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Final

from pyspark import daemon

# They start no thread of Python's. Those of OpenBLAS and jemalloc, which NumPy and Arrow start,
# see to forks themselves.
OF_TASKS: Final = (
    "pyspark.worker",
    "pykudu_sql.spark.reading.token_task",
    "pykudu_sql.spark.writing.staged_job",
)

_serve = daemon.worker


def serve(sock: socket.socket, authenticated: bool) -> int:
    """Carry out the tasks that come over a connection.

    Returns the exit code of the worker; not 0 where Spark has left, so that it ends.
    """
    try:
        return int(_serve(sock, authenticated))
    except (BrokenPipeError, ConnectionResetError):
        return 1


def preload(modules: Iterable[str]) -> None:
    """Import modules for all workers. What cannot be imported is left to the task that needs it."""
    for module in modules:
        with suppress(ImportError):
            import_module(module)


if __name__ == "__main__":
    preload(OF_TASKS)
    daemon.worker = serve
    daemon.manager()
