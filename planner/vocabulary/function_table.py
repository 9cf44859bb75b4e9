"""The functions of the dialect: their names, their kinds and how many arguments each takes.

The one table that says so: the list of what a query may call, suggestions for misspelt names, what
completion offers and the check of arguments are read from it. It says what may be written, not what
a call becomes: `compatibility_functions` has the meaning of names that the engine lacks, and
`value_bounds` says how large the values of the functions that can grow may be.

In the table a line begins with how many arguments its functions take: `2`, `1-3`, `1,3`, `2+` for
two and more, `*` where the parser sees to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from pykudu_sql.dataclass import dataclass

SOURCE_NAME = "pykudu_written"  # in the meta of a call: its name in the statement, in lower case


class FunctionKind(StrEnum):
    """What a function works on; a part of the page of functions each."""

    OPERATOR = "operators written as calls"
    NUMERIC = "numbers"
    TEXT = "texts and binaries"
    TIME = "dates and times"
    CONDITIONAL = "NULLs and types"
    AGGREGATE = "aggregates"
    WINDOW = "windows"
    NESTED = "lists, structs and maps"
    JSON = "JSON"
    IDENTITY = "identifiers"
    COMPATIBILITY = "Impala's and SQLite's"


_SINGULAR = ("1", "at least 1")


@dataclass(frozen=True, slots=True)
class Arity:
    """How many arguments a call may have.

    Attributes:
        counts: numbers that are allowed, in ascending order.
        from_: this many and more are allowed too; None if there is a most.
    """

    counts: Sequence[int]
    from_: int | None = None

    def allows(self, count: int) -> bool:
        """Whether a call may have so many arguments."""
        return count in self.counts or (self.from_ is not None and count >= self.from_)

    @property
    def least(self) -> int:
        """The fewest arguments."""
        return min(self.counts) if self.from_ is None else min((*self.counts, self.from_))

    @property
    def most(self) -> int | None:
        """The most arguments, None if there is no such number."""
        return None if self.from_ is not None else max(self.counts)

    def __str__(self) -> str:
        if self.from_ == 0:
            return "any number of arguments"
        if self.from_ is not None:
            numbers = [*map(str, self.counts), f"at least {self.from_}"]
        elif self.counts == (0,):
            return "no arguments"
        else:
            numbers = [str(count) for count in self.counts]
        count_text = " or ".join(filter(None, (", ".join(numbers[:-1]), numbers[-1])))
        return f"{count_text} argument{'' if numbers[-1] in _SINGULAR else 's'}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function as it is written in statements.

    Attributes:
        name: in lower case.
        kind: what it works on.
        arity: how many arguments it takes; None where syntax of its own says so.
        volatile: whether each call gives another value, so that it cannot be folded.
    """

    name: str
    kind: FunctionKind
    arity: Arity | None
    volatile: bool = False


_OPERATOR = """
    *: all and any array case cast in or struct try_cast
    0,2: map
    1: exists
    1-2: add subtract
    2: divide multiply xor
    2-3: if iif
"""
_NUMERIC = """
    0: pi rand random
    1: abs acos acosh asin asinh atan atanh bin bit_count bitwise_and_agg bitwise_or_agg
        bitwise_xor_agg cbrt ceil ceiling cos cosh cot degrees even exp factorial floor gamma
        is_inf is_nan isfinite isinf isnan lgamma ln log10 log2 radians sign signbit signum sin
        sinh sqrt tan tanh
    1+: greatest least
    1-2: log round trunc truncate
    2: atan2 fdiv fmod gcd greatest_common_divisor lcm least_common_multiple mod nextafter pow
        power round_even roundbankers
"""
_TEXT = """
    1: ascii base64 bit_length char_length character_length chr format_bytes from_base64
        from_binary from_hex hex initcap lcase len length length_grapheme lower md5 md5_number
        md5_number_lower md5_number_upper nfc_normalize octet_length ord regexp_escape reverse
        sha sha1 sha256 soundex space strip_accents strlen to_base64 to_binary to_hex ucase
        unbin unhex unicode upper url_decode url_encode
    1+: char concat decode format hash printf
    1-2: encode group_concat ltrim rtrim sha2 trim
    2: contains damerau_levenshtein editdist3 ends_with endswith hamming jaccard
        jarowinkler_similarity left left_grapheme levenshtein mismatches position prefix
        regexp_count regexp_i_like repeat right split starts_with startswith str_position
        str_split string_split string_to_array strpos suffix
    2+: concat_ws
    2-3: charindex jaro_similarity jaro_winkler_similarity locate lpad regexp_full_match
        regexp_like regexp_matches regexp_split regexp_split_to_array rpad str_split_regex
        string_split_regex substr substring substring_grapheme to_base
    2-4: instr regexp_extract regexp_extract_all
    3: ilike_escape like_escape not_ilike_escape not_like_escape replace split_part
        substring_index translate
    3-4: bar overlay regexp_replace
"""
_TIME = """
    *: interval
    0: current_date get_current_time get_current_timestamp now today transaction_timestamp
        utc_timestamp
    0+: date datetime julianday unixepoch
    0-1: current_time current_timestamp localtime localtimestamp
    1: century day day_of_month day_of_week day_of_year dayname dayofmonth dayofweek
        dayofweek_iso dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour
        isodow isoyear julian last_day make_timestamp_ms microsecond millennium millisecond
        minute month monthname quarter second time_to_unix timestamp timezone_hour
        timezone_minute to_centuries to_days to_decades to_hours to_microseconds to_millennia
        to_milliseconds to_minutes to_months to_quarters to_seconds to_weeks to_years
        ts_or_ds_to_date ts_or_ds_to_timestamp unix_date unix_micros unix_millis unix_seconds
        unix_to_time week week_of_year weekday weekofyear year year_of_week yearweek
    1+: time
    1,3: make_date
    1,6: make_timestamp
    1,6-7: make_timestamptz
    1-2: age from_unixtime timezone to_date to_timestamp
    2: add_months date_part date_trunc datepart datetime_trunc datetrunc extract months_between
        next_day str_to_date str_to_time strptime time_to_str timestamp_trunc to_char
        try_strptime
    2+: strftime
    2-3: date_add date_bin date_sub datediff time_bucket timestamp_sub ts_or_ds_add
    3: date_diff date_from_parts dateadd datesub make_time time_from_parts timestamp_diff
        timestampadd timestampdiff
    6-7: timestamp_from_parts
"""
_CONDITIONAL = """
    1: typeof
    1+: coalesce
    2: equal_null ifnull nullif nvl
    2-3: nvl2
"""
_AGGREGATE = """
    0: count_star
    0+: count grouping_id
    0-1: mode
    1: any_value approx_count_distinct approx_distinct arbitrary array_agg array_unique_agg
        arrayagg avg bit_and bit_or bit_xor bool_and bool_or booland_agg boolor_agg count_if
        countif entropy every favg first fsum geomean geometric_mean kahan_sum kurtosis
        kurtosis_pop last list logical_and logical_or mad mean median product sem skewness
        stddev stddev_pop stddev_samp stdev sum sumkahan var_pop var_samp variance variance_pop
        variance_samp
    1+: grouping max min
    1-2: histogram listagg percentile_cont percentile_disc quantile_disc string_agg stringagg
    2: approx_quantile approx_top_k arg_max_null arg_min_null corr covar_pop covar_samp
        quantile quantile_cont regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
        regr_sxx regr_sxy regr_syy wavg weighted_avg
    2,3: reservoir_quantile
    2-3: arg_max arg_min argmax argmin max_by min_by
"""
_WINDOW = """
    0: cume_dist dense_rank percent_rank rank row_number
    1: first_value last_value ntile
    1-3: lag lead
    2: nth_value
"""
_NESTED = """
    0+: list_pack list_value row struct_pack
    1: array_concat_agg array_distinct array_max array_min array_pop_back array_pop_front
        array_reverse array_size array_sum array_unique cardinality explode flatten
        list_any_value list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor
        list_bool_and list_bool_or list_count list_distinct list_entropy list_first
        list_histogram list_kurtosis list_last list_mad list_max list_median list_min list_mode
        list_product list_reverse list_sem list_skewness list_stddev_pop list_stddev_samp
        list_string_agg list_sum list_unique list_var_pop list_var_samp map_entries
        map_from_entries map_keys map_values size struct_keys struct_values union_tag
        union_value
    1+: array_cat array_concat array_value array_zip list_cat list_concat list_zip struct_concat
    1-2: array_length array_reverse_sort list_reverse_sort sort_array
    1-3: array_sort generate_series list_grade_up list_sort range unnest
    2: array_append array_contains array_contains_all array_extract array_filter array_has
        array_has_all array_has_any array_indexof array_intersect array_intersection
        array_overlaps array_position array_prepend array_push_back array_push_front
        array_select array_to_string array_transform array_where element_at filter list_append
        list_apply list_contains list_cosine_distance list_cosine_similarity list_dot_product
        list_element list_extract list_filter list_has list_has_all list_has_any list_indexof
        list_inner_product list_intersect list_position list_prepend list_select list_transform
        list_where map_contains map_contains_value map_extract map_extract_value struct_extract
        transform union_extract
    2+: aggregate list_aggr list_aggregate map_concat struct_insert struct_update
    2-3: array_join array_resize list_reduce list_resize reduce
    3: map_contains_entry
    3-4: array_slice list_slice
"""
_JSON = """
    0+: json_array json_object
    1: json json_pretty json_quote json_structure json_valid parse_json to_json
    1-2: json_array_length json_keys json_type
    2: from_json json_contains json_exists json_extract json_extract_path json_extract_path_text
        json_extract_scalar json_extract_string json_transform json_value
    2+: json_merge_patch
"""
_IDENTITY = """
    0: current_catalog current_database current_schema current_user current_version database
        effective_user gen_random_uuid logged_in_user schema session_user user uuid uuidv4
        uuidv7 version
"""
_COMPATIBILITY = """
    0: e max_bigint max_int max_smallint max_tinyint min_bigint min_int min_smallint min_tinyint
        timeofday
    0-2: unix_timestamp
    1: appx_median array_to_json base64decode base64encode bitnot bytes collect_list collect_set
        dceil dexp dfloor dlog1 dlog10 dsqrt expm1 isfalse isnotfalse isnotnull isnottrue istrue
        json_group_array lengthb likely log1p mask negative nonnullvalue nullifzero nullvalue
        pg_typeof positive precision quote row_to_json scale timestamp_micros timestamp_millis
        timestamp_seconds total unix_micros_to_utc_timestamp unlikely utc_to_unix_micros utf8_length
        zeroblob zeroifnull
    1-2: bround btrim countset dround dtrunc isnull mask_first_n mask_last_n mask_show_first_n
        mask_show_last_n ndv
    2: adddate approx_percentile bitand bitor bitxor date_cmp date_format days_add days_between
        days_sub dle_dst dpow find_in_set fpow from_timestamp from_utc_timestamp get_json_object
        getbit hours_add hours_sub hypot ilike int_months_between jaro_distance jaro_dst
        jaro_sim jaro_winkler_distance json_group_object json_patch jw_dst jw_sim le_dst
        likelihood microseconds_add microseconds_sub milliseconds_add milliseconds_sub
        minutes_add minutes_sub months_add months_sub parse_url percentile percentile_approx
        pmod quotient replicate seconds_add seconds_sub shiftleft shiftright strleft strright
        subdate timestamp_cmp to_utc_timestamp weeks_add weeks_sub years_add years_sub
    2-3: sequence setbit
    3: conv mid
    4: width_bucket
"""
_LISTED: Mapping[FunctionKind, str] = {
    FunctionKind.OPERATOR: _OPERATOR,
    FunctionKind.NUMERIC: _NUMERIC,
    FunctionKind.TEXT: _TEXT,
    FunctionKind.TIME: _TIME,
    FunctionKind.CONDITIONAL: _CONDITIONAL,
    FunctionKind.AGGREGATE: _AGGREGATE,
    FunctionKind.WINDOW: _WINDOW,
    FunctionKind.NESTED: _NESTED,
    FunctionKind.JSON: _JSON,
    FunctionKind.IDENTITY: _IDENTITY,
    FunctionKind.COMPATIBILITY: _COMPATIBILITY,
}
_VOLATILE = frozenset({"gen_random_uuid", "rand", "random", "uuid", "uuidv4", "uuidv7"})


def _functions() -> Iterator[Function]:
    for kind, lines in _LISTED.items():
        arity: Arity | None = None
        for word in lines.split():
            if word.endswith(":"):
                arity = _arity(word[:-1])
            else:
                yield Function(word, kind, arity, word in _VOLATILE)


def _arity(text: str) -> Arity | None:
    """An arity as the table has it: `1,3-4`, `2+`."""
    if text == "*":
        return None
    counts: list[int] = []
    least = None
    for part in text.split(","):
        first, _, last = part.removesuffix("+").partition("-")
        if part.endswith("+"):
            least = int(first)
        else:
            counts.extend(range(int(first), int(last or first) + 1))
    return Arity(tuple(counts), least)


FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _functions()}
# What the parser calls nodes of its own; a statement that writes these names calls nothing.
NODE_NAMES = frozenset(
    {
        "array_construct", "array_first", "array_last", "arrays_overlap", "cosine_distance",
        "edit_distance", "j_s_o_n_array", "j_s_o_n_object", "jsonb_extract",
        "jsonb_extract_scalar", "pad", "regexp_ilike", "split_to_array", "std", "to_map",
    }
)  # fmt: skip
