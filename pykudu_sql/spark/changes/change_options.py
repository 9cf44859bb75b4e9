"""The options of the change feed; Spark hands them over in lower case.

| option | for | what it does |
|---|---|---|
| readChangeFeed | both | `true`: the changes of the table's rows instead of its rows |
| columns | both | names, with commas between; the others are not read |
| startingTimestamp | both | changes after this moment; a stream without it begins with all rows |
| endingTimestamp | batch | only changes up to this moment, those at it included |
| maxRowsPerTrigger | stream | a batch has about so many rows at most, but whole commits |

A moment is a timestamp, a hybrid timestamp or the name of a snapshot, as for `asOf`.
"""

from collections.abc import Mapping
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.options import TableLocation, check_names, names_option, natural_option
from pykudu_sql.storage.errors import InvalidValueError, ProgrammingError

_OPTIONS: Final = (
    "readChangeFeed",
    "columns",
    "startingTimestamp",
    "endingTimestamp",
    "maxRowsPerTrigger",
)


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """Which changes are read.

    Attributes:
        columns: names, or None for all.
        starting: changes after this moment; None for the beginning.
        ending: and up to this one; None for now.
        max_rows: of one batch of a stream, about; None for no limit.
    """

    location: TableLocation
    columns: tuple[str, ...] | None = None
    starting: str | None = None
    ending: str | None = None
    max_rows: int | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "ChangeOptions":
        """The options as Spark hands them over, names in lower case.

        Raises ProgrammingError: table or path is missing, or an option is for the table's rows
        only; InvalidValueError: a value does not fit.
        """
        for name, spelled in (("where", "where"), ("asof", "asOf")):
            if options.get(name):
                raise ProgrammingError(
                    f"option '{spelled}' is for the rows of a table, not for its changes",
                    hint="filter the DataFrame; startingTimestamp and endingTimestamp say when",
                )
        check_names(options, _OPTIONS)
        limit = options.get("maxrowspertrigger")
        return cls(
            TableLocation.of(options),
            names_option(options),
            options.get("startingtimestamp") or None,
            options.get("endingtimestamp") or None,
            None if limit is None else natural_option(limit, "maxRowsPerTrigger", "rows"),
        )


def wants_changes(options: Mapping[str, str]) -> bool:
    """Whether options request the changes of a table.

    Raises InvalidValueError: `readChangeFeed` is neither true nor false.
    """
    text = options.get("readchangefeed", "false").lower()
    if text not in ("true", "false"):
        raise InvalidValueError(f"option 'readChangeFeed' is {text!r:.40}, not true or false")
    return text == "true"
