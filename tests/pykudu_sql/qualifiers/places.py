"""Every place of a statement where the name of a column may stand, by what it has to mean there.

A place is a statement with a mark, `{name}`, for a column `a` of the table that it is about. Tables
are named by marks as well: `{t}` the one whose qualifier is tried, `{u}` another, each a mention as
a FROM clause has it.
"""

READING = (
    "SELECT {name} FROM {t}",
    "SELECT {name} + 1 AS x, count(*) OVER (PARTITION BY {name}) FROM {t}",
    "SELECT * REPLACE ({name} + 1 AS b) FROM {t}",
    "SELECT 1 FROM {t} WHERE {name} > 0",
    "SELECT 1 FROM {t} WHERE {name} IN (1, NULL) OR ({name}, 1) > (2, 3)",
    "SELECT count(*) FROM {t} GROUP BY {name}",
    "SELECT count(*) FROM {t} GROUP BY ROLLUP ({name})",
    "SELECT count(*) FROM {t} HAVING max({name}) > 0",
    "SELECT count(*) FILTER (WHERE {name} > 0) FROM {t}",
    "SELECT 1 FROM {t} QUALIFY row_number() OVER (ORDER BY {name}) = 1",
    "SELECT sum(1) OVER w FROM {t} WINDOW w AS (PARTITION BY {name} ORDER BY {name})",
    "SELECT 1 FROM {t} ORDER BY {name}",
    "SELECT DISTINCT ON ({name}) 1 FROM {t}",
    "SELECT 1 FROM {t} JOIN {u} ON {name} = z.k",
    "SELECT 1 FROM {u} LEFT JOIN {t} ON {name} = z.k AND {name} > 0",
    "SELECT 1 FROM {u} SEMI JOIN {t} ON {name} = z.k",
    "SELECT {name} FROM {t} JOIN {u} USING (b)",
    "SELECT 1 FROM {t}, LATERAL (SELECT {name} AS x) AS l WHERE l.x > 0",
    "SELECT 1 FROM {t}, unnest([{name}]) AS n(x)",
    "SELECT (SELECT {name} + z.k FROM {u} LIMIT 1) FROM {t}",
    "SELECT 1 FROM {t} WHERE EXISTS (SELECT 1 FROM {u} WHERE z.k = {name})",
    "SELECT 1 FROM {t} WHERE {name} IN (SELECT z.k FROM {u})",
    "SELECT 1 FROM {u} WHERE z.k IN (SELECT {name} FROM {t})",
    "SELECT CASE {name} WHEN 1 THEN {name} END FROM {t}",
    "SELECT list_transform([1], x -> x + {name}) FROM {t}",
    "WITH c AS (SELECT {name} AS x FROM {t}) SELECT x FROM c",
    "SELECT x FROM (SELECT {name} AS x FROM {t} UNION ALL SELECT 1) AS d",
    "INSERT INTO sink SELECT {name} + 100, 1 FROM {t}",
    "INSERT INTO sink SELECT 1, 2 FROM {t} WHERE {name} > 99",
    "INSERT INTO sink VALUES ((SELECT max({name}) + 100 FROM {t}), 2)",
    "CREATE TABLE made (PRIMARY KEY (x)) AS SELECT DISTINCT {name} AS x FROM {t}",
    "CREATE VIEW made AS SELECT {name} AS x FROM {t}",
    "UPDATE sink SET v = (SELECT max({name}) FROM {t})",
    "UPDATE sink SET v = {name} FROM {t} WHERE sink.k = {name}",
    "UPDATE sink SET v = 1 FROM {t} WHERE sink.k = {name} RETURNING {name}",
    "DELETE FROM sink USING {t} WHERE sink.k = {name}",
    "DELETE FROM sink USING {t} WHERE sink.k = 1 RETURNING {name}",
    "DELETE FROM sink WHERE k IN (SELECT {name} FROM {t})",
    "MERGE INTO sink USING {t} ON sink.k = {name} WHEN MATCHED THEN DELETE",
    "MERGE INTO sink USING {t} ON true WHEN MATCHED AND {name} > 99 THEN UPDATE SET v = 1",
    "MERGE INTO sink USING {t} ON false WHEN NOT MATCHED AND {name} > 99 THEN INSERT VALUES (1, 1)",
    "MERGE INTO sink USING {t} ON sink.k = 0 WHEN NOT MATCHED THEN INSERT VALUES ({name} + 100, 1)",
    "MERGE INTO sink USING {t} ON sink.k = 0 WHEN NOT MATCHED THEN INSERT (k) VALUES ({name} + 100)"
    " RETURNING {name}",
    "MERGE INTO sink USING {t} ON sink.k = b WHEN MATCHED THEN UPDATE SET v = {name}",
)
WRITING = (
    "UPDATE {t} SET b = {name}",
    "UPDATE {t} SET b = 1 WHERE {name} > 0",
    "UPDATE {t} SET b = 1 WHERE {name} = 1",
    "UPDATE {t} SET b = 1 RETURNING {name}",
    "UPDATE {t} SET b = z.k FROM {u} WHERE {name} = z.k",
    "UPDATE {t} SET b = (SELECT max(z.k) FROM {u} WHERE z.k <= {name})",
    "DELETE FROM {t} WHERE {name} = 1",
    "DELETE FROM {t} WHERE {name} > 1 OR EXISTS (SELECT 1 FROM {u} WHERE z.k = {name})",
    "DELETE FROM {t} USING {u} WHERE {name} = z.k",
    "DELETE FROM {t} WHERE b = 1 RETURNING {name}",
    "MERGE INTO {t} USING {u} ON {name} = z.k WHEN MATCHED THEN DELETE",
    "MERGE INTO {t} USING {u} ON true WHEN MATCHED AND {name} > 99 THEN DELETE",
    "MERGE INTO {t} USING {u} ON false WHEN NOT MATCHED BY SOURCE AND {name} > 1 THEN DELETE",
    "MERGE INTO {t} USING {u} ON false WHEN NOT MATCHED BY SOURCE THEN UPDATE SET b = {name}",
    "MERGE INTO {t} USING {u} ON false WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING {name}",
)
# A table that INSERT fills takes an alias behind AS only.
INSERTING = (
    "INSERT INTO {t} VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = {name}",
    "INSERT INTO {t} VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE {name} > 0",
    "INSERT INTO {t} VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = 1 RETURNING {name}",
    "INSERT INTO {t} VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = excluded.a + {name}",
    "INSERT INTO {t} VALUES (77, 1) RETURNING {name}",
    "UPSERT INTO {t} VALUES (1, 1) RETURNING {name}",
)
# Where a column is assigned to, `{b}` stands for its name.
ASSIGNING = (
    "UPDATE {t} SET {b} = 1",
    "UPDATE {t} SET ({b}) = (1)",
    "MERGE INTO {t} USING {u} ON false WHEN NOT MATCHED BY SOURCE THEN UPDATE SET {b} = 1",
    "MERGE INTO {t} USING {u} ON false WHEN NOT MATCHED THEN INSERT (a, {b}) VALUES (z.k + 100, 1)",
    "INSERT INTO {t} VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET {b} = 1",
)
