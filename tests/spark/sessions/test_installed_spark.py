"""Workers take PySpark from where it is installed, and from Spark's archives where it is not."""

import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from pykudu_sql.spark.sessions.installed_spark import path_without_archives

INSTALLED = Path(pyspark.__file__).parent


def archives(root: Path) -> list[str]:
    names = ("python/lib/pyspark.zip", "python/lib/py4j-0.10-src.zip", "jars/spark-core.jar")
    return [str(root / name) for name in names]


def test_workers_have_no_module_from_an_archive(spark: SparkSession) -> None:
    def origins(_: int) -> list[str]:
        found = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        return [file for file in found if file and (".zip/" in file or ".jar/" in file)]

    assert spark.sparkContext.parallelize(range(2), 2).map(origins).collect() == [[], []]


def test_archives_of_the_installed_spark_are_left_out(tmp_path: Path) -> None:
    others = [str(tmp_path), str(tmp_path / "mine.zip"), *sys.path]
    assert path_without_archives([*archives(INSTALLED), *others]) == others


def test_archives_of_another_spark_stay(tmp_path: Path) -> None:
    path = [*archives(tmp_path / "spark"), *sys.path]
    assert path_without_archives(path) == path


def test_archives_stay_where_no_folder_has_their_packages(tmp_path: Path) -> None:
    path = [*archives(INSTALLED), str(tmp_path)]
    assert path_without_archives(path) == path
