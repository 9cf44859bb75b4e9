"""pyarrow.compute's functions, loaded when the first of them is called.

Importing that module makes a Python function of each of its few hundred kernels, which takes longer
than to open a small database; a statement that touches no rows is not to wait for it. Whoever needs
kernels says `from pykudu_sql.storage.common import compute as pc`. A function found is kept as an
attribute of this module, so a later use costs what it costs in any module.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    function = getattr(pyarrow.compute, name)
    globals()[name] = function
    return function


def pick(values: "pa.Array", indices: "pa.Array") -> "pa.Array":
    """The values at some places, all of which lie inside: `take` without a check of that.

    The function and its options are looked up once. By name that costs as much as to pick a few
    hundred values, and gives the interpreter to other threads each time.
    """
    take, unchecked = _unchecked_take()
    return take.call([values, indices], unchecked)


@cache
def _unchecked_take() -> tuple[Any, Any]:
    import pyarrow.compute

    take = pyarrow.compute.function_registry().get_function("take")
    return take, pyarrow.compute.TakeOptions(boundscheck=False)
