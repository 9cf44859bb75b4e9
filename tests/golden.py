"""Golden files: what a test printed, kept under version control for people to read.

Run the tests with the environment variable UPDATE_GOLDEN=1 to write them anew, and read the
difference before committing it.
"""

import os
from pathlib import Path


def check_golden(path: Path, actual: str) -> None:
    """Compare a text with a golden file, or write the file when UPDATE_GOLDEN=1 is set."""
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == actual, f"{path} differs; see tests/golden.py"
