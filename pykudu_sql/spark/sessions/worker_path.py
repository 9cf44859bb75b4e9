"""Where Spark's workers look for this package's data source.

Spark imports the modules named `pyspark_*` that lie in folders of `sys.path` (`pkgutil`). A normal
installation is in one. An editable one is found by a hook of Python's import instead, and a program
may have put a checkout or an archive on its own `sys.path`: there Spark says
`DATA_SOURCE_NOT_FOUND`, although the package can be imported.
"""

import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_SOURCE: Final = "pyspark_pykudu"
_VARIABLE: Final = "PYTHONPATH"


def source_file() -> Path | None:
    """The file of the module that Spark looks for, as this program would import it."""
    spec = find_spec(_SOURCE)
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


def folder_to_add(source: Path | None) -> str | None:
    """The folder that workers must be told to look into; None where they look anyway.

    `source`: see `source_file`.
    """
    installed = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    if source is None or source.parents[1] in installed:
        return None
    return str(source.parents[1])


@contextmanager
def worker_path(folder: str | None) -> Iterator[None]:
    """Processes that start meanwhile look into `folder` too, before what `PYTHONPATH` names."""
    before = os.environ.get(_VARIABLE)
    if folder is None or folder in (before or "").split(os.pathsep):
        yield
        return
    os.environ[_VARIABLE] = os.pathsep.join([folder, *([before] if before else [])])
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
