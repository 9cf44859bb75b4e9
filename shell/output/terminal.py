"""Where results go: a terminal, a pipe or a file.

On a terminal nothing that data contains can act on it: every character written there is escaped
first. Into a pipe or a file text goes as it is. Colours are for terminals alone, and not where
`NO_COLOR` is set.
"""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.output.messages import wrap_message
from pykudu_sql.shell.output.pager import CHOP_LINES, PagedText, PagerClosed
from pykudu_sql.shell.output.spans import Line, Role, Span, add_colour, text_of
from pykudu_sql.shell.output.status_line import StatusLine
from pykudu_sql.shell.settings import UsageError

if TYPE_CHECKING:
    import subprocess

_ERROR = re.compile(r"(?:.*?:\d+: )?(ERROR(?: \w{5})?:)(.*)")
_CARET = re.compile(r" *\^+")


def shows_colours(stream: IO[str]) -> bool:
    """Whether a stream is a terminal whose user wants colours."""
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and stream.isatty()


def size_of(stream: IO[str]) -> os.terminal_size:
    """Columns and lines of a terminal, 80 and 24 where it does not say."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        return os.terminal_size((80, 24))
    return os.terminal_size((size.columns or 80, size.lines or 24))


class ProgramEnded(UsageError):
    """The command that results were written to reads no more."""


class Output:
    """A stream of text that can be redirected to a file and back.

    Attributes:
        status: the line of progress, erased before results are written.
        seconds_paged: that the user was in a pager.
    """

    def __init__(self, stream: TextIO) -> None:
        self._standard = stream
        self._stream: IO[str] = stream
        self._target = ""
        self._program: subprocess.Popen[str] | None = None
        self._paged: PagedText | None = None
        self.seconds_paged = 0.0
        self.status = StatusLine(sys.stderr)

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self._stream.isatty()

    @property
    def file(self) -> str:
        """The path of the file that is written, empty where there is none."""
        is_file = self._stream is not self._standard and self._program is None
        return self._target if is_file else ""

    def write(self, text: str) -> None:
        """Write text, escaped if this is a terminal."""
        if self.is_terminal:
            rendered = escape(text, keep="\n\t")
            self._show(rendered, rendered)
            return
        with self._restored_on_failure():
            self._stream.write(text)

    def _show(self, text: str, plain: str) -> None:
        """Write text that is safe on a terminal. `plain`: the same without colours."""
        self.status.end()
        if self._paged is None:
            self._stream.write(text)
        else:
            self._paged.write(text, plain)

    @contextmanager
    def paged(self, command: str, *, safe: bool) -> Iterator[None]:
        """A block whose text goes through a pager if it does not fit the screen.

        The block ends early when the user closes the pager.

        `command`: of the pager; `safe`: it must start no other program.
        """
        if self._paged is not None or not self.is_terminal:
            yield
            return
        self._paged = paged = PagedText(command, self._stream, self._size(), safe=safe)
        try:
            with suppress(PagerClosed):
                yield
        finally:
            paged.close()
            self._paged = None
            self.seconds_paged += paged.seconds

    @property
    def has_pager(self) -> bool:
        """Whether a pager has the screen now, and Ctrl-C is its own."""
        paged = self._paged
        return paged is not None and paged.is_active

    def scroll_sideways(self) -> None:
        """Show what comes in the pager, whose lines are not broken; only within `paged`."""
        if self._paged is not None:
            self.status.end()
            self._paged.start(CHOP_LINES)

    @property
    def is_paged(self) -> bool:
        """Whether text that does not fit the screen can be scrolled."""
        return self._paged is not None

    def copy(self, text: str) -> bool:
        """Give a text to the terminal's own clipboard; whether it could be.

        Nobody knows whether the terminal took it: some do not, or ask first.
        """
        from pykudu_sql.shell.output.clipboard import MOST_BYTES, osc52

        if not shows_colours(self._stream) or len(text.encode()) > MOST_BYTES:
            return False
        self._stream.write(osc52(text))
        self._stream.write("Given to the terminal, which may keep it.\n")
        return True

    def clear(self) -> None:
        """Make a terminal's screen empty; nothing elsewhere."""
        if shows_colours(self._stream):
            self._stream.write("\x1b[H\x1b[2J")

    def write_line(self, line: Line) -> None:
        """Write one line, its texts escaped and its roles coloured if this is a terminal."""
        if shows_colours(self._stream):
            spans = [(escape(text), role) for text, role in line]
            rendered = "".join(add_colour(text, role) for text, role in spans) + "\n"
            self._show(rendered, "".join(text for text, _ in spans) + "\n")
        else:
            self.write(text_of(line) + "\n")

    def flush(self) -> None:
        """Hand everything written to the operating system.

        Raises UsageError: the file takes no more; results go to the standard stream again.
        """
        try:
            with self._restored_on_failure():
                self._stream.flush()
        except ProgramEnded:
            pass  # a command such as `head` has read what it wanted

    @contextmanager
    def _restored_on_failure(self) -> Iterator[None]:
        """A block that writes. Results go to the standard stream again once it fails.

        Raises UsageError: a file takes no more, or a command ended (ProgramEnded) or failed;
        OSError: the standard stream takes no more.
        """
        try:
            yield
        except OSError as error:
            if self._stream is self._standard:
                raise
            target, has_ended = self._target, isinstance(error, BrokenPipeError)
            if has_ended and self._program is not None:
                self.restore()
                raise ProgramEnded("the command that read the results has ended") from None
            with suppress(UsageError):
                self.restore()
            raise UsageError(f"cannot write {target}: {error.strerror}") from error

    def width(self) -> int | None:
        """Columns of the terminal; None for a pipe or a file."""
        return None if not self.is_terminal else self._size().columns or 80

    def height(self) -> int | None:
        """Lines of the terminal; None for a pipe or a file."""
        return None if not self.is_terminal else self._size().lines or 24

    def _size(self) -> os.terminal_size:
        return size_of(self._stream)

    def redirect(self, path: Path, *, replace: bool = True) -> None:
        """Write to a file until `restore`.

        Args:
            path: of the file; made where there is none.
            replace: empty a file that exists; otherwise it is refused.

        Raises UsageError: the file cannot be written, or exists and is not to be replaced.
        """
        try:
            descriptor = _open_at_once(path, 0 if replace else os.O_EXCL)
        except FileExistsError:
            raise UsageError(
                f"cannot write {path}: it exists, and a read-only session replaces no file; "
                "give another name"
            ) from None
        except OSError as error:
            reason = "nothing reads this pipe" if error.errno == errno.ENXIO else error.strerror
            raise UsageError(f"cannot write {path}: {reason}") from error
        self.restore()
        self._stream = os.fdopen(descriptor, "w", encoding="utf-8", newline="")
        self._target = str(path)

    def pipe(self, command: str) -> None:
        """Write to a command of the system until `restore`.

        Raises UsageError: the last one ended with another code than 0.
        """
        import subprocess  # a part of the start that few sessions need

        self.restore()
        self.status.end()
        self._standard.flush()
        # Its end is waited for in `restore`.
        self._program = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, encoding="utf-8", errors="surrogatepass"
        )
        assert self._program.stdin is not None
        self._stream, self._target = self._program.stdin, "to the command"

    def restore(self) -> None:
        """Write to the standard stream again, once a command that was written to has ended.

        Raises UsageError: that command ended with another code than 0, or the file that was written
        to takes no more.
        """
        if self._stream is self._standard:
            return
        stream, program = self._stream, self._program
        self._stream, self._program = self._standard, None
        try:
            stream.close()
        except BrokenPipeError:
            pass
        except OSError as error:
            raise UsageError(f"cannot write {self._target}: {error.strerror}") from error
        if program is not None and (code := program.wait()):
            raise UsageError(f"the command that read the results ended with code {code}")


def _open_at_once(path: Path, flags: int) -> int:
    """Open a file to write, without waiting for whoever may read it: nothing would end that wait.

    `flags`: more of `os.open`.
    """
    flags |= os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


def print_error(text: str) -> None:
    """A message that is not a result, on the standard error stream, escaped for a terminal."""
    rendered = escape(text, keep="\n").split("\n")
    if sys.stderr.isatty():
        rendered = wrap_message(rendered, size_of(sys.stderr).columns)
    if shows_colours(sys.stderr):
        rendered = ["".join(add_colour(*span) for span in _highlight(line)) for line in rendered]
    print("\n".join(rendered), file=sys.stderr, flush=True)


def _highlight(line: str) -> Iterator[Span]:
    """A line of a message with the parts that stand out: the code, the place, the hint."""
    if match := _ERROR.fullmatch(line):
        yield Span(line[: match.start(1)])
        yield Span(match[1], Role.ERROR)
        yield Span(match[2])
    elif _CARET.fullmatch(line):
        yield Span(line, Role.ERROR)
    elif line.startswith("HINT:"):
        yield Span(line, Role.HINT)
    else:
        yield Span(line)
