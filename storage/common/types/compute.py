"""pyarrow.compute's functions, loaded when the first of them is called.

Importing that module makes a Python function of each of its few hundred kernels, which takes longer
than to open a small database; a statement that touches no rows is not to wait for it. Whoever needs
kernels says `from pykudu_sql.storage.common import compute as pc`. A function found is kept as an
attribute of this module, so a later use costs what it costs in any module.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    function = getattr(pyarrow.compute, name)
    globals()[name] = function
    return function
