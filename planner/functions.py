"""The functions a query may call: pure ones of the engine, by name; nothing else gets through.

The engine has functions that read files, show its settings or run text as SQL. They are kept out
by this list, not by a list of what is known to be dangerous; the engine's own lockdown is the
second line. Names that mean something to Impala or SQLite and nothing to the engine come from
`borrowed_functions`. sqlglot knows most functions as node classes, which carry the SQL names they
stand for; the rest arrive as `Anonymous`.
"""

import difflib

from sqlglot import exp

from pykudu_sql.planner.borrowed_functions import BORROWED
from pykudu_sql.planner.dialect import node_position
from pykudu_sql.planner.own_names import INNER_NAMES, OUTER_NAMES
from pykudu_sql.storage.errors import ProgrammingError

_OPERATORS = """
    add all and any array case cast divide exists if iif in map multiply or struct subtract
    to_map try_cast xor
"""
_NUMERIC = """
    abs acos acosh asin asinh atan atan2 atanh bin bit_count bitwise_and_agg bitwise_or_agg
    bitwise_xor_agg cbrt ceil ceiling cos cosh cot degrees even exp factorial fdiv floor fmod
    gamma gcd greatest greatest_common_divisor is_inf is_nan isfinite isinf isnan lcm least
    least_common_multiple lgamma ln log log10 log2 mod nextafter pi pow power radians rand
    random round round_even roundbankers sign signbit sin sinh sqrt tan tanh trunc truncate
"""
_TEXT = """
    ascii bar base64 bit_length char char_length character_length chr concat concat_ws contains
    damerau_levenshtein decode edit_distance editdist3 encode ends_with endswith format
    format_bytes from_base64 from_binary from_hex group_concat hamming hash hex ilike_escape
    initcap instr jaccard jaro_similarity jaro_winkler_similarity jarowinkler_similarity lcase
    left left_grapheme len length length_grapheme levenshtein like_escape lower lpad ltrim md5
    md5_number md5_number_lower md5_number_upper mismatches nfc_normalize not_ilike_escape
    not_like_escape octet_length ord overlay pad position prefix printf regexp_count
    regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_i_like regexp_ilike
    regexp_like regexp_matches regexp_replace regexp_split regexp_split_to_array repeat replace
    reverse right rpad rtrim sha sha1 sha2 sha256 space split split_part split_to_array
    starts_with startswith str_position str_split str_split_regex string_split
    string_split_regex string_to_array strip_accents strlen strpos substr substring
    substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin
    unhex unicode upper url_decode url_encode
"""
_TIME = """
    add_months age century current_date current_time current_timestamp date date_add date_bin
    date_diff date_from_parts date_part date_sub date_trunc datediff datepart datesub
    datetime_trunc datetrunc day day_of_month day_of_week day_of_year dayname dayofmonth
    dayofweek dayofweek_iso dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era
    extract from_unixtime get_current_time get_current_timestamp hour interval isodow isoyear
    julian last_day localtime localtimestamp make_date make_time make_timestamp
    make_timestamp_ms make_timestamptz microsecond millennium millisecond minute month monthname
    now quarter second str_to_date str_to_time strftime strptime time_bucket time_from_parts
    time_to_str time_to_unix timestamp timestamp_diff timestamp_from_parts timestamp_sub
    timestamp_trunc timezone timezone_hour timezone_minute to_centuries to_date to_days
    to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp
    try_strptime ts_or_ds_add ts_or_ds_to_date ts_or_ds_to_timestamp unix_date unix_micros
    unix_millis unix_seconds unix_to_time utc_timestamp week week_of_year weekday weekofyear
    year year_of_week yearweek
"""
_CONDITIONAL = """
    coalesce decode equal_null ifnull nullif nvl nvl2 typeof
"""
_AGGREGATE = """
    any_value approx_count_distinct approx_distinct approx_quantile approx_top_k arbitrary
    arg_max arg_max_null arg_min arg_min_null argmax argmin array_agg array_unique_agg avg
    bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop
    covar_samp entropy every favg first fsum geomean geometric_mean grouping grouping_id
    histogram kahan_sum kurtosis kurtosis_pop last list listagg logical_and logical_or mad max
    max_by mean median min min_by mode percentile_cont percentile_disc product quantile
    quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness std stddev stddev_pop stddev_samp
    string_agg sum sumkahan var_pop var_samp variance variance_pop wavg weighted_avg
"""
_WINDOW = """
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank
    row_number
"""
_NESTED = """
    aggregate apply array_append array_cat array_concat array_concat_agg array_construct
    array_contains array_contains_all array_distinct array_extract array_filter array_first
    array_has array_has_all array_has_any array_indexof array_intersect array_intersection
    array_last array_length array_max array_min array_overlaps array_pop_back array_pop_front
    array_position array_prepend array_push_back array_push_front array_resize array_reverse
    array_reverse_sort array_select array_size array_slice array_sort array_sum array_to_string
    array_transform array_unique array_value array_where array_zip arrays_overlap cardinality
    element_at explode filter flatten generate_series list_aggr list_aggregate list_any_value
    list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
    list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
    list_cosine_distance list_cosine_similarity list_count list_distinct list_dot_product
    list_element list_entropy list_extract list_filter list_first list_grade_up list_has
    list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect
    list_kurtosis list_last list_mad list_max list_median list_min list_mode list_pack
    list_position list_prepend list_product list_reduce list_resize list_reverse
    list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop
    list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop
    list_var_samp list_where list_zip map_concat map_contains map_contains_entry
    map_contains_value map_entries map_extract map_extract_value map_from_entries map_keys
    map_values range reduce row size sort_array struct_concat struct_extract struct_insert
    struct_keys struct_pack struct_update struct_values transform union_extract union_tag
    union_value unnest
"""
_JSON = """
    from_json j_s_o_n_array j_s_o_n_object json json_array json_array_length json_contains
    json_exists json_extract json_extract_path json_extract_path_text json_extract_scalar
    json_extract_string json_keys json_merge_patch json_object json_pretty json_quote
    json_structure json_transform json_type json_valid json_value jsonb_extract
    jsonb_extract_scalar parse_json to_json
"""
_IDENTITY = """
    current_catalog current_database current_schema current_user current_version effective_user
    gen_random_uuid logged_in_user session_user user uuid uuidv4 uuidv7 version
"""

ALLOWED = (
    frozenset(
        " ".join(
            (
                _OPERATORS,
                _NUMERIC,
                _TEXT,
                _TIME,
                _CONDITIONAL,
                _AGGREGATE,
                _WINDOW,
                _NESTED,
                _JSON,
                _IDENTITY,
            )
        ).split()
    )
    | BORROWED
)
# Without the names that calls get only on their way to the engine, and with those they had.
PUBLIC_NAMES = (ALLOWED - INNER_NAMES) | OUTER_NAMES
AGGREGATES = frozenset(_AGGREGATE.split())
VOLATILE = frozenset({"gen_random_uuid", "rand", "random", "uuid", "uuidv4", "uuidv7"})
TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})


def function_names(node: exp.Func) -> frozenset[str]:
    """The SQL names a call may stand for, in lower case."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return frozenset({node.name.lower()})
    return frozenset(name.lower() for name in type(node).sql_names())


def is_allowed(node: exp.Func) -> bool:
    """Whether a query may call this."""
    if isinstance(node, exp.Connector | exp.Cast | exp.Case | exp.CombinedAggFunc):
        return True
    return not ALLOWED.isdisjoint(function_names(node))


def check_function(node: exp.Func, text: str) -> None:
    """Refuse a call of a function that is not on the list.

    Raises:
        ProgrammingError: with the place, and a near name if there is one.
    """
    if is_allowed(node):
        return
    name = _written_name(node, text)
    close = difflib.get_close_matches(name, PUBLIC_NAMES, n=1, cutoff=0.8)
    raise ProgrammingError(
        f"function {name}() does not exist",
        hint=f"did you mean {close[0]}()?" if close else None,
        position=node_position(node, text),
        sqlstate="42883",
    )


def _written_name(node: exp.Func, text: str) -> str:
    """The name of a call as the statement has it, or one of those it may stand for."""
    if "start" in node.meta and text:
        return text[node.meta["start"] : node.meta["end"] + 1].lower()
    return min(function_names(node), key=len)


def gathers_rows(node: exp.Expr) -> bool:
    """Whether an expression has an aggregate over the rows of the query that it belongs to."""
    return any(
        not AGGREGATES.isdisjoint(function_names(call))
        and call.find_ancestor(exp.Window, exp.Query) is None
        for call in node.find_all(exp.Func)
    )


def is_volatile(node: exp.Expr) -> bool:
    """Whether a call gives another value each time, so that it cannot be folded."""
    return isinstance(node, exp.Func) and not VOLATILE.isdisjoint(function_names(node))
