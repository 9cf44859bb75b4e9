"""What one call costs over a text of many bytes: each listed function, and each cast of a text.

    python -m tests.pykudu_sql.limits.costly_calls [--bytes N] [--over SECONDS] [--first N]
        [WORD ...]

The engine looks for interrupts between vectors, so a call over one value runs to its end: what
takes long here escapes `statement_timeout`. Calls run in a child process with two seconds of that,
and 200 MB of `memory_limit`; one line is printed for each call over the given processor seconds, or
with a peak of memory that adds more than it may. A call that ends the child, or takes a minute, is
printed as well, and another child goes on behind it. How far it is stands on stderr, for `--first`.
"""

import argparse
import re
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress

from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, Function, FunctionKind

TYPES = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(38,10)",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "INTERVAL",
    "BINARY",
    "STRING",
    "VARCHAR(10)",
    "UUID",
    "BIT",
    "JSON",
    "TIMESTAMPTZ",
    "HUGEINT",
]
NESTED = ("INT[]", "STRING[]", "STRUCT(a INT)", "MAP(STRING, INT)", "DATE[]", "INT[2]")
OTHERS = ("'a'", "2", "TIMESTAMP '2024-01-01'", "[1]")
_MOST_ARGUMENTS = 3
_MEMORY = 12 << 30
_SECONDS = 60  # of processor time for one call
_PROGRESS = 100
_CHILD = textwrap.dedent(
    """
    import resource, sys, time
    import pykudu_sql
    most = int(sys.argv[1])
    connection = pykudu_sql.connect(":memory:", memory_limit="200MB", autocommit=True, threads=2)
    connection.execute("SET statement_timeout = 2000")
    connection.execute("SELECT 1").fetchall()

    def peak():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    for line in sys.stdin:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
        before, begun = peak(), time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(begun) + most, resource.RLIM_INFINITY))
        try:
            connection.execute(line).fetchall()
            outcome = "done"
        except pykudu_sql.Error as error:
            outcome = f"{error.sqlstate} {str(error)[:60]!r}"
        seconds = time.process_time() - begun
        print(f"{seconds:.2f}\\t{(peak() - before) >> 10}\\t{outcome}\\t{line.strip()}", flush=True)
    """
)


def texts(size: int) -> Sequence[str]:
    """Texts of so many bytes of letters, digits, words, letters of two bytes, brackets; a list."""
    return (
        f"repeat('a', {size})",
        f"repeat('1', {size})",
        f"repeat('a ', {size // 2})",
        f"repeat('é', {size // 2})",
        f"repeat('[', {size})",
        f"range({size // 16})",
    )


def calls(function: Function, text: str) -> Iterator[str]:
    """Calls with the text at each place, and something small of each kind at the others."""
    arity = function.arity
    if arity is None:
        return
    for count in range(max(1, arity.least), _MOST_ARGUMENTS + 1):
        if not arity.allows(count):
            continue
        for place in range(count):
            for other in OTHERS if count > 1 else OTHERS[:1]:
                arguments = [other] * count
                arguments[place] = text
                yield f"{function.name}({', '.join(arguments)})"
        if count > 1:
            yield f"{function.name}({', '.join([text] * count)})"


def casts(text: str) -> Iterator[str]:
    """Casts of the text to each type."""
    for kind in (*TYPES, *NESTED):
        yield f"CAST({text} AS {kind})"
        yield f"TRY_CAST({text} AS {kind})"


def nested(text: str) -> Iterator[str]:
    """Calls of calls, and several large values at once."""
    yield f"replace(replace({text}, 'a', 'bb'), 'b', 'cc')"
    yield f"regexp_replace(lower({text}), '(a)(a)', '\\\\2\\\\1\\\\1', 'g')"
    yield f"levenshtein(lower({text}), upper({text}))"
    yield f"[lower({text}), upper({text})]"
    yield f"concat(lower({text}), upper({text}), reverse({text}))"
    yield f"list_reduce([{text}, {text}], (x, y) -> x || y)"
    yield f"json_merge_patch(to_json({text}), to_json({text}))"
    yield f"months_between(lower({text}), lower({text}))"
    yield f"soundex(translate({text}, 'a', 'b'))"
    yield f"1 = lower({text})"
    yield f"lower({text}) IN (1, 2)"
    yield f"(SELECT string_agg({text} || i, '') FROM range(1000) r(i))"


def statements(size: int) -> Iterator[str]:
    """All calls and casts."""
    for i, text in enumerate(texts(size)):
        for function in FUNCTIONS.values():
            # Other contents than letters seldom cost more: those of one argument show it.
            for call in calls(function, text):
                if not i or call.count(",") < 2:
                    yield f"SELECT ({call}) IS NULL"
        for call in nested(text):
            yield f"SELECT ({call}) IS NULL"
        for cast in casts(text):
            yield f"SELECT ({cast}) IS NULL"


def sample(size: int) -> Iterator[str]:
    """A few calls of each function, with a large text and a large list."""
    letters, numbers = f"repeat('a', {size})", f"range({size // 16})"
    for function in FUNCTIONS.values():
        if function.arity is None:
            continue
        others = max(1, function.arity.least) - 1
        yield f"SELECT ({function.name}({', '.join([letters, *[letters] * others])})) IS NULL"
        yield f"SELECT ({function.name}({', '.join([numbers, *['2'] * others])})) IS NULL"
        if function.kind is FunctionKind.NESTED and others:
            yield f"SELECT ({function.name}({', '.join([numbers, *[numbers] * others])})) IS NULL"


def measured(lines: Sequence[str]) -> Iterator[tuple[float, int, str, str]]:
    """Seconds, MiB, outcome and text of each; one that ends the child counts as endless."""
    rest = list(lines)
    while rest:
        with subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_limit,
        ) as child:
            assert child.stdin is not None and child.stdout is not None
            while rest:
                child.stdin.write(rest[0] + "\n")
                child.stdin.flush()
                answer = child.stdout.readline()
                line = rest.pop(0)
                if not answer:
                    is_endless = child.wait() == -signal.SIGXCPU
                    outcome = f"more than {_SECONDS} s" if is_endless else "the process ended"
                    yield float("inf"), 0, f"{outcome} ({child.returncode})", line
                    break
                seconds, peak, outcome, _ = answer.split("\t", 3)
                yield float(seconds), int(peak), outcome, line
            with suppress(BrokenPipeError):
                child.stdin.close()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def main() -> None:
    """Print what costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=40_000_000)
    parser.add_argument("--over", type=float, default=3.0)
    parser.add_argument("--memory", type=int, default=600, help="MiB that a call may add")
    parser.add_argument("--first", type=int, default=0, help="the call to begin with")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    wanted = re.compile("|".join(given.words), re.IGNORECASE)
    lines = [line for line in statements(given.bytes) if wanted.search(line)]
    measures = measured(lines[given.first :])
    for i, (seconds, peak, outcome, line) in enumerate(measures, given.first + 1):
        if i % _PROGRESS == 0 or i == len(lines):
            print(f"{i} of {len(lines)} calls", file=sys.stderr, flush=True)
        if seconds > given.over or peak > given.memory:
            print(f"{seconds:8.2f} s {peak:6} MiB  {line}  {outcome}", flush=True)


if __name__ == "__main__":
    main()
