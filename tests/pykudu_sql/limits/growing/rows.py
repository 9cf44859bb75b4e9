"""Statements that make much of wide rows; the second half of the campaign of `growing_peaks`.

Tables and marks are those of `growing.statements`; `{folder}` is one that files may be in.
"""

from collections.abc import Mapping
from types import MappingProxyType

_LONG = f"'{'c' * 30000}'"
_LONGER = f"'{'c' * 50000}'"

STATEMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "windows over wide rows": (
            "SELECT k, row_number() OVER (ORDER BY x, k), x FROM w",
            "SELECT rank() OVER (ORDER BY a.x || b.x) FROM w a, w b WHERE b.k < 20",
            "SELECT x, sum(k) OVER (PARTITION BY x ORDER BY k) FROM w",
            "SELECT ntile(4) OVER (ORDER BY upper(x)), x FROM w",
            "SELECT last_value(x) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND"
            " UNBOUNDED FOLLOWING) FROM w",
            "SELECT lag(x, 5, repeat('z', 50000)) OVER (ORDER BY k) FROM w",
            "SELECT k, x FROM w QUALIFY row_number() OVER (PARTITION BY k % 5 ORDER BY x DESC) = 1",
        ),
        "distinct and order of wide texts": (
            "SELECT DISTINCT x || k FROM w",
            "SELECT DISTINCT ON (k % 7) k, x FROM w ORDER BY k % 7, x",
            "SELECT x FROM w ORDER BY x || k DESC",
            "SELECT x || k FROM w ORDER BY 1 LIMIT 100",
            "SELECT count(*) FROM (SELECT x || k FROM w UNION SELECT x || (k + 1) FROM w) q",
            "SELECT x || k FROM w EXCEPT SELECT x || (k + 1) FROM w",
            "SELECT upper(x), count(*) FROM w GROUP BY ALL",
            "SELECT x || k, count(*) FROM w GROUP BY 1 HAVING count(*) > 0",
            "SELECT min(x || k), max(x || k), any_value(x) FROM w GROUP BY k % 10",
        ),
        "constants beside rows": (
            "UPDATE t SET x = repeat('c', 30000)",
            "SELECT k, repeat('c', 60000) FROM t",
            "SELECT a.k, repeat('c', 60000) FROM t a, t b",
            f"SELECT k, {_LONG} FROM t",
            f"SELECT {_LONG} || k FROM t",
            f"INSERT INTO s SELECT k, {_LONGER} FROM t",
            f"SELECT coalesce(NULLIF(x, x), {_LONG}) FROM t",
            f"UPDATE t SET x = {_LONGER} WHERE k % 2 = 0",
        ),
        "unnested products": (
            "SELECT x, unnest(range(50)) FROM w",
            "SELECT a.k, unnest(range(b.k)) FROM w a, w b",
            "SELECT unnest([x, upper(x), lower(x)]) FROM w",
            "SELECT unnest(string_split(x, 'b')) FROM w",
            "SELECT k, u FROM w, LATERAL (SELECT unnest(string_split(x, 'b')) AS u) q",
            "SELECT unnest(regexp_extract_all(x, 'b')) FROM w",
            "SELECT unnest(list(x)) FROM t",
            "SELECT max(u) FROM (SELECT unnest([x, x || 'a', x || 'b']) AS u FROM w)",
        ),
        "JSON of wide rows": (
            "SELECT json_object('k', k, 'x', x) FROM w",
            "SELECT to_json({'k': k, 'x': x, 'y': x}) FROM w",
            "SELECT json_extract(to_json(x), '$') FROM w",
            "SELECT json_merge_patch(to_json({'a': x}), to_json({'b': x})) FROM w",
            "SELECT json_group_object(CAST(k AS STRING), x) FROM w",
            "SELECT json_array(x, x, x) FROM w",
            """SELECT json_transform('{"a":"' || x || '"}', '{"a":"VARCHAR"}') FROM w""",
            """SELECT json_extract_string('{"a":"' || x || '"}', '$.a') FROM w""",
            "SELECT json_valid('[' || repeat('[1],', 500000) || '1]')",
            "SELECT json_array_length('[' || repeat('1,', 900000) || '1]')",
        ),
        "maps and structs of wide rows": (
            "SELECT map(['a', 'b'], [x, upper(x)]) FROM w",
            "SELECT struct_pack(a := x, b := struct_pack(c := x, d := x)) FROM w",
            "SELECT map_entries(map([k], [x])) FROM w",
            "SELECT list_zip([x, x], [upper(x), x]) FROM w",
            "SELECT max({'a': x, 'k': k}) FROM w",
            "SELECT list({'a': x, 'k': k}) FROM t",
        ),
        "history": (
            "CREATE SNAPSHOT earlier ;; UPDATE w SET x = upper(x) ;; SELECT * FROM w AS OF"
            " SNAPSHOT earlier",
            "UPDATE w SET x = upper(x) ;; SELECT count(*) FROM w WHERE upper(x) > 'a'",
            "UPDATE w SET x = lower(x) ;; UPDATE w SET x = upper(x) ;; SELECT x FROM w",
            "UPDATE w SET x = upper(x) ;; DELETE FROM w WHERE k % 2 = 0 ;; OPTIMIZE TABLE w FULL",
            "UPDATE w SET x = upper(x) ;; SELECT x FROM CHANGES(w, now() - INTERVAL 1 MINUTE)",
        ),
        "changes of wide rows": (
            "UPDATE w SET x = upper(x) RETURNING x",
            "UPDATE w SET x = x || 'a' RETURNING k",
            "DELETE FROM w RETURNING *",
            "MERGE INTO w USING (SELECT k, upper(x) AS x FROM w) q ON w.k = q.k"
            " WHEN MATCHED THEN UPDATE SET x = q.x",
            "CREATE TABLE n (PRIMARY KEY (k)) AS SELECT k, x || 'a' AS x FROM w",
            "CREATE TABLE n (PRIMARY KEY (k)) AS SELECT a.k * 1000 + b.k AS k, a.x FROM w a, w b",
            "UPSERT INTO w SELECT k, upper(x) FROM w",
            "BEGIN ;; UPDATE w SET x = upper(x) ;; UPDATE w SET x = lower(x) ;; SELECT x FROM w"
            " ;; ROLLBACK",
            "INSERT INTO s SELECT k, x FROM w ;; DELETE FROM s ;; INSERT INTO s SELECT k, upper(x)"
            " FROM w",
            "many: INSERT INTO s VALUES (?, repeat('a', 60000)) ;; UPDATE s SET x = upper(x)",
        ),
        "files": (
            "COPY w TO '{folder}/w.csv'",
            "COPY w TO '{folder}/w.parquet'",
            "COPY (SELECT a.x FROM w a, w b WHERE b.k < 10) TO '{folder}/w.parquet'",
            "COPY (SELECT k, x FROM w) TO '{folder}/w.json'",
            "COPY w TO '{folder}/w.parquet' ;; COPY s FROM '{folder}/w.parquet'",
            "COPY w TO '{folder}/w.csv' ;; COPY s FROM '{folder}/w.csv'",
            "COPY w TO '{folder}/w.json' ;; COPY s FROM '{folder}/w.json'",
            "COPY w TO '{folder}/w.orc' ;; COPY s FROM '{folder}/w.orc'",
            "COPY w TO '{folder}/w.arrow' ;; COPY s FROM '{folder}/w.arrow'",
            "COPY w TO '{folder}/w.csv.gz' ;; COPY s FROM '{folder}/w.csv.gz'",
        ),
        "rows to the program": (
            "all: SELECT a.x FROM w a, w b WHERE b.k < 2",
            "SELECT x, upper(x), lower(x), reverse(x) FROM w",
        ),
    }
)
