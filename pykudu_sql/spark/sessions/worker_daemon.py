"""The process that Spark's Python workers are forked from, which lets them end without a traceback.

Spark's own (`pyspark.daemon`), but for one thing. When a LIMIT has its rows, Spark closes the
connections of workers that have more to give, and of each its daemon prints a traceback. Run as
`python -m pykudu_sql.spark.sessions.worker_daemon MODULE`, where the module is that of the workers.
"""

import socket

from pyspark import daemon

_serve = daemon.worker


def serve(sock: socket.socket, authenticated: bool) -> int:
    """Carry out the tasks that come over a connection.

    Returns the exit code of the worker; not 0 where Spark has left, so that it ends.
    """
    try:
        return int(_serve(sock, authenticated))
    except (BrokenPipeError, ConnectionResetError):
        return 1


if __name__ == "__main__":
    daemon.worker = serve
    daemon.manager()
