"""How a run of scripts went: for people line by line, for machines as JUnit XML."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.slt.outcomes import Problem
from pykudu_sql.shell.slt.runner import ScriptResult
from pykudu_sql.storage.common.noun_count import noun_count


@dataclass(frozen=True, slots=True)
class FileResult:
    """One script in one state.

    Attributes:
        path: the script.
        state: name of the state.
        result: how it went, or None when it could not be parsed.
        error: why it could not be parsed, with the line, or empty.
    """

    path: Path
    state: str
    result: ScriptResult | None
    error: str = ""

    @property
    def problems(self) -> Sequence[Problem]:
        """What went wrong in it, apart from parsing."""
        return self.result.problems if self.result else ()

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.error or self.problems)


def describe(file: FileResult) -> Iterator[str]:
    """Lines about everything that went wrong in a script; none if nothing did."""
    if file.error:
        yield f"{file.path}:{file.error}"
    for problem in file.problems:
        yield f"{file.path}:{problem.record.source.line}: [{file.state}] {problem.reason}"
        yield from (f"    {line}" for line in problem.sql.split("\n") if line)
        yield from (f"    {line}" for line in problem.diff)


def summary(files: Sequence[FileResult], seconds: float) -> str:
    """One line: `3 files in 4 states: 210 records run, 0 failed, 2 skipped in 1.42 s`."""
    results = [file.result for file in files if file.result]
    ran = sum(len(result.executed) for result in results)
    failed = sum(len(file.problems) + bool(file.error) for file in files)
    skipped = sum(result.skipped for result in results)
    scripts = len({file.path for file in files})
    states = len({file.state for file in files})
    where = noun_count(scripts, "file")
    if states > 1:
        where += f" in {states} states"
    records = f"{noun_count(ran, 'record')} run, {failed} failed, {skipped} skipped"
    return f"{where}: {records} in {seconds:.2f} s"


def junit(files: Sequence[FileResult], seconds: float) -> str:
    """The same as JUnit XML: a suite for each state, a case for each script."""
    root = ElementTree.Element("testsuites", name="sqllogictest", time=f"{seconds:.3f}")
    for state in dict.fromkeys(file.state for file in files):
        group = [file for file in files if file.state == state]
        failures = str(sum(file.failed for file in group))
        suite = ElementTree.SubElement(
            root, "testsuite", name=state, tests=str(len(group)), failures=failures
        )
        for file in group:
            duration = file.result.seconds if file.result else 0.0
            case = ElementTree.SubElement(
                suite, "testcase", classname=state, name=str(file.path), time=f"{duration:.3f}"
            )
            if file.failed:
                lines = [escape(line) for line in describe(file)]
                failure = ElementTree.SubElement(case, "failure", message=lines[0])
                failure.text = "\n".join(lines)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
