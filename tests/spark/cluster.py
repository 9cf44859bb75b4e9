"""A standalone cluster on loopback, from the PySpark that pip installed: a master and two workers.

    python -m tests.spark.cluster [--local-cluster]

Driver and executors have the wheel of this checkout and nothing else of it. Shows that a load and a
read work there, that tasks took the package from the wheel, and that nothing listens outside
loopback.
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark

from pykudu_sql.spark.java import java_home
from tests.spark.cluster_driver import ROWS
from tests.spark.victims import ROOT

_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
_LISTENING = "0A"


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
def standalone(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """A master and two workers of one core; their URL, and their process ids."""
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
        yield url, [process.pid for process in started]
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


def run_driver(folder: Path, master: str, wheel: Path) -> dict[str, Any]:
    """Run the program on a cluster; what it said."""
    driver = folder / "driver.py"
    shutil.copy(ROOT / "tests" / "spark" / "cluster_driver.py", driver)
    arguments = [
        str(driver),
        master,
        str(folder / f"{master.partition('[')[0][:5]}.db"),
        str(wheel),
    ]
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**environment(folder), "PYTHONPATH": str(wheel)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def open_ports(pids: list[int]) -> list[str]:
    """Where processes listen outside loopback, as the kernel writes addresses."""
    inodes = set()
    for pid in pids:
        for entry in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                inodes.add(os.readlink(f"/proc/{pid}/fd/{entry}"))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address = fields[1].partition(":")[0]
            own = f"socket:[{fields[9]}]" in inodes
            if own and fields[3] == _LISTENING and address not in _LOOPBACK:
                found.append(fields[1])
    return found


def check(said: dict[str, Any], wheel: Path) -> None:
    """See that the program did what it should.

    Raises:
        AssertionError: it did not.
    """
    assert (said["written"], said["n"]) == (ROWS, ROWS - 10), said
    assert said["s"] == sum(range(10, ROWS)), said
    assert all(wheel.name in place for place in said["places"]), said


def main(argv: list[str]) -> int:
    """Run the script; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.cluster")
    parser.add_argument("--local-cluster", action="store_true", help="Spark's own of two workers")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        if options.local_cluster:
            said = run_driver(folder, "local-cluster[2,1,1024]", wheel)
        else:
            with standalone(folder) as (url, pids):
                said = run_driver(folder, url, wheel)
                assert not (outside := open_ports(pids)), outside
        check(said, wheel)
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
