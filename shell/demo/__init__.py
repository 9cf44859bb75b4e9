"""The demo: real flight data loaded, queried, changed, read as it was, and checked."""

from pykudu_sql.shell.demo.story import main

__all__ = ["main"]
