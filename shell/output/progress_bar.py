"""How far a statement is, as one line that fits the terminal. Pure functions."""

from typing import TYPE_CHECKING

from pykudu_sql.shell.output.display import elide, escape, width

if TYPE_CHECKING:
    from pykudu_sql import ProgressReport

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEAST_BAR, _MOST_BAR = 10, 30
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MIN_PERCENT_TO_ESTIMATE = 2  # below that nobody can say how long the rest takes
_UNITS = ("", " K", " M", " G", " T")


def progress_line(report: "ProgressReport | None", seconds: float, columns: int) -> str:
    """The line: a bar where the end is known, what is done, the time so far and that left.

    Args:
        report: how far it is; None while nothing was counted.
        seconds: since it began.
        columns: of the terminal; the line takes at most one less.
    """
    room = columns - 1
    spinner = _SPINNER[int(seconds * 10) % len(_SPINNER)]
    if report is None:
        return elide(f"{spinner} running for {_time(seconds)}", room)
    activity = escape(report.activity)  # names a table
    count_text = f"{format_count(report.done)} {report.unit}"
    if not report.total and not report.done:
        return elide(f"{spinner} {activity} for {_time(seconds)}", room)  # nothing came yet
    if not report.total:
        return elide(f"{spinner} {activity}: {count_text}, {_time(seconds)}", room)
    share = min(1.0, report.done / report.total)
    percent = int(share * 100)
    time_text = _time(seconds)
    if _MIN_PERCENT_TO_ESTIMATE <= percent < 100:
        time_text += f", about {_time(seconds * (1 - share) / share)} left"
    count_text = f"{format_count(report.done)} of {format_count(report.total)} {report.unit}"
    text = f" {percent:3} %  {activity}: {count_text}  {time_text}"
    bar = min(_MOST_BAR, room - width(text))
    if bar < _LEAST_BAR:
        return elide(text.strip(), room)
    return f"{_bar(share, bar)}{text}"


def format_count(number: int) -> str:
    """A number of rows or bytes in four digits at most: `980`, `12.5 K`, `1.25 M`."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    if not unit:
        return str(number)
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{_UNITS[unit]}"


def _bar(share: float, columns: int) -> str:
    eighths = int(share * columns * 8)
    whole, part = divmod(eighths, 8)
    bar = "█" * whole + (_EIGHTHS[part] if part else "")
    return bar + "░" * (columns - len(bar))


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{int(seconds)} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
