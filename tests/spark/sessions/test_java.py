"""Finding a Java, and the launcher for one that lacks a module."""

import subprocess
import sys
from pathlib import Path

import pytest

from pykudu_sql.spark.sessions import java
from pykudu_sql.spark.sessions.java import java_home, java_version, write_launcher
from pykudu_sql.storage.errors import OperationalError


def program(folder: Path, text: str) -> Path:
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_launcher_leaves_out_what_the_runtime_lacks(tmp_path: Path) -> None:
    asked = program(tmp_path / "a b'c", "print(*sys.argv[1:], sep='|')")
    home = write_launcher(tmp_path / "home", asked)
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "Main", "two words", ""]
    done = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout == "-Xmx1g|Main|two words|\n"


@pytest.mark.parametrize(
    ("shown", "version"), [('openjdk version "17.0.15" 2025', 17), ('java version "1.8.0_4"', 8)]
)
def test_the_version_is_the_major_one(tmp_path: Path, shown: str, version: int) -> None:
    asked = program(tmp_path, f"print({shown!r}, file=sys.stderr)")
    assert java_version(str(asked)) == version
    assert java_version(str(tmp_path / "none")) is None


def test_a_java_that_is_too_old_is_passed_over_and_none_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    program(old, "print('version \"11.0.1\"', file=sys.stderr)")
    program(new, "print('version \"21.0.1\"', file=sys.stderr)")
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(new / "bin"))
    launcher = Path(java_home(str(tmp_path)), "bin", "java")
    assert f"exec {new / 'bin' / 'java'} " in launcher.read_text()
    monkeypatch.setenv("PATH", str(old / "bin"))
    monkeypatch.setattr(java, "_bundled_java", lambda: None)
    with pytest.raises(OperationalError, match="Java 17 or newer"):
        java_home(str(tmp_path))
