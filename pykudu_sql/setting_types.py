"""The settings that `connect` takes, as types: what editors complete and type checkers see.

Loads no library, as all that `import pykudu_sql` loads. `pykudu_sql.settings` has the rules.
"""

import os
from typing import Literal, TypeAlias, TypedDict

Durability: TypeAlias = Literal["full", "normal", "off"]
EngineName: TypeAlias = Literal["duckdb", "spark", "auto"]
Size: TypeAlias = int | str  # bytes, or a text such as "512MB"
Duration: TypeAlias = int | str  # milliseconds, or a text such as "30s"


class Settings(TypedDict, total=False):
    """Keywords of `connect`; docs/settings.md says what they do. None is the default."""

    durability: Durability | None
    threads: int | None
    memory_limit: Size | None
    engine_memory_bytes: Size | None
    spill_directory: str | None
    spill_limit: Size | None
    block_cache_bytes: Size | None
    flush_bytes: Size | None
    rowset_bytes: Size | None
    log_segment_bytes: Size | None
    write_memory_bytes: Size | None
    maintenance: bool | None
    implicit_primary_key: bool | None
    default_hash_partitions: int | None
    as_of: int | None
    database: str | None
    double_quoted_strings: bool | None
    row_errors: Literal["fail", "collect"] | None
    scan_memory_bytes: Size | None
    result_memory_bytes: Size | None
    engine: EngineName | None
    spark_scan_bytes: Size | None
    statement_timeout: Duration | None
    log_slow_statements: Duration | None
    spark_master: str | None
    files: str | os.PathLike[str] | bool | None
    frames: bool | None
