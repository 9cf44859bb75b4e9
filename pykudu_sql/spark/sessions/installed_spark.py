"""PySpark as it is installed, in place of the archives that Spark puts before it.

Spark starts Python with its own archives first on the path: `pyspark.zip`, that of py4j, and a jar.
Modules of an archive are compiled by each process, and a worker that starts reads the list of an
archive's files anew for each package that came from it, which takes it a third of a second.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

_PACKAGES: Final = ("pyspark", "py4j")
_ARCHIVES: Final = (".zip", ".jar")


def prefer_installed_spark() -> None:
    """Take modules from folders that the archives have too. To be called before they are imported.

    Nothing changes where the archives are not those of the PySpark that is installed.
    """
    sys.path[:] = path_without_archives(sys.path)


def path_without_archives(path: Sequence[str]) -> list[str]:
    """A path less the archives of the PySpark that its folders have."""
    folders = [place for place in path if not place.endswith(_ARCHIVES)]
    specs = [PathFinder.find_spec(package, folders) for package in _PACKAGES]
    origins = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    if len(origins) < len(_PACKAGES):
        return list(path)
    installed = Path(origins[0]).resolve().parent
    return [
        place
        for place in path
        if place in folders or not Path(place).resolve().is_relative_to(installed)
    ]
