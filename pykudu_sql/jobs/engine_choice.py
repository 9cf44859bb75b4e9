"""Which engine does a job: this process, unless Spark is better placed.

`auto` takes Spark for what is too large for one process, or what only Spark can do, where it is
installed; the reason is part of the report.
"""

import importlib.util
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.sessions.java import INSTALL, check_pyspark
from pykudu_sql.storage.errors import InvalidValueError, NotSupportedError

ENGINES: Final = ("auto", "local", "spark")
# As `spark_scan_bytes` for queries.
LOCAL_BYTES: Final = 16 << 30


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine of a job. `on_spark`: which of the two; `reason`: why, or nothing."""

    on_spark: bool
    reason: str = ""


def choose_engine(engine: str, size: int, spark_only_feature: str | None = None) -> EngineChoice:
    """The engine that does a job.

    Args:
        engine: one of `ENGINES`, as the user says it.
        size: bytes that the job reads, about.
        spark_only_feature: what of the job only Spark can do, as a subject: "the option 'x'"; None
            for nothing.

    Raises InvalidValueError: there is no such engine; OperationalError: Spark is asked for, and is
    not installed; NotSupportedError: it is needed, and is not asked for or not installed.
    """
    if engine not in ENGINES:
        raise InvalidValueError(
            f"there is no engine '{engine:.40}'", hint="choose one of " + ", ".join(ENGINES)
        )
    if engine == "spark":
        check_pyspark("engine 'spark'", "leave the engine to be chosen")
        return EngineChoice(True)
    is_installed = importlib.util.find_spec("pyspark") is not None
    if spark_only_feature is not None:
        if engine == "auto" and is_installed:
            return EngineChoice(True, f"on Spark, for {spark_only_feature}")
        hint = "--engine spark" if is_installed else f"install Spark: {INSTALL}"
        raise NotSupportedError(f"{spark_only_feature} needs Spark", hint=hint)
    if engine == "local" or size <= LOCAL_BYTES:
        return EngineChoice(False)
    amount = f"{size / (1 << 30):.1f} GiB"
    if is_installed:
        return EngineChoice(True, f"on Spark, for {amount} are much for one process")
    return EngineChoice(False, f"{amount} in one process, for Spark is not installed")
