"""Names as statements write them: in backticks where a bare word would not be read as the name."""

# Words that SQL or the grammar of tables and partitions reads as something else in some place.
_RESERVED_WORDS = """
    add all alter analyze and any array as asc between both by case cast check collate column
    columns comment compression constraint create cross cube current current_date current_time
    current_timestamp database default delete desc describe distinct div drop else encoding end
    escape except exists explain external false fetch filter first for foreign from full group
    grouping hash having if ilike immutable in index inner insert intersect interval into is
    join key last lateral left like limit localtime localtimestamp merge natural no non not null
    nulls of offset on only optimize or order outer over partition partitions pivot primary
    qualify range recursive references rename replace returning right rollup row rows schema
    select semi set show some split stored struct symmetric system_time table tablesample
    tblproperties then timestamp to trailing true truncate unbounded union unique unpivot unset
    update upsert using value values view when where window with within
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def quoted_name(name: str) -> str:
    """One name as SQL. `name`: lower case, without its database."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    if plain and name.lower() == name and name not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def quoted_full_name(name: str) -> str:
    """A table's name with its database; in one piece where dots are not between two parts."""
    database, dot, own = name.partition(".")
    if dot and database and own:
        return f"{quoted_name(database)}.{quoted_name(own)}"
    return quoted_name(name)
