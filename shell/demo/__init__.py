"""The demo: real flight data loaded, queried, changed and read AS OF, each answer checked."""

from pykudu_sql.shell.demo.story import main

__all__ = ["main"]
