"""The interactive shell.

Enter runs what is typed once its last statement is closed by a semicolon, or it is a command, and
begins a new line otherwise; pasted text never runs by itself. Ctrl-C clears the line or cancels
the statement that runs, Ctrl-D on an empty line leaves.
"""

import os
import sys
import termios
from collections.abc import Sequence
from functools import partial
from itertools import islice

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import completion_is_selected, has_completions, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth, create_output

import pykudu_sql
from pykudu_sql.shell.commands.command import Quit
from pykudu_sql.shell.completer import ShellCompleter
from pykudu_sql.shell.editing.destructive_statement import destructive_statement
from pykudu_sql.shell.editing.highlighter import STYLE, SqlLexer
from pykudu_sql.shell.editing.history import open_history
from pykudu_sql.shell.editing.interruptible import run_interruptibly
from pykudu_sql.shell.editing.script import CommandPart, is_command, split_script
from pykudu_sql.shell.editing.typed_keys import undrawn_keys
from pykudu_sql.shell.first_prompt import prompt_text
from pykudu_sql.shell.output.display import escape, width
from pykudu_sql.shell.output.printer import PROMPT_LINES
from pykudu_sql.shell.output.terminal import print_error
from pykudu_sql.shell.session import ShellSession, StatementFailed
from pykudu_sql.shell.settings import history_path

# What people type who do not know the commands yet.
_PLAIN_WORDS = {"exit": ".quit", "quit": ".quit"}


def typed_command(text: str) -> str:
    """What was typed, a word of other shells as our command: `help select` as `.help select`."""
    plain = text.strip().rstrip(";").rstrip()
    word, _, topic = plain.partition(" ")
    if word.lower() == "help":
        return f".help {topic.strip()}".rstrip()
    return _PLAIN_WORDS.get(plain.lower()) or without_go(text)


class Repl:
    """Reads, runs and prints until the user leaves."""

    def __init__(self, session: ShellSession) -> None:
        """A shell over a session."""
        self._session = session
        keeps_history = session.settings.history and not session.safe
        history = open_history(history_path()) if keeps_history else InMemoryHistory()
        colours = ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None
        completer = ShellCompleter(session, history.get_strings)
        self._prompt: PromptSession[str] = PromptSession(
            message=self._message,
            prompt_continuation=self._continuation,
            multiline=True,
            lexer=SqlLexer(),
            style=STYLE,
            completer=completer,
            complete_while_typing=True,
            reserve_space_for_menu=PROMPT_LINES,
            auto_suggest=AutoSuggestFromHistory(),
            history=history,
            search_ignore_case=True,
            key_bindings=_key_bindings(),
            color_depth=colours,
            # Results may be redirected; the prompt still belongs on the terminal.
            output=create_output(always_prefer_tty=True),
        )

        def show_signature(buffer: Buffer) -> None:
            forms = completer.signature(buffer.document)
            self._prompt.bottom_toolbar = escape("   ".join(forms)) if forms else None

        self._prompt.default_buffer.on_text_changed += show_signature
        self._prompt.default_buffer.on_cursor_position_changed += show_signature
        session.is_interactive = True
        session.read_history = lambda: list(reversed(list(history.load_history_strings())))

    def run(self, first: Sequence[tuple[str, str | None]] = ()) -> int:
        """Run until the user leaves; returns the exit code, which is 0.

        `first`: scripts with their names, that run before the first prompt.
        """
        try:
            for text, source in first:
                self._run_script(text, source)
        except Quit:
            return 0
        while True:
            try:
                default, self._session.prefill = self._session.prefill, ""
                self._prompt.bottom_toolbar = None
                text = self._prompt.prompt(default=default)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return 0
            try:
                self._run(typed_command(text))
            except Quit:
                return 0
            except KeyboardInterrupt:  # before the work began
                print_error("Cancelled.")

    def _run(self, text: str) -> None:
        if not self._is_confirmed(text):
            print_error("Nothing was run.")
            return
        self._run_script(text)

    def _run_script(self, text: str, source: str | None = None) -> None:
        try:
            with undrawn_keys():
                run_interruptibly(
                    partial(self._session.run_script, text, source),
                    self._session.cancel,
                    self._session.show_progress,
                )
        except StatementFailed:
            pass
        except KeyboardInterrupt as interrupt:
            # Without a cause the statement was done and has printed its result.
            if interrupt.__cause__ is not None:
                print_error("Cancelled.")

    def _is_confirmed(self, text: str) -> bool:
        """Ask about each destructive statement, before the first statement runs."""
        connection = self._session.connection
        if not self._session.settings.guard or self._session.read_only:
            return True
        is_first = True
        for part in split_script(text, pykudu_sql.is_complete):
            if isinstance(part, CommandPart):
                is_first = False
                continue
            for statement in pykudu_sql.split_statements(part.text):
                is_next, is_first = is_first, False
                destructive = destructive_statement(statement.text)
                if destructive is None:
                    continue
                if is_next and self._session.is_refused(statement.text):
                    continue
                now = connection.snapshot_timestamp()
                question = destructive.question(now, in_transaction=connection.in_transaction)
                print_error(f"{question}\nGo on? [y/N]  (.guard off never asks)")
                if not self._says_yes():
                    return False
        return True

    def _says_yes(self) -> bool:
        try:
            answer = input().strip().lower()
        except (EOFError, KeyboardInterrupt):
            return False
        if answer not in ("y", "yes", "n", "no", ""):
            # The first line of something pasted: the others must not run without it.
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        return answer in ("y", "yes")

    def _message(self) -> StyleAndTextTuples:
        return [(self._style(), self._prompt_text())]

    def _continuation(self, columns: int, line: int, wrapped: int) -> StyleAndTextTuples:
        return [(self._style(), "...> ".rjust(width(self._prompt_text())))]

    def _prompt_text(self) -> str:
        return prompt_text(self._session.connection)

    def _style(self) -> str:
        open_transaction = self._session.connection.in_transaction
        return "class:prompt.transaction" if open_transaction else "class:prompt"


def is_ready(text: str) -> bool:
    """Whether Enter should run a text rather than begin a new line."""
    typed = typed_command(text)
    return is_command(typed) or pykudu_sql.is_complete(typed)


def without_go(text: str) -> str:
    """A statement that `\\g` ends, as psql has it, ended by a semicolon; else the text as it is."""
    statement, mark, behind = text.rpartition("\\g")
    if not mark or behind.strip() or not statement.strip() or is_command(text):
        return text
    # What a string, a comment or a quoted name holds is no end.
    return f"{statement};" if pykudu_sql.is_complete(f"{statement};") else text


def complete_word(buffer: Buffer) -> None:
    """Write the only word that fits; open the menu, or go on in it, when there are several."""
    event = CompleteEvent(completion_requested=True)
    fitting = list(islice(buffer.completer.get_completions(buffer.document, event), 2))
    if len(fitting) == 1:
        buffer.apply_completion(fitting[0])
    elif buffer.complete_state is not None:
        buffer.complete_next()
    else:
        buffer.start_completion(insert_common_part=True)


def _key_bindings() -> KeyBindings:
    bindings = KeyBindings()
    # While Ctrl-R searches, the keys belong to the search.
    typing = has_focus(DEFAULT_BUFFER)

    @bindings.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.apply_completion(state.current_completion)
        elif is_ready(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline(copy_margin=False)

    @bindings.add("tab", filter=typing)
    def _(event: KeyPressEvent) -> None:
        complete_word(event.current_buffer)

    @bindings.add("up", filter=typing & has_completions & ~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        # The menu came by itself: it must not stand between the user and the history.
        event.current_buffer.cancel_completion()
        event.current_buffer.auto_up(count=event.arg)

    @bindings.add("f4", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=".last")

    @bindings.add("escape", "enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return bindings
