"""Compatibility functions: those of Impala and SQLite that the engine lacks, as its expressions.

Most are defined by a template: SQL in which `_1`, `_2`, ... stand for its arguments,
`_pattern_2` and `_letters_2` for patterns of time in the engine's spelling. That
keeps what these names mean in one place and needs nothing of the engine but its own functions.
Arguments keep the nodes they are, so columns stay bound and parameters stay parameters.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.planner.functions.aggregate_clauses import aggregate_call, with_clauses
from pykudu_sql.planner.functions.compatibility_forms import (
    check_unread,
    decoded,
    extreme_of,
    in_format,
    letters_pattern,
    named,
    strftime_pattern,
    texts_of_codes,
    truncated,
    units_later,
    zipped,
)
from pykudu_sql.planner.functions.sqlite_datetime import (
    SQLITE_DATETIME_FUNCTIONS,
    sqlite_datetime_call,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.computed_once import ARGUMENTS, name_arguments, with_parts
from pykudu_sql.planner.value_bounds.value_sizes import most_bytes
from pykudu_sql.planner.vocabulary.function_table import SOURCE_NAME

_LARGE = 1024 * 1024  # bytes that are computed as often as a template says
_UNITS = (
    "years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds",
    "microseconds",
)  # fmt: skip
_SHIFTED = "CAST(_1 AS TIMESTAMP) {sign} to_{unit}(_2)"
_TIMES = {
    (f"{unit}_{word}", 2): _SHIFTED.format(sign=sign, unit=unit)
    for unit in _UNITS
    for word, sign in (("add", "+"), ("sub", "-"))
}
_DAYS = {
    (name, 2): _SHIFTED.format(sign=sign, unit="days")
    for name, sign in (("adddate", "+"), ("subdate", "-"), ("date_sub", "-"))
}

_MONTHS = "((year({0}) - year({1})) * 12 + month({0}) - month({1}))".format(
    "CAST(_1 AS TIMESTAMP)", "CAST(_2 AS TIMESTAMP)"
)
_LAST_1, _LAST_2 = (f"CAST({arg} AS DATE) = last_day(CAST({arg} AS DATE))" for arg in ("_1", "_2"))
_DAY_1, _DAY_2 = ("day(CAST(_1 AS TIMESTAMP))", "day(CAST(_2 AS TIMESTAMP))")
_MONTHS_APART = (
    f"CASE WHEN {_DAY_1} = {_DAY_2} OR ({_LAST_1} AND {_LAST_2}) THEN CAST({_MONTHS} AS DOUBLE) "
    f"ELSE {_MONTHS} + ({_DAY_1} - {_DAY_2}) / 31e0 END"
)
_IN_ZONE = "(CAST(_1 AS TIMESTAMP) AT TIME ZONE {0}) AT TIME ZONE {1}"
_WEEKDAYS = "'sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'"
_DAY_AFTER = (
    "CAST(_1 AS DATE) + CAST((list_position([" + _WEEKDAYS + "], lower(left(_2, 3))) "
    "- dayofweek(CAST(_1 AS DATE)) + 5) % 7 + 1 AS INTEGER)"
)
_BEFORE = "left(_1, greatest(length(_1) + _3 + length(_2), 0))"
_POSITION_FROM = (
    "CASE WHEN _3 > 0 AND strpos(substr(_1, _3), _2) > 0 THEN strpos(substr(_1, _3), _2) + _3 - 1 "
    f"WHEN _3 < 0 AND strpos({_BEFORE}, _2) > 0 THEN "
    f"length({_BEFORE}) - strpos(reverse({_BEFORE}), reverse(_2)) - length(_2) + 2 ELSE 0 END"
)
_DIGITS = "lower(CAST(_1 AS TEXT))"
_CONVERTED = (
    f"upper(to_base(CAST(list_sum(list_transform(range(1, length({_DIGITS}) + 1), lambda i: "
    f"(strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr({_DIGITS}, i, 1)) - 1) "
    f"* pow(_2, length({_DIGITS}) - i))) AS BIGINT), _3))"
)
_COMPARED = "CASE WHEN {0} < {1} THEN -1 WHEN {0} > {1} THEN 1 WHEN {0} = {1} THEN 0 END"
_LIMITS = {
    (f"{word}_{name}", 0): f"CAST({value} AS {name})"
    for name, bits in (("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64))
    for word, value in (("min", f"(-{1 << bits - 1})"), ("max", (1 << bits - 1) - 1))
}

_SOUNDS = "translate(upper(regexp_replace(_1, '[^A-Za-z]', '', 'g')), '{}', '{}')".format(
    "AEIOUYHWBFPVCGJKQSXZDTLMNR", "00000000111122222222334556"
)
for _digit in "0123456":
    _SOUNDS = f"regexp_replace({_SOUNDS}, '{_digit}+', '{_digit}', 'g')"
_SOUNDEX = (
    "CASE WHEN _1 IS NULL THEN NULL WHEN regexp_matches(_1, '[A-Za-z]') THEN "
    "upper(regexp_extract(_1, '[A-Za-z]')) || "
    f"rpad(left(replace(substr({_SOUNDS}, 2), '0', ''), 3), 3, '0') ELSE '?000' END"
)
_PIECES = "string_split(_1, _2)"

_TO_PRECISION = "make_timestamp(epoch_us(_1) // {0} * {0})".format(
    "CAST(pow(10, greatest(6 - _2, 0)) AS BIGINT)"
)
_LETTERS = "translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', '"
_LETTERS += "X" * 26 + "x" * 26 + "n" * 10 + "')"
_BUT_LAST = "left(_1, greatest(length(_1) - _2, 0))"
_MASKED = {
    "mask_first_n": _LETTERS.format("left(_1, _2)") + " || substr(_1, _2 + 1)",
    "mask_last_n": f"{_BUT_LAST} || " + _LETTERS.format("right(_1, _2)"),
    "mask_show_first_n": "left(_1, _2) || " + _LETTERS.format("substr(_1, _2 + 1)"),
    "mask_show_last_n": _LETTERS.format(_BUT_LAST) + " || right(_1, _2)",
}
_MASKS = {
    **{(name, 2): template for name, template in _MASKED.items()},
    **{(name, 1): template.replace("_2", "4") for name, template in _MASKED.items()},
    ("mask", 1): _LETTERS.format("_1"),
}
_URL_PARTS = {
    "PROTOCOL": "^([^:/?#]+)://",
    "AUTHORITY": "^[^:/?#]+://([^/?#]*)",
    "USERINFO": "^[^:/?#]+://([^@/?#]*)@",
    "HOST": "^[^:/?#]+://(?:[^@/?#]*@)?([^:/?#]*)",
    "PATH": "^[^:/?#]+://[^/?#]*([^?#]*)",
    "FILE": "^[^:/?#]+://[^/?#]*([^#]*)",
    "QUERY": "^[^?#]*[?]([^#]*)",
    "REF": "#(.*)$",
}
_PART_OF_URL = "CASE upper(_2) {} END".format(
    " ".join(
        f"WHEN '{part}' THEN CASE WHEN regexp_matches(_1, '{pattern}') "
        f"THEN regexp_extract(_1, '{pattern}', 1) END"
        for part, pattern in _URL_PARTS.items()
    )
)
_PRECISION = (
    "CASE typeof(_1) WHEN 'TINYINT' THEN 3 WHEN 'SMALLINT' THEN 5 WHEN 'INTEGER' THEN 10 "
    "WHEN 'BIGINT' THEN 19 ELSE TRY_CAST(regexp_extract(typeof(_1), '[(]([0-9]+),', 1) AS INTEGER) "
    "END"
)
_SCALE = (
    "CASE WHEN typeof(_1) IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT') THEN 0 "
    "ELSE TRY_CAST(regexp_extract(typeof(_1), ',([0-9]+)[)]', 1) AS INTEGER) END"
)

# By name and number of arguments.
TEMPLATES: Mapping[tuple[str, int], str] = {
    **_TIMES,
    **_DAYS,
    **_MASKS,
    ("clock_to", 2): f"CAST({_TO_PRECISION} AS TIME)",
    ("local_clock_to", 2): f"CAST({_TO_PRECISION} AS TIME)",
    ("local_moment_to", 2): _TO_PRECISION,
    ("moment_to", 2): _TO_PRECISION,
    ("timeofday", 1): "strftime(_1, '%a %b %d %H:%M:%S %Y UTC')",
    ("part_of_url", 2): _PART_OF_URL,
    ("precision", 1): _PRECISION,
    ("scale", 1): _SCALE,
    ("days_between", 2): "CAST(_1 AS DATE) - CAST(_2 AS DATE)",
    ("from_unixtime", 1): "CAST(make_timestamp(CAST(_1 AS BIGINT) * 1000000) AS TEXT)",
    ("to_date", 1): "CAST(CAST(_1 AS TIMESTAMP) AS DATE)",
    ("to_date", 2): "CAST(strptime(_1, _pattern_2) AS DATE)",
    ("text_of_time", 2): "strftime(CAST(_1 AS TIMESTAMP), _letters_2)",
    ("units_between", 3): "datesub(_1, CAST(_2 AS TIMESTAMP), CAST(_3 AS TIMESTAMP))",
    ("utc_to_unix_micros", 1): "epoch_us(CAST(_1 AS TIMESTAMP))",
    ("unix_micros_to_utc_timestamp", 1): "make_timestamp(CAST(_1 AS BIGINT))",
    ("timestamp_seconds", 1): "make_timestamp(CAST(_1 * 1000000 AS BIGINT))",
    ("timestamp_millis", 1): "make_timestamp(CAST(_1 * 1000 AS BIGINT))",
    ("timestamp_micros", 1): "make_timestamp(CAST(_1 AS BIGINT))",
    ("unix_timestamp", 1): "CAST(floor(epoch(CAST(_1 AS TIMESTAMP))) AS BIGINT)",
    ("unix_timestamp", 2): "CAST(floor(epoch(strptime(_1, _pattern_2))) AS BIGINT)",
    ("from_unixtime", 2): ("strftime(make_timestamp(CAST(_1 AS BIGINT) * 1000000), _pattern_2)"),
    ("from_timestamp", 2): "strftime(CAST(_1 AS TIMESTAMP), _pattern_2)",
    ("date_format", 2): "strftime(CAST(_1 AS TIMESTAMP), _pattern_2)",
    ("time_of_text", 2): "CAST(strptime(_1, _pattern_2) AS TIMESTAMP)",
    ("extract_unit", 2): "date_part(_2, CAST(_1 AS TIMESTAMP))",
    ("months_apart", 2): _MONTHS_APART,
    ("int_months_between", 2): f"CAST(trunc({_MONTHS_APART}) AS INTEGER)",
    ("day_after", 2): _DAY_AFTER,
    ("date_cmp", 2): _COMPARED.format("CAST(_1 AS DATE)", "CAST(_2 AS DATE)"),
    ("timestamp_cmp", 2): _COMPARED.format("CAST(_1 AS TIMESTAMP)", "CAST(_2 AS TIMESTAMP)"),
    ("instr_from", 3): _POSITION_FROM,
    ("instr_from", 4): (
        "CASE WHEN len(string_split(substr(_1, _3), _2)) > _4 THEN length(array_to_string("
        "list_slice(string_split(substr(_1, _3), _2), 1, _4), _2)) + _3 ELSE 0 END"
    ),
    ("replace_pattern", 3): "regexp_replace(_1, _2, _3, 'g')",
    ("conv", 3): _CONVERTED,
    **_LIMITS,
    ("istrue", 1): "_1 IS TRUE",
    ("isfalse", 1): "_1 IS FALSE",
    ("isnottrue", 1): "_1 IS NOT TRUE",
    ("isnotfalse", 1): "_1 IS NOT FALSE",
    ("nullvalue", 1): "_1 IS NULL",
    ("nonnullvalue", 1): "_1 IS NOT NULL",
    ("countset", 1): "bit_count(_1)",
    ("countset", 2): "CASE WHEN _2 = 0 THEN bit_count(~_1) ELSE bit_count(_1) END",
    ("setbit", 2): "_1 | (CAST(1 AS BIGINT) << _2)",
    ("setbit", 3): (
        "CASE WHEN _3 = 0 THEN _1 & ~(CAST(1 AS BIGINT) << _2) "
        "ELSE _1 | (CAST(1 AS BIGINT) << _2) END"
    ),
    ("log1p", 1): "ln(1 + _1)",
    ("expm1", 1): "exp(_1) - 1",
    ("hypot", 2): "sqrt(pow(_1, 2) + pow(_2, 2))",
    ("bround", 1): "round_even(_1, 0)",
    ("bround", 2): "round_even(_1, _2)",
    ("bit_at", 2): "(_1 >> _2) & 1",
    ("e", 0): "exp(1)",
    ("positive", 1): "_1",
    ("minus", 1): "-_1",
    ("dexp", 1): "exp(_1)",
    ("dlog1", 1): "ln(_1)",
    ("dlog10", 1): "log10(_1)",
    ("dpow", 2): "pow(_1, _2)",
    ("fpow", 2): "pow(_1, _2)",
    ("dsqrt", 1): "sqrt(_1)",
    ("bucket_of", 4): (
        "CASE WHEN _1 < _2 THEN 0 WHEN _1 >= _3 THEN _4 + 1 "
        "ELSE CAST(floor((_1 - _2) * _4 / (_3 - _2)) AS BIGINT) + 1 END"
    ),
    ("bytes", 1): "strlen(_1)",
    ("lengthb", 1): "strlen(_1)",
    ("octet_length", 1): "strlen(hex(_1)) // 2",
    ("sound_of", 1): _SOUNDEX,
    ("quote", 1): (
        "CASE WHEN _1 IS NULL THEN 'NULL' WHEN typeof(_1) = 'VARCHAR' THEN "
        """'''' || replace(CAST(_1 AS TEXT), '''', '''''') || '''' """
        "WHEN typeof(_1) = 'BLOB' THEN 'X''' || hex(CAST(CAST(_1 AS TEXT) AS BLOB)) || '''' "
        "ELSE CAST(_1 AS TEXT) END"
    ),
    ("zeroblob", 1): "unhex(repeat('00', _1))",
    ("ilike", 2): "_1 ILIKE _2",
    ("mid", 3): "substr(_1, _2, _3)",
    ("replicate", 2): "repeat(_1, _2)",
    ("pieces_to", 3): (
        f"CASE WHEN _3 >= 0 THEN array_to_string(list_slice({_PIECES}, 1, _3), _2) "
        f"ELSE array_to_string(list_slice({_PIECES}, _3, -1), _2) END"
    ),
    ("jaro_sim", 2): "jaro_similarity(_1, _2)",
    ("jaro_distance", 2): "1 - jaro_similarity(_1, _2)",
    ("jaro_dst", 2): "1 - jaro_similarity(_1, _2)",
    ("jw_sim", 2): "jaro_winkler_similarity(_1, _2)",
    ("jaro_winkler_distance", 2): "1 - jaro_winkler_similarity(_1, _2)",
    ("jw_dst", 2): "1 - jaro_winkler_similarity(_1, _2)",
    ("dle_dst", 2): "damerau_levenshtein(_1, _2)",
    ("utf8_length", 1): "length(_1)",
    ("le_dst", 2): "levenshtein(_1, _2)",
    ("get_json_object", 2): "json_extract_string(_1, _2)",
    ("isnull", 1): "_1 IS NULL",
    ("isnull", 2): "coalesce(_1, _2)",
    ("isnotnull", 1): "NOT _1 IS NULL",
    ("likely", 1): "_1",
    ("unlikely", 1): "_1",
    ("likelihood", 2): "_1",
    ("pg_typeof", 1): "typeof(_1)",
    ("every", 1): "bool_and(_1)",
    ("size", 1): "len(_1)",
    ("json_group_array", 1): "to_json(coalesce(list(_1), []))",
    ("json_group_object", 2): (
        "CAST('{' || coalesce(string_agg(to_json(CAST(_1 AS TEXT)) || ':' || "
        "coalesce(CAST(to_json(_2) AS TEXT), 'null'), ','), '') || '}' AS JSON)"
    ),
    ("json_patch", 2): "json_merge_patch(_1, _2)",
    ("row_to_json", 1): "to_json(_1)",
    ("array_to_json", 1): "to_json(_1)",
    ("nullifzero", 1): "nullif(_1, 0)",
    ("zeroifnull", 1): "coalesce(_1, 0)",
    ("bitand", 2): "_1 & _2",
    ("bitor", 2): "_1 | _2",
    ("bitnot", 1): "~_1",
    ("bitxor", 2): "xor(_1, _2)",
    ("shiftleft", 2): "_1 << _2",
    ("shiftright", 2): "_1 >> _2",
    ("dceil", 1): "ceil(_1)",
    ("dfloor", 1): "floor(_1)",
    ("dround", 1): "round(_1)",
    ("dround", 2): "round(_1, _2)",
    ("dtrunc", 1): "trunc(_1)",
    ("dtrunc", 2): "trunc(_1, _2)",
    ("pmod", 2): "((_1 % _2) + _2) % _2",
    ("quotient", 2): "CAST(_1 AS BIGINT) // CAST(_2 AS BIGINT)",
    ("base64encode", 1): "base64(encode(_1))",
    ("base64decode", 1): "decode(from_base64(_1))",
    ("btrim", 1): "trim(_1)",
    ("btrim", 2): "trim(_1, _2)",
    ("find_in_set", 2): "coalesce(list_position(string_split(_2, ','), _1), 0)",
    ("strleft", 2): "left(_1, _2)",
    ("strright", 2): "right(_1, _2)",
    ("appx_median", 1): "median(_1)",
    ("array_concat_agg", 1): "flatten(list(_1) FILTER (WHERE NOT _1 IS NULL))",
    ("array_unique_agg", 1): "list(DISTINCT _1) FILTER (WHERE NOT _1 IS NULL)",
    ("collect_list", 1): "coalesce(list(_1) FILTER (WHERE NOT _1 IS NULL), [])",
    ("collect_set", 1): "coalesce(list(DISTINCT _1) FILTER (WHERE NOT _1 IS NULL), [])",
    ("percentile", 2): "quantile_cont(CAST(_1 AS DOUBLE), _2)",
    ("percentile_approx", 2): "quantile_disc(_1, _2)",
    ("approx_percentile", 2): "quantile_disc(_1, _2)",
    ("sequence", 2): "generate_series(_1, _2)",
    ("sequence", 3): "generate_series(_1, _2, _3)",
    ("from_utc_timestamp", 2): _IN_ZONE.format("'UTC'", "_2"),
    ("to_utc_timestamp", 2): _IN_ZONE.format("_2", "'UTC'"),
    ("ndv", 1): "approx_count_distinct(_1)",
    ("ndv", 2): "approx_count_distinct(_1)",
    ("total", 1): "coalesce(sum(CAST(_1 AS DOUBLE)), 0e0)",
}
# Those that no template can say, since it depends on what an argument is.
_FORMS: Mapping[str, Callable[[Sequence[exp.Expr]], exp.Expr]] = {
    "decode_as": partial(in_format, "decode"),
    "decode_pairs": decoded,
    "encode_as": partial(in_format, "encode"),
    "trunc_time": truncated,
    "date_later": units_later,
    "units_later": units_later,
    "list_zip": partial(zipped, "list_zip"),
    "array_zip": partial(zipped, "array_zip"),
    "reduce_list": partial(named, "list_reduce"),
    "winkler_from": partial(named, "jaro_winkler_similarity"),
    "text_of_codes": texts_of_codes,
    "greatest_of": partial(extreme_of, "greatest"),
    "least_of": partial(extreme_of, "least"),
    **{name: partial(sqlite_datetime_call, name) for name in SQLITE_DATETIME_FUNCTIONS},
}
_PATTERNS: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    "_pattern": strftime_pattern,
    "_letters": letters_pattern,
}
_TEMPLATE_NAMES = frozenset(name for name, _ in TEMPLATES)
COMPATIBILITY_FUNCTIONS = frozenset((*_TEMPLATE_NAMES, *_FORMS))
_COLLECTING = (exp.ArrayConcatAgg, exp.ArrayUniqueAgg)
COMPATIBILITY_KINDS = (*_COLLECTING, exp.Anonymous)  # the nodes that calls of them are


def replace_compatibility_function(node: exp.Expr) -> exp.Expr:
    """What a call of a compatibility function means to the engine; any other node as it is.

    A name called with a number of arguments that has no template stays, and the engine says so.
    """
    if isinstance(node, _COLLECTING):
        name, call_arguments = node.sql_name().lower(), [node.this]
    elif isinstance(node, exp.Anonymous):
        name, call_arguments = node.name.lower(), node.expressions
    else:
        return node
    if name in _FORMS:
        return _FORMS[name](call_arguments)
    if name not in _TEMPLATE_NAMES:
        return node
    call = aggregate_call(name, call_arguments)
    arguments = call.arguments
    text = TEMPLATES.get((name, len(arguments)))
    if text is None:
        return node
    if name == "date_sub" and isinstance(arguments[1], exp.Interval):
        moment = exp.cast(arguments[0], exp.DType.TIMESTAMP)
        return exp.paren(exp.Sub(this=moment, expression=arguments[1]), copy=False)
    template = _parsed(text).copy()
    for part in nodes_of(template, exp.Func):
        part.meta[SOURCE_NAME] = name  # what is said of a part is said of the call
    return with_clauses(_meaning(name, template, arguments), call)


def _meaning(name: str, template: exp.Expr, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A template with arguments in it; large ones that it mentions twice are computed once."""
    slots = [slot for slot in nodes_of(template, exp.Column) if _number(slot)]
    check_unread(name, arguments, {_number(slot) for slot in slots})
    mentions = Counter(slot.name for slot in slots)
    is_aggregate = template.find(exp.AggFunc) is not None
    repeated = {
        i: argument
        for i, argument in enumerate(arguments)
        if mentions[f"_{i + 1}"] > 1 and not is_aggregate and most_bytes(argument) > _LARGE
    }
    named = name_arguments(list(repeated.values()), ARGUMENTS)
    named_arguments = [*arguments]
    for i, argument in zip(repeated, named.arguments, strict=True):
        named_arguments[i] = argument
    for slot in slots:
        argument = named_arguments[_number(slot) - 1]
        pattern = _PATTERNS.get(slot.name.rpartition("_")[0])
        slot.replace(pattern(argument) if pattern else _operand(argument.copy()))
    return with_parts(template, named)


def _number(slot: exp.Column) -> int:
    """The number of the argument that a name of a template means, 0 for a lambda's own name."""
    number = slot.name.rpartition("_")[2]
    return int(number) if number.isdigit() else 0


def _operand(node: exp.Expr) -> exp.Expr:
    """A node that stays one whatever operator stands beside it."""
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Unary) else node


@cache
def _parsed(template: str) -> exp.Expr:
    """A template's tree, in parentheses so that it fits wherever the call stood."""
    tree: exp.Expr = parse(f"SELECT ({template})").expressions[0]
    return tree
