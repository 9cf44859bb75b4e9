"""Functions of defaults by the many names that a model may have for one."""

from typing import Final

UUID: Final = "uuid()"
UUID_DIGITS: Final = "replace(uuid(), '-', '')"
# Without spaces, and `()` behind a name, in lower case; as they are reflected.
_REFLECTED: Final = {
    **dict.fromkeys(
        (
            "now", "current_timestamp", "current_timestamp(6)", "localtimestamp", "utc_timestamp",
            "now()attimezone'utc'", "timezone('utc',now())", "timezone('utc',current_timestamp)",
        ),
        "now()",
    ),
    **dict.fromkeys(("current_timestamp(0)", "datetime('now')"), "CURRENT_TIMESTAMP(0)"),
    "current_timestamp(3)": "CURRENT_TIMESTAMP(3)",
    **dict.fromkeys(("current_date", "today", "date('now')"), "CURRENT_DATE"),
    **dict.fromkeys(("uuid", "gen_random_uuid", "uuidv4"), UUID),
    "replace(uuid(),'-','')": UUID_DIGITS,
}  # fmt: skip


def reflected_function(default: str) -> str | None:
    """The name under which a function is reflected; None of any other default.

    `default`: as SQL.
    """
    while default[:1] == "(" and default[-1:] == ")":
        default = default[1:-1].strip()
    return _REFLECTED.get(default.lower().replace(" ", "").removesuffix("()"))
