a
a + b * -c / 2 // 3 % 4
a & b | ~c << 2 >> 1
a ** 2
a || s
a = b AND NOT c <> 1 OR d IS NULL
a IS DISTINCT FROM b
a IS NOT TRUE
a BETWEEN 1 AND b
a NOT BETWEEN SYMMETRIC 1 AND 0
a IN (1, 2, NULL)
a IN (SELECT b FROM u)
(a, b) IN ((1, 2), (3, NULL))
a = ANY (SELECT b FROM u)
a > ALL (SELECT b FROM u)
a = ANY ([1, 2])
EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
(SELECT max(b) FROM u)
(SELECT a, b FROM u)
s LIKE 'x%'
s NOT LIKE '%y' ESCAPE '\'
s ILIKE 'X%'
s SIMILAR TO '[a-z]+'
s GLOB '*x*'
s RLIKE '^x'
s ~ 'x'
s COLLATE nocase
CASE WHEN a > 1 THEN 'x' ELSE s END
CASE a WHEN 1 THEN 2 WHEN NULL THEN 3 END
IF(a > 1, 'x', 'y')
coalesce(a, b, 0)
nullif(a, b)
CAST(a AS STRING)
CAST(s AS INT)
CAST(s AS DECIMAL(9, 2))
CAST(a AS STRUCT(x INT, y STRING))
CAST(a AS MAP(STRING, INT))
CAST(a AS INT[])
TRY_CAST(s AS DATE)
s::TIMESTAMP
a::"INT"
CAST(1 AS "VARCHAR'")
CAST(1 AS nosuch)
DATE '2026-01-31'
TIMESTAMP '2026-01-31 12:00:00'
INTERVAL 1 DAY
INTERVAL '1' MONTH
INTERVAL (a) HOUR
at + INTERVAL 1 DAY
at - a
now() - at
at AT TIME ZONE 'UTC'
at AT TIME ZONE 'Nowhere/City'
extract(YEAR FROM at)
extract(nosuch FROM at)
date_trunc('month', at)
date_trunc('nosuch', at)
date_add(at, INTERVAL 1 DAY)
date_diff('day', at, now())
date_part('year', a)
strftime(at, '%Y')
strftime(at, '%Q')
strptime(s, '%Q')
to_timestamp(a)
[1, 2, 3]
[1, 2, 3][a]
[1, 'x', NULL]
['a', 'b'][1:2]
s[1]
s[1:2]
a[1]
a[1:2]
{'x': 1, 'y': s}
{'x': 1}.x
{'x': 1}['y']
MAP {'k': 1}
MAP {'k': 1}['k']
MAP([1], ['a'])
[x + 1 FOR x IN [1, 2] IF x > 1]
list_transform([1, 2], x -> x + 1)
list_filter([1, 2], x -> x > 1)
list_contains([1], s)
array_length([1])
unnest([1, 2])
s -> 'x'
s ->> '$.x'
json_extract(s, '$.x')
json_object('a', 1)
JSON '{"a": 1}'
to_json(a)
struct_pack(x := a)
x'00ff'
1e400
123456789012345678901234567890123456789012
0x1F
1_000
.5
'it''s'
"a"
`a`
?
:name
$1
@x
@@x
count(*)
count(DISTINCT a)
count(a, b)
count(DISTINCT a, b)
sum(a) FILTER (WHERE b > 1)
sum(s)
sum(sum(a))
avg(a) OVER ()
sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
row_number() OVER (ORDER BY a)
lag(a, 1, 0) OVER w
first_value(s) IGNORE NULLS OVER (ORDER BY a)
rank()
string_agg(s, ',' ORDER BY a)
group_concat(s)
list(a ORDER BY b DESC)
quantile_cont(a, 0.5)
quantile_cont(a, b)
percentile_cont(0.5) WITHIN GROUP (ORDER BY a)
approx_top_k(a, 2)
arg_max(a, b)
mode(a)
grouping(a)
max(a, 2)
min_by(a, b)
any_value(a ORDER BY b)
*
t.*
* EXCLUDE (a)
* REPLACE (a + 1 AS a)
* RENAME (a AS z)
* LIKE 'a%'
* ILIKE 'A%'
t.* NOT LIKE 'a%'
COLUMNS('a|b')
COLUMNS('(')
COLUMNS(*) + 1
greatest(*COLUMNS(*))
(*)
coalesce(*)
substr(s, 1, 2)
substring(s FROM 1 FOR 2)
trim(BOTH 'x' FROM s)
position('x' IN s)
overlay(s PLACING 'x' FROM 1)
regexp_replace(s, 'a', 'b', s)
regexp_matches(s, '(')
regexp_extract(s, 'x', 1)
replace(s, 'a')
lpad(s, -1, 'x')
repeat(s, 3)
format('{} {', a)
printf('%d', s)
chr(-1)
ascii(s)
md5(s)
hash(a)
encode(s, 'hex')
encode(, 'hex')
decode(a, 1, 'x', 'y')
round(a, b)
sqrt(-1)
ln(0)
factorial(100)
pow(10, 1000)
a / 0
9223372036854775807 + a
- (-9223372036854775808)
CAST(a + 1000 AS TINYINT)
greatest(a, s)
nosuch(a)
t.nosuch(a)
a.b.c.d
u.a
nosuch
nosuch.a
t.a.b
uuid()
random()
typeof(a)
version()
current_date
current_timestamp(3)
localtime
user
current_setting('x')
a IS OF (INT)
a OVERLAPS b
(at, at) OVERLAPS (at, at)
ROW(1, 2)
(1, 2)
(1, 'x') < (2, 'y')
()
GROUPING SETS (a, b)
CONVERT(a, STRING)
CONVERT(s USING utf8)
s AT LOCAL
PRIOR a
NEXT VALUE FOR x
XMLELEMENT(NAME a)
MATCH (s) AGAINST ('x')
LATERAL (SELECT 1)
TABLE u
VALUES (1, 2), (3, 4)
VALUES (1), (2, 3)
a LIMIT 1
a ORDER BY nosuch
a -- comment
a /* comment
'open
"open
a;
a; SELECT 2
