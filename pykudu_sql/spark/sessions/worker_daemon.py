"""The process that Spark's Python workers are forked from.

Spark's own (`pyspark.daemon`), but for three things. When a LIMIT has its rows, Spark closes the
connections of workers that have more to give, and of each its daemon prints a traceback. What our
tasks import is imported here, once, and PySpark from the folder where it is installed: a worker
that starts takes a tenth of the processor time, and one starts for each core, and behind each task
that failed. Run as `python -m pykudu_sql.spark.sessions.worker_daemon MODULE`, where the module is
that of the workers.
"""

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Final

from pykudu_sql.spark.sessions.installed_spark import prefer_installed_spark

# They start no thread of Python's. Those of OpenBLAS and jemalloc, which NumPy and Arrow start,
# see to forks themselves. Arrow loads pandas where it takes values of Python's.
OF_TASKS: Final = (
    "pyspark.worker",
    "pykudu_sql.spark.reading.token_task",
    "pykudu_sql.spark.writing.staged_job",
)
OF_ARROW: Final = "pandas"

Work = Callable[[socket.socket, bool], int]


def serve(work: Work, sock: socket.socket, authenticated: bool) -> int:
    """Carry out the tasks that come over a connection.

    Returns the exit code of the worker; not 0 where Spark has left, so that it ends. `work`: what
    Spark's own daemon does.
    """
    try:
        return int(work(sock, authenticated))
    except (BrokenPipeError, ConnectionResetError):
        return 1


def preload(modules: Iterable[str]) -> None:
    """Import modules for all workers. What cannot be imported is left to the task that needs it."""
    for module in modules:
        with suppress(ImportError):
            import_module(module)


def main() -> None:
    """Fork workers until Spark ends."""
    prefer_installed_spark()
    from pyspark import daemon

    preload((*OF_TASKS, OF_ARROW))
    daemon.worker = partial(serve, daemon.worker)
    daemon.manager()


if __name__ == "__main__":
    main()
