"""Every extra by itself, in an environment that has what its metadata asks for and nothing more.

`dev` has everything, so it hides what an extra forgets. Here a virtual environment is made for each
extra, of links to the files of just those distributions that the requirements lead to; so nothing
is downloaded, and one takes a moment.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
PACKAGES = ("pykudu_sql", "pyspark_pykudu")
_PROGRAM = """
import json, sys
from pykudu_sql.shell.cli import main
sys.exit(max(main(command) for command in json.loads(sys.argv[1])))
"""
_NAME = re.compile(r"([\w.-]+)(?:\[([\w,\s-]*)\])?")

USED = "CREATE TABLE t (id INT PRIMARY KEY, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b')"
COMMANDS = {
    "demo": (["demo", "demo.db"],),
    "spark": (
        ["export", "my.db", "t", "out", "--format", "csv"],
        ["load", "my.db", "t", "out", "--format", "csv", "--operation", "upsert"],
        ["backup", "my.db", "saved"],
        ["my.db", "--engine", "spark", "-c", "SELECT v, count(*) FROM t GROUP BY v"],
    ),
}

PROGRAMS = {
    "sqlalchemy": """
import sqlalchemy
from sqlalchemy.dialects import registry
registry.register("pykudu", "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")
registry.register("pykudu.pykudu", "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")
with sqlalchemy.create_engine("pykudu:///my.db").connect() as connection:
    assert connection.scalar(sqlalchemy.text("SELECT count(*) FROM t")) == 2
""",
    "docs": f"""
import shutil
from pathlib import Path
from zensical.main import cli
shutil.copytree({str(ROOT / "docs")!r}, "docs")
shutil.copy({str(ROOT / "zensical.toml")!r}, ".")
cli(["build", "--strict"], standalone_mode=False)
site = Path("build/site")
built = {{str(p.relative_to(site).with_suffix(".md")) for p in site.rglob("*.html")}}
assert {{str(p.relative_to("docs")) for p in Path("docs").rglob("*.md")}} <= built, built
elsewhere = [p for p in site.rglob("*.html") if 'src="http' in p.read_text()]
assert elsewhere == []
""",
}


def requirements(texts: Iterable[str], extras: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The distributions that requirements name, each with the extras asked of it."""
    for text in texts:
        wanted, _, marker = text.partition(";")
        asked = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        if asked is not None and asked[1] not in extras:
            continue
        if asked is None and marker and not applies(marker):
            continue
        found = _NAME.match(wanted.strip())
        assert found is not None, text
        yield found[1], found[2] or ""


def applies(marker: str) -> bool:
    """Whether a requirement with a marker of no extra is one of this Python on Linux."""
    return not re.search(r"win32|Windows|python_(full_)?version\s*<|PyPy", marker)


def closure(texts: Iterable[str], extras: frozenset[str]) -> dict[str, metadata.Distribution]:
    """All distributions that requirements lead to, by name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(requirements(texts, extras))
    while waiting:
        name, more = waiting.pop()
        known = re.sub(r"[-_.]+", "-", name).lower()
        if known in found:
            continue
        found[known] = one = metadata.distribution(name)
        own = frozenset(part.strip() for part in more.split(",") if part.strip())
        waiting += requirements(one.requires or (), own)
    return found


@pytest.fixture(scope="module")
def base() -> list[str]:
    """What the package itself requires."""
    needed: list[str] = PROJECT["project"]["dependencies"]
    return needed


def environment(folder: Path, found: Iterable[metadata.Distribution]) -> Path:
    """An environment of some distributions and this package; its Python."""
    made = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    for one in found:
        tops = {Path(file).parts[0] for file in one.files or () if Path(file).parts[0] != ".."}
        for top in tops - {"__pycache__"}:
            target = site / top
            if not target.exists():
                target.symlink_to(Path(str(one.locate_file(top))))
    for package in PACKAGES:
        (site / package).symlink_to(ROOT / package)
    return made / "bin" / "python"


def run(python: Path, folder: Path, *commands: list[str]) -> str:
    """Run commands there, in one process, so that Spark starts once; what they printed."""
    return run_program(python, folder, _PROGRAM, json.dumps(commands))


def run_program(python: Path, folder: Path, program: str, *arguments: str) -> str:
    """Run a program there; what it printed."""
    kept = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(folder)}
    names = ("JAVA_HOME", "TMPDIR", "PYTHONPYCACHEPREFIX")
    kept |= {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        [str(python), "-c", program, *arguments],
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_every_extra_is_tried() -> None:
    assert set(COMMANDS) | set(PROGRAMS) == set(EXTRAS) - {"dev"}


def test_the_package_needs_no_extra(tmp_path: Path, base: list[str]) -> None:
    python = environment(tmp_path, closure(base, frozenset()).values())
    count = run(python, tmp_path, ["my.db", "-c", USED], ["my.db", "-c", "SELECT count(*) FROM t"])
    assert "2" in count


@pytest.mark.parametrize("extra", sorted({*COMMANDS, *PROGRAMS}))
def test_an_extra_brings_all_that_it_needs(tmp_path: Path, base: list[str], extra: str) -> None:
    try:
        found = closure([*base, *EXTRAS[extra]], frozenset())
    except metadata.PackageNotFoundError as error:
        pytest.skip(f"not installed here: {error}")
    python = environment(tmp_path, found.values())
    run(python, tmp_path, ["my.db", "-c", USED], *COMMANDS.get(extra, ()))
    if extra in PROGRAMS:
        run_program(python, tmp_path, PROGRAMS[extra])
