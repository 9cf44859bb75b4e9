"""docs/settings.md, built from the table of settings: `make docs`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pykudu_sql.settings import SETTINGS, Setting, SettingScope

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

_HEAD = """# Settings

Built from the table in `pykudu_sql/settings.py` by `make docs`. `SHOW SETTINGS [LIKE 'x%']` lists
what is in force."""

_SCOPES = {
    SettingScope.DATABASE: (
        "Of an open database",
        "Given to `connect`; all connections of a process share them.",
    ),
    SettingScope.SESSION: (
        "Of a session",
        "Given to `connect`, or changed by `SET name = value`, `SET name = DEFAULT` and\n"
        "`RESET name`; each connection has its own.",
    ),
    SettingScope.PROGRAM: (
        "Of the program",
        "Given to `connect`; no statement changes it. `spark_master` is also given to\n"
        "`pykudu-sql` as `--spark-master`, or in the environment as `PYKUDU_SPARK_MASTER`.",
    ),
    SettingScope.REMEMBERED: (
        "Remembered by the database",
        "Changed by `SET DATABASE name = value` and `RESET DATABASE name`; kept in the files.",
    ),
}
_TYPES = {
    "text": "one of the words in quotes, or a name, as the meaning says",
    "boolean": "`true`, `false`, `on`, `off`, `1` or `0`",
    "number": "a whole number",
    "size": "bytes, or text such as `'512MB'` or `'2 gb'`",
    "moment": "a constant expression, as behind AS OF: `'2026-01-31 12:00'`, `SNAPSHOT name`",
    "folder": "the path of a folder that exists, `True` or `False`",
    "duration": "milliseconds, or text such as `'30s'` or `'5 min'`",
    "age": "seconds, text such as `'7 days'` or `'12 hours'`, or `'forever'`",
}


def built() -> str:
    """The whole page."""
    return "\n\n".join((_HEAD, *(_section(scope) for scope in SettingScope), _types())) + "\n"


def _section(scope: SettingScope) -> str:
    title, told = _SCOPES[scope]
    return "\n".join((f"## {title}", "", told, "", *_rows(scope)))


def _rows(scope: SettingScope) -> Iterator[str]:
    yield "| setting | type | default | meaning |"
    yield "|---|---|---|---|"
    for setting in SETTINGS.values():
        if setting.scope is scope:
            yield f"| `{setting.name}` | {setting.type} | {_default(setting)} | {setting.summary} |"


def _default(setting: Setting) -> str:
    value = setting.default
    if value is None:
        return "none"
    text = f"`{str(value).lower()}`"
    return f"{text} {setting.unit}" if setting.unit else text


def _types() -> str:
    used = {setting.type for setting in SETTINGS.values()}
    rows = [f"| {name} | {_TYPES[name]} |" for name in sorted(used)]
    return "\n".join(("## What values look like", "", "| type | values |", "|---|---|", *rows))


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(built(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
