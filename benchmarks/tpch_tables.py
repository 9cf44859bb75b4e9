"""The eight tables of TPC-H: as they are created here, and their rows from tpchgen-cli."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import cache_folder
from benchmarks.tables import LINEITEM, BenchTable

MONEY = "DECIMAL(15,2)"

TPCH: Mapping[str, BenchTable] = MappingProxyType(
    {
        table.name: table
        for table in (
            BenchTable(
                "region",
                {"r_regionkey": "BIGINT", "r_name": "STRING", "r_comment": "STRING"},
                ("r_regionkey",),
                2,
            ),
            BenchTable(
                "nation",
                {
                    "n_nationkey": "BIGINT",
                    "n_name": "STRING",
                    "n_regionkey": "BIGINT",
                    "n_comment": "STRING",
                },
                ("n_nationkey",),
                2,
            ),
            BenchTable(
                "supplier",
                {
                    "s_suppkey": "BIGINT",
                    "s_name": "STRING",
                    "s_address": "STRING",
                    "s_nationkey": "BIGINT",
                    "s_phone": "STRING",
                    "s_acctbal": MONEY,
                    "s_comment": "STRING",
                },
                ("s_suppkey",),
                2,
            ),
            BenchTable(
                "part",
                {
                    "p_partkey": "BIGINT",
                    "p_name": "STRING",
                    "p_mfgr": "STRING",
                    "p_brand": "STRING",
                    "p_type": "STRING",
                    "p_size": "INT",
                    "p_container": "STRING",
                    "p_retailprice": MONEY,
                    "p_comment": "STRING",
                },
                ("p_partkey",),
                4,
            ),
            BenchTable(
                "customer",
                {
                    "c_custkey": "BIGINT",
                    "c_name": "STRING",
                    "c_address": "STRING",
                    "c_nationkey": "BIGINT",
                    "c_phone": "STRING",
                    "c_acctbal": MONEY,
                    "c_mktsegment": "STRING",
                    "c_comment": "STRING",
                },
                ("c_custkey",),
                4,
            ),
            BenchTable(
                "partsupp",
                {
                    "ps_partkey": "BIGINT",
                    "ps_suppkey": "BIGINT",
                    "ps_availqty": "INT",
                    "ps_supplycost": MONEY,
                    "ps_comment": "STRING",
                },
                ("ps_partkey", "ps_suppkey"),
                4,
            ),
            BenchTable(
                "orders",
                {
                    "o_orderkey": "BIGINT",
                    "o_custkey": "BIGINT",
                    "o_orderstatus": "STRING",
                    "o_totalprice": MONEY,
                    "o_orderdate": "DATE",
                    "o_orderpriority": "STRING",
                    "o_clerk": "STRING",
                    "o_shippriority": "INT",
                    "o_comment": "STRING",
                },
                ("o_orderkey",),
                4,
            ),
            LINEITEM,
        )
    }
)


def tpch_rows(scale: float, name: str) -> pa.Table:
    """The rows of one table at a scale factor, generated once and kept as Parquet.

    Raises:
        FileNotFoundError: tpchgen-cli is not installed.
        subprocess.CalledProcessError: it failed.
    """
    return pq.read_table(tpch_file(scale, name)).replace_schema_metadata(None)


def tpch_file(scale: float, name: str) -> Path:
    """The Parquet file of one table; raises as `tpch_rows` does."""
    folder = cache_folder() / f"tpch-sf{scale:g}-all"
    if not folder.exists():
        _generate(scale, folder)
    return folder / f"{name}.parquet"


def has_generator() -> bool:
    """Whether tpchgen-cli is installed."""
    return _generator() is not None


def _generator() -> str | None:
    beside_python = Path(sys.executable).with_name("tpchgen-cli")
    return str(beside_python) if beside_python.exists() else shutil.which("tpchgen-cli")


def _generate(scale: float, folder: Path) -> None:
    """Fill a folder under a temporary name, so that it is never half there."""
    program = _generator()
    if program is None:
        raise FileNotFoundError("tpchgen-cli is not installed: pip install '.[dev]'")
    unfinished = folder.with_name(f"unfinished-{os.getpid()}")
    unfinished.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(program, "parquet", "--quiet"),
            *("--scale-factor", f"{scale:g}", "--output-dir", str(unfinished)),
        ],
        check=True,
    )
    unfinished.replace(folder)
