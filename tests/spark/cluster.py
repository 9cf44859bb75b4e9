"""A standalone cluster on loopback, from the PySpark that pip installed: a master and two workers.

    python -m tests.spark.cluster [--local-cluster] [--lineitem SCALE]

Driver and executors have the wheel of this checkout and nothing else of it. Shows that a load and a
read work there, that tasks took the package from the wheel, and that nothing listens outside
loopback meanwhile. With `--lineitem` the load is TPC-H's lineitem from Parquet into eight tablets,
compared with the files column by column.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pyspark

from pykudu_sql.spark.sessions.java import java_home
from tests.spark.cluster_driver import ROWS
from tests.spark.listening import watched
from tests.spark.loading import make_table, source_checksums, table_checksums, write_source
from tests.spark.victims import ROOT

_LOCAL = "local-cluster[2,1,1024]"


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout, under a name that Spark puts on the path: it knows only .zip."""
    source = folder / "source"
    leave_out = shutil.ignore_patterns(".git", "*.db", "__pycache__", ".venv", "node_modules")
    shutil.copytree(ROOT, source, symlinks=True, ignore=leave_out)
    command = ["pip", "wheel", "--no-deps", "-w", str(folder), str(source)]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built.rename(built.with_suffix(".zip"))


def environment(folder: Path) -> dict[str, str]:
    """Of the processes of a cluster: loopback, this Python, no checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {
        **kept,
        "JAVA_HOME": java_home(str(folder)),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
    }


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers of one core; their URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    started = [_start(folder, "master.Master", "--port", str(port), *place)]
    try:
        _wait_for(port)
        for number in range(2):
            limits = ["--cores", "1", "--memory", "1g", "-d", str(folder / f"work{number}")]
            started.append(_start(folder, "worker.Worker", *place, *limits, url))
        yield url
    finally:
        for process in started:
            process.kill()
            process.wait()


def _start(folder: Path, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
    settings = environment(folder)
    program = Path(settings["SPARK_HOME"]) / "bin" / "spark-class"
    return subprocess.Popen(
        [program, f"org.apache.spark.deploy.{name}", *arguments],
        env={**settings, "SPARK_DAEMON_MEMORY": "256m"},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.2)
    raise TimeoutError("the master does not answer")


def run_driver(
    folder: Path, master: str, wheel: Path, database: Path, *files: Path
) -> dict[str, Any]:
    """Run the program on a cluster; what it said.

    Args:
        folder: where it runs.
        master: of the cluster.
        wheel: of this checkout.
        database: its directory.
        files: the folder of lineitem, if that is to be loaded.
    """
    driver = folder / "driver.py"
    shutil.copy(ROOT / "tests" / "spark" / "cluster_driver.py", driver)
    done = subprocess.run(
        [sys.executable, str(driver), master, *map(str, (database, wheel, *files))],
        env={**environment(folder), "PYTHONPATH": str(wheel)},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert all(wheel.name in place for place in said["places"]), said
    return said


def load_rows(folder: Path, master: str, wheel: Path) -> dict[str, Any]:
    """Load and read rows that the program makes; what it said.

    Raises:
        AssertionError: it did not find what it wrote.
    """
    said = run_driver(folder, master, wheel, folder / "rows.db")
    assert (said["written"], said["n"]) == (ROWS, ROWS - 10), said
    assert said["s"] == sum(range(10, ROWS)), said
    return said


def load_lineitem(folder: Path, master: str, wheel: Path, scale: float) -> dict[str, Any]:
    """Load lineitem; what the program said.

    Raises:
        AssertionError: the table does not hold what the files do.
    """
    database, files = folder / "lineitem.db", folder / "files"
    rows = write_source(files, scale)
    make_table(str(database))
    said = run_driver(folder, master, wheel, database, files)
    assert said["written"] == rows, said
    assert table_checksums(str(database)) == source_checksums(files)
    return said


def main(argv: list[str]) -> int:
    """Run the script; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.cluster")
    parser.add_argument("--local-cluster", action="store_true", help="Spark's own of two workers")
    parser.add_argument("--lineitem", type=float, metavar="SCALE", help="load this table of TPC-H")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name, watched(os.getpid()) as seen:
        folder = Path(name)
        wheel = build_wheel(folder)
        cluster = nullcontext(_LOCAL) if options.local_cluster else standalone(folder)
        with cluster as master:
            if options.lineitem is None:
                said = load_rows(folder, master, wheel)
            else:
                said = load_lineitem(folder, master, wheel, options.lineitem)
    assert seen.within
    assert not seen.outside, seen.outside
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
