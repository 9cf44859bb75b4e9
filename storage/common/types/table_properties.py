"""Properties of a table: names and texts given by TBLPROPERTIES, Kudu's extra configuration.

Three names have a meaning (`common/common.proto`, TableExtraConfigPB); all others are kept as they
are, for people and for tools.
"""

from collections.abc import Mapping

from pykudu_sql.storage.errors import InvalidSchemaError

Properties = Mapping[str, str]

HISTORY_MAX_AGE = "kudu.table.history_max_age_sec"
DISABLE_COMPACTION = "kudu.table.disable_compaction"
MAINTENANCE_PRIORITY = "kudu.table.maintenance_priority"
# Kept as it is, like others: whom SET OWNER names. Who may do what is up to the files.
OWNER = "owner"

MAX_PROPERTY_BYTES = 4096
MAX_HISTORY_AGE = 1 << 40
_FLAGS = {"true": True, "false": False}


def history_max_age(properties: Properties) -> int | None:
    """Seconds that the table keeps history; -1 for ever, None as the database does."""
    text = properties.get(HISTORY_MAX_AGE)
    return None if text is None else int(text)


def compaction_disabled(properties: Properties) -> bool:
    """Whether maintenance leaves the table's rowsets as they are."""
    return _FLAGS[properties.get(DISABLE_COMPACTION, "false").lower()]


def maintenance_priority(properties: Properties) -> int:
    """-5 to 5: the scores of the table's maintenance are multiplied by 1.1 to this power."""
    return int(properties.get(MAINTENANCE_PRIORITY, "0"))


def check_properties(properties: Properties) -> None:
    """Check names and values.

    Raises InvalidSchemaError: one is too long, or a value is not what its name takes.
    """
    for name, value in properties.items():
        if not name or max(len(name.encode()), len(value.encode())) > MAX_PROPERTY_BYTES:
            raise InvalidSchemaError(
                f"table property '{name[:40]}' is empty or longer than {MAX_PROPERTY_BYTES} bytes"
            )
    _check_number(properties, HISTORY_MAX_AGE, -1, MAX_HISTORY_AGE)
    _check_number(properties, MAINTENANCE_PRIORITY, -5, 5)
    flag = properties.get(DISABLE_COMPACTION, "false")
    if flag.lower() not in _FLAGS:
        raise _unfit(DISABLE_COMPACTION, flag, "true or false")


def _check_number(properties: Properties, name: str, least: int, most: int) -> None:
    text = properties.get(name, "0")
    digits = text.removeprefix("-")
    fits = digits.isascii() and digits.isdecimal() and len(digits) < 20
    if not fits or not least <= int(text) <= most:
        raise _unfit(name, text, f"a whole number from {least} to {most}")


def _unfit(name: str, value: str, rule: str) -> InvalidSchemaError:
    return InvalidSchemaError(
        f"table property '{name}' cannot be '{value:.40}'", hint=f"it takes {rule}"
    )
