"""The clipboard: by a program of the desktop, or by the terminal itself (OSC 52)."""

import base64
import shutil
import subprocess
from collections.abc import Mapping, Sequence

# Programs that take the text on their standard input, and the variable that each needs.
_PROGRAMS: Sequence[tuple[str, Sequence[str]]] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
# Terminals cut longer sequences.
MOST_BYTES = 74_000


def clipboard_program(environ: Mapping[str, str]) -> Sequence[str] | None:
    """The program that has the clipboard; None if there is none."""
    for variable, command in _PROGRAMS:
        if (not variable or environ.get(variable)) and shutil.which(command[0]):
            return command
    return None


def copy_to_program(program: Sequence[str], text: str) -> bool:
    """Copy a text by a clipboard program. Returns whether the program succeeded."""
    try:
        process = subprocess.run(
            program, input=text, text=True, check=False, stdout=subprocess.DEVNULL, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return process.returncode == 0


def osc52(text: str) -> str:
    """The escape sequence that gives a text to the terminal's clipboard, also over ssh."""
    return f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
