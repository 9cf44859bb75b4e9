"""Spark sessions that this program starts: found Java, this Python, and nothing but loopback.

Also the settings that keep answers the same on both engines: times are UTC, and batches are large
enough for Arrow to pay.
"""

import atexit
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Final

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from pykudu_sql.spark.active_session import running_session
from pykudu_sql.spark.java import java_home

NO_CONF: Final[Mapping[str, str]] = MappingProxyType({})
LOOPBACK: Final = "127.0.0.1"

DEFAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.catalogImplementation": "in-memory",
    }
)

_DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
_EXECUTOR_OPTIONS: Final = "spark.executor.extraJavaOptions"
# What a Python worker sends, Spark reads cell by cell, and asks for NULL itself before each. Arrow
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

# Why a job failed is what its caller is told; Spark also prints it, with all that was on the stack.
_TOLD_IN_JVM: Final = (
    "executor.Executor",
    "scheduler.TaskSetManager",
    "sql.execution.datasources.FileFormatWriter",
    "sql.execution.datasources.v2",
    "util.Utils",
)
_TOLD_HERE: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def start_session(
    master: str = "local[*]", conf: Mapping[str, str] = NO_CONF, app_name: str = "pykudu-sql"
) -> SparkSession:
    """The session of this process, started if there is none.

    Args:
        master: where Spark runs.
        conf: settings that count before `DEFAULTS`; options for Java are added to ours.
        app_name: how Spark calls the application.

    Raises:
        OperationalError: there is no Java; says what to install.
    """
    running = running_session()
    if running is not None:
        return running
    folder = tempfile.mkdtemp(prefix="pykudu-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["JAVA_HOME"] = java_home(folder)
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    # Spark would start the `python3` of PATH, which need not have this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Printed at each start, it says nothing about what is read and written here.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = SparkSession.builder.master(master).appName(app_name)
    own = {"spark.sql.warehouse.dir": f"{folder}/warehouse", **local_workers(master)}
    java = {
        _DRIVER_OPTIONS: f"-Dlog4j2.configurationFile={_log_conf(folder)} {_ARROW}",
        _EXECUTOR_OPTIONS: _ARROW,
    }
    options = {name: f"{ours} {conf.get(name, '')}".rstrip() for name, ours in java.items()}
    chosen = {**DEFAULTS, **own, **conf, **options}
    for name, value in chosen.items():
        builder = builder.config(name, value)
    with interrupts_put_off():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel(_log_level() or "ERROR")
    if _log_level() is None:
        for name in _TOLD_HERE:
            PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    return session


def local_workers(master: str) -> Mapping[str, str]:
    """Settings for Python workers on this very host, which have this package as we have it.

    They do not print that a LIMIT has its rows (`worker_daemon`). They send rows by TCP: over
    sockets of the file system reads would take a few percent less, but Spark's own daemon prints a
    traceback for each worker that it lets go of then.

    Args:
        master: where Spark runs.
    """
    if not master.startswith("local"):
        return NO_CONF
    return {"spark.python.daemon.module": "pykudu_sql.spark.worker_daemon"}


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """Let Ctrl-C wait for the end: a JVM whose start is broken off is nobody's, and stays for ever.

    Raises:
        KeyboardInterrupt: at the end, if Ctrl-C was pressed meanwhile.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before in (None, signal.SIG_IGN):
        yield
        return
    pressed = []

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        # Spark has put its own in the place by now, which ends jobs, unless it did not get so far.
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _log_conf(folder: str) -> str:
    """Where Spark finds how to log from its first line on; its own profile begins with warnings."""
    path = Path(folder, "log4j2.properties")
    quiet = () if _log_level() else _TOLD_IN_JVM
    lines = [
        f"logger.told{number}.name = org.apache.spark.{name}\nlogger.told{number}.level = off\n"
        for number, name in enumerate(quiet)
    ]
    path.write_text(_LOG_CONF + "".join(lines))
    return path.as_uri()


def _log_level() -> str | None:
    """What the user wants to see of Spark's log; None for nothing but what goes wrong unseen."""
    return os.environ.get("PYKUDU_SPARK_LOG")
