"""Each function of the table has a rule of growth, or is listed as one that needs none."""

import pykudu_sql
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.value_bounds.value_calls import call_of
from pykudu_sql.planner.value_bounds.value_growth import GROWING
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, Function, FunctionKind

# What these give has a fixed size, or is a state that the engine counts against its memory.
BOUNDED_KINDS = {
    FunctionKind.NUMERIC, FunctionKind.TIME, FunctionKind.IDENTITY, FunctionKind.AGGREGATE,
    FunctionKind.WINDOW,
}  # fmt: skip
BY_THEIR_PATTERN = {"format", "printf"}
# A value of these has a fixed size, that of the arguments, or is made by a lambda whose calls have
# rules; json_pretty is bounded with the depth of its argument.
NO_LARGER = """
    add adddate all and any approx_percentile appx_median array_append array_concat_agg
    array_contains array_contains_all array_distinct array_extract array_filter array_has
    array_has_all array_has_any array_indexof array_intersect array_intersection array_length
    array_max array_min array_overlaps array_pop_back array_pop_front array_position
    array_prepend array_push_back array_push_front array_reverse array_reverse_sort array_size
    array_slice array_sort array_sum array_transform array_unique array_value array_where ascii
    base64decode bit_length bitand bitnot bitor bitxor bround btrim bytes cardinality case cast
    char_length character_length charindex chr coalesce contains countset date_cmp date_format
    days_add days_between days_sub dceil decode dexp dfloor divide dlog1 dlog10 dpow dround
    dsqrt dtrunc e element_at encode ends_with endswith equal_null exists explode expm1 filter
    flatten format_bytes fpow from_base64 from_binary from_hex from_timestamp from_utc_timestamp
    get_json_object getbit group_concat hamming hash hours_add hours_sub hypot if ifnull iif
    ilike ilike_escape in int_months_between isfalse isnotfalse isnotnull isnottrue isnull
    istrue jaccard json json_array_length json_contains json_exists json_extract
    json_extract_path json_extract_path_text json_extract_scalar json_extract_string json_keys
    json_pretty json_structure json_type json_valid json_value lcase left left_grapheme len
    length length_grapheme lengthb like_escape likelihood likely list_any_value list_append
    list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor
    list_bool_and list_bool_or list_contains list_cosine_distance list_cosine_similarity
    list_count list_distinct list_dot_product list_element list_entropy list_extract list_filter
    list_first list_grade_up list_has list_has_all list_has_any list_histogram list_indexof
    list_inner_product list_intersect list_kurtosis list_last list_mad list_max list_median
    list_min list_mode list_position list_prepend list_product list_reduce list_reverse
    list_reverse_sort list_sem list_skewness list_slice list_sort list_stddev_pop
    list_stddev_samp list_sum list_transform list_unique list_var_pop list_var_samp list_where
    locate log1p lower ltrim map map_concat map_contains map_contains_entry map_contains_value
    map_entries map_extract map_extract_value map_from_entries map_keys map_values max_bigint
    max_int max_smallint max_tinyint md5 md5_number md5_number_lower md5_number_upper
    microseconds_add microseconds_sub mid milliseconds_add milliseconds_sub min_bigint min_int
    min_smallint min_tinyint minutes_add minutes_sub mismatches months_add months_sub multiply
    ndv negative nonnullvalue not_ilike_escape not_like_escape nullif nullifzero nullvalue nvl
    nvl2 or ord overlay parse_json percentile percentile_approx pg_typeof pmod position positive
    prefix quotient reduce reverse right rtrim seconds_add seconds_sub setbit sha sha1 sha2
    sha256 shiftleft shiftright size sort_array starts_with startswith str_position
    strip_accents strleft strlen strpos strright struct_concat struct_extract struct_insert
    struct_keys struct_update struct_values subdate substr substring substring_grapheme subtract
    suffix timestamp_cmp timestamp_micros timestamp_millis timestamp_seconds to_utc_timestamp
    total transform trim try_cast typeof ucase unbin unhex unicode union_extract union_tag
    union_value unix_micros_to_utc_timestamp unix_timestamp unlikely unnest upper url_decode
    utc_to_unix_micros utf8_length weeks_add weeks_sub width_bucket xor years_add years_sub
    zeroifnull
"""


def _has_rule(function: Function) -> bool:
    """Whether a call has a rule under the name that it has for the planner."""
    if function.name in GROWING or function.name in BY_THEIR_PATTERN:
        return True
    counts = range(6) if function.arity is None else filter(function.arity.allows, range(6))
    for count in counts:
        arguments = ", ".join(["a", "'b'", "'c'", "1", "1"][:count])
        try:
            tree = apply_rules(parse(f"SELECT {function.name}({arguments})"))
        except pykudu_sql.Error:
            continue
        calls = (call_of(node) for node in tree.walk())
        if any(call is not None and call.name in GROWING for call in calls):
            return True
    return False


def test_each_function_has_a_rule_or_is_listed_as_one_that_cannot_grow() -> None:
    listed = set(NO_LARGER.split())
    without = {
        function.name
        for function in FUNCTIONS.values()
        if function.kind not in BOUNDED_KINDS and not _has_rule(function)
    }
    assert without - listed == set(), "give each a rule in value_growth, or list it here"
    assert listed - without == set(), "these have a rule, or are no functions any more"
