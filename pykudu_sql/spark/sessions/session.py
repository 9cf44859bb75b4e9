"""Spark sessions that this program starts: found Java, this Python, and nothing but loopback.

Also the settings that keep answers the same on both engines: times are UTC, and batches are large
enough for Arrow to pay.
"""

import atexit
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from pykudu_sql.settings import LOCAL
from pykudu_sql.spark.sessions.active_session import make_active, running_session
from pykudu_sql.spark.sessions.java import java_home
from pykudu_sql.spark.sessions.session_start import end_jobs_on_interrupt, start_apart
from pykudu_sql.spark.sessions.worker_path import folder_to_add, source_file, worker_path
from pykudu_sql.storage.common.process_lock import ProcessLock
from pykudu_sql.storage.fs.process import Process, current_process

NO_CONF: Final[Mapping[str, str]] = {}
LOOPBACK: Final = "127.0.0.1"

DEFAULTS: Final[Mapping[str, str]] = {
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.catalogImplementation": "in-memory",
}

_DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
_EXECUTOR_OPTIONS: Final = "spark.executor.extraJavaOptions"
# What a Python worker sends, Spark reads cell by cell, and checks for NULL before each. Arrow
# would check place and NULL once more for every cell: a sixth of a wide read.
_ARROW: Final = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
_LOG_CONF: Final = """
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
"""

# The caller gets the reason of a failed job as an error; Spark also prints it, with the stack.
_QUIET_JVM_LOGGERS: Final = (
    "executor.Executor",
    "scheduler.TaskSetManager",
    "sql.execution.datasources.FileFormatWriter",
    "sql.execution.datasources.v2",
    "util.Utils",
)
_QUIET_PYTHON_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


_STARTING: Final = ProcessLock()
_LOOK_SECONDS: Final = 0.05


def _never_cancelled() -> None:
    """Wait for Spark as long as it takes."""


def start_session(
    master: str = LOCAL,
    conf: Mapping[str, str] = NO_CONF,
    app_name: str = "pykudu-sql",
    cancel_check: Callable[[], None] = _never_cancelled,
) -> SparkSession:
    """The session of this process, started if there is none.

    Args:
        conf: settings that count before `DEFAULTS`; options for Java are added to ours.
        app_name: how Spark calls the application.
        cancel_check: called again and again while Spark starts; raises to give that up.

    Raises OperationalError: there is no Java; says what to install; BaseException: what
    `cancel_check` raised, or KeyboardInterrupt; no JVM is left behind.
    """
    while not _STARTING.acquire(timeout=_LOOK_SECONDS):  # for another thread, which starts one
        cancel_check()
    try:
        running = running_session()
        if running is not None:
            return running
        folder = tempfile.mkdtemp(prefix="pykudu-spark-")
        atexit.register(_remove, folder, current_process())
        session = start_apart(lambda: _build(master, conf, app_name, folder), folder, cancel_check)
    finally:
        _STARTING.release()
    make_active(session)
    end_jobs_on_interrupt(session)
    return session


def _build(master: str, conf: Mapping[str, str], app_name: str, folder: str) -> SparkSession:
    """Start a session.

    `master`, `conf`, `app_name`: see `start_session`; `folder`: for its files.
    """
    _import_quietly()
    os.environ["JAVA_HOME"] = java_home(folder)
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    # Spark would start the `python3` of PATH, which need not have this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(app_name)
    own = {"spark.sql.warehouse.dir": f"{folder}/warehouse", **local_settings(master)}
    java = {
        _DRIVER_OPTIONS: f"-Dlog4j2.configurationFile={_log_conf(folder)} {_ARROW}",
        _EXECUTOR_OPTIONS: _ARROW,
    }
    options = {name: f"{ours} {conf.get(name, '')}".rstrip() for name, ours in java.items()}
    for name, value in {**DEFAULTS, **own, **conf, **options}.items():
        builder = builder.config(name, value)
    # The JVM that starts here has this process's environment, and its workers have the JVM's.
    with worker_path(folder_to_add(source_file())):
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel(_log_level() or "ERROR")
    if _log_level() is None:
        for name in _QUIET_PYTHON_LOGGERS:
            PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    return session


def _import_quietly() -> None:
    """Import what Spark imports as soon as it talks to its JVM, without a warning about pandas.

    Spark's own tests there check whether NumPy is installed, and look for pandas.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import_module("pyspark.testing.utils")


def _remove(folder: str, owner: Process) -> None:
    """Remove a folder at the end of the process that made it, not at that of a forked child."""
    if owner.is_current:
        shutil.rmtree(folder, ignore_errors=True)


def local_settings(master: str) -> Mapping[str, str]:
    """Settings for a Spark that runs on this very host.

    Python workers have this package as we have it, and do not print that a LIMIT has its rows
    (`worker_daemon`). They send rows by TCP: over sockets of the file system reads would take a few
    percent less, but Spark's own daemon prints a traceback for each worker that it releases then.

    Whoever connects to Spark's own ports must know a secret, which Spark draws for each session. A
    cluster has one of its own, if any, which `conf` gives. `master`: where Spark runs.
    """
    if not master.startswith("local"):
        return NO_CONF
    workers = {"spark.python.daemon.module": "pykudu_sql.spark.sessions.worker_daemon"}
    has_secret = master == "local" or master.startswith("local[")
    return {**workers, "spark.authenticate": "true"} if has_secret else workers


def _log_conf(folder: str) -> str:
    """Where Spark finds how to log from its first line on; its own profile begins with warnings."""
    path = Path(folder, "log4j2.properties")
    quiet = () if _log_level() else _QUIET_JVM_LOGGERS
    lines = [
        f"logger.quiet{number}.name = org.apache.spark.{name}\nlogger.quiet{number}.level = off\n"
        for number, name in enumerate(quiet)
    ]
    path.write_text(_LOG_CONF + "".join(lines))
    return path.as_uri()


def _log_level() -> str | None:
    """What the user wants to see of Spark's log; None for nothing but what goes wrong unseen."""
    return os.environ.get("PYKUDU_SPARK_LOG")
