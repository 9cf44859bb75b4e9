"""Our errors as workers hand them to Spark: the reason alone, no trace of the worker before it.

Spark puts what a worker raised into an error of its own, traceback first, so that the reason comes
last. A worker that raised ends, so what it is told here about tracebacks holds for that one error.
The trace stays with `PYKUDU_SPARK_LOG` (`--verbose`), and for what is a fault of this package.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pyspark import cloudpickle

from pykudu_sql.spark.failures import lacks_module
from pykudu_sql.storage.errors import Error, InternalError

T = TypeVar("T")
R = TypeVar("R")
_OF_WORKERS = "PYTHON_WORKER_FACTORY_"
_HIDE = "SPARK_HIDE_TRACEBACK"


@contextmanager
def reason_alone() -> Iterator[None]:
    """Let Spark hand on an error from inside without a traceback, if this is a worker of it.

    Raises Error: what was raised; OperationalError: a package is not installed here.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        _hide_trace()
        raise lacks_module(error.name or str(error)) from error
    except Error as error:
        if not isinstance(error, InternalError):
            _hide_trace()
        raise


def loaded_by_task(function: Callable[[T], Iterator[R]]) -> Callable[[T], Iterator[R]]:
    """A function of tasks, itself loaded within `reason_alone`.

    Spark loads what it is given before it calls that, so a package that a module of the function
    wants would be missed where nobody of ours can say so.
    """
    pickler: Any = cloudpickle
    pickled = pickler.dumps(function)

    def run(rows: T) -> Iterator[R]:
        with reason_alone():
            yield from cloudpickle.loads(pickled)(rows)

    return run


def _hide_trace() -> None:
    is_worker = any(name.startswith(_OF_WORKERS) for name in os.environ)
    if is_worker and "PYKUDU_SPARK_LOG" not in os.environ:
        os.environ[_HIDE] = "1"
