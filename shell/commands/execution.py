"""Commands about how statements run: repeatedly, with parameters, echoed, past errors."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import command, parse_number, parse_switch, set_switch
from pykudu_sql.shell.commands.repetition import last_statement
from pykudu_sql.shell.output.values import to_text
from pykudu_sql.shell.parameters import parse_value
from pykudu_sql.shell.settings import UsageError

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_POLL_SECONDS = 0.05


@command(
    ".watch",
    "\\watch",
    arguments="[SECONDS] [TIMES]",
    summary="run the last statement every 2 seconds until Ctrl-C, or so many times",
    examples=(".watch", ".watch 0.5 10"),
)
def watch(session: "ShellSession", arguments: Sequence[str]) -> None:
    sql = last_statement(session)
    seconds = _seconds(arguments[0]) if arguments else 2.0
    times = parse_number(arguments[1]) if len(arguments) > 1 else 0
    run = 0
    while True:
        session.output.clear()
        session.run_written(sql)
        session.output.flush()
        run += 1
        if run == times:
            return
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            session.check_cancelled()
            time.sleep(min(_POLL_SECONDS, remaining))
        session.check_cancelled()


@command(
    ".param",
    "\\set",
    arguments="[NAME] [VALUE]",
    summary="the value of :name in statements; a name alone forgets it",
    examples=(".param least 10", ".param name 'Ann Lee'", ".param least"),
)
def param(session: "ShellSession", arguments: Sequence[str]) -> None:
    match arguments:
        case []:
            for name, value in session.variables.items():
                value_text = "NULL" if value is None else to_text(value)
                session.output.write(f":{name} = {value_text}\n")
        case [name]:
            session.variables.pop(name.lstrip(":"), None)
        case [name, text]:
            name = name.lstrip(":")
            if not name.isidentifier():
                raise UsageError(
                    f"{name!r} is no name of a parameter: letters, digits and '_' make one"
                )
            session.variables[name] = parse_value(text)


@command(".bail", arguments="on|off", summary="stop a script at its first error")
def bail(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.keep_going = not parse_switch(arguments[0], bail.usage)


@command(".echo", arguments="[on|off]", summary="print each statement before it runs")
def echo(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "echo", arguments, echo)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise UsageError(f"{text!r} is no number of seconds from 0 to 86400")
    return seconds
