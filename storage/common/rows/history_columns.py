"""The metadata columns of history scans: their names and the kinds of changes.

The names of changes are those of Delta Lake's change data feed; versions are SQL:2011's periods of
system time.
"""

from enum import StrEnum

CHANGE_TYPE = "_change_type"
COMMIT_TIMESTAMP = "_commit_timestamp"
VALID_FROM = "_valid_from"
VALID_TO = "_valid_to"


class HistoryKind(StrEnum):
    """The kind of a history scan."""

    CHANGES = "changes"
    VERSIONS = "versions"
