"""The demo's SQL: the tables, the queries and the changes."""

import itertools
from collections.abc import Mapping

_MONTHS = [f"2013-{month:02d}-01" for month in range(1, 13)]
# The year ends at midnight in New York, which is 05:00 UTC.
_BOUNDS = [*_MONTHS, "2014-01-01 05:00:00"]
MONTH_PARTITIONS = ",\n    ".join(
    f"PARTITION '{low}' <= VALUES < '{high}'" for low, high in itertools.pairwise(_BOUNDS)
)

# Candidate keys of each table: the obvious one, then one that is unique where the first is not.
KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "airlines": (("carrier",),),
    "airports": (("faa",),),
    "planes": (("tailnum",),),
    "weather": (("origin", "year", "month", "day", "hour"), ("origin", "time_hour")),
    "flights": (("time_hour", "carrier", "flight"),),
}

CREATE: Mapping[str, str] = {
    "airlines": "CREATE TABLE airlines (carrier STRING PRIMARY KEY, name STRING NOT NULL)",
    "airports": """CREATE TABLE airports (
  faa STRING PRIMARY KEY, name STRING, lat DOUBLE, lon DOUBLE, alt INT, tz INT,
  dst STRING, tzone STRING)""",
    "planes": """CREATE TABLE planes (
  tailnum STRING PRIMARY KEY, year SMALLINT, type STRING, manufacturer STRING, model STRING,
  engines TINYINT, seats SMALLINT, speed INT, engine STRING)""",
    "weather": """CREATE TABLE weather (
  origin STRING, time_hour TIMESTAMP, year SMALLINT, month TINYINT, day TINYINT, hour TINYINT,
  temp DOUBLE, dewp DOUBLE, humid DOUBLE, wind_dir SMALLINT, wind_speed DOUBLE, wind_gust DOUBLE,
  precip DOUBLE, pressure DOUBLE, visib DOUBLE,
  PRIMARY KEY (origin, time_hour))""",
    "flights": f"""CREATE TABLE flights (
  time_hour TIMESTAMP, carrier STRING ENCODING DICT_ENCODING, flight INT,
  year SMALLINT ENCODING RLE, month TINYINT ENCODING RLE, day TINYINT ENCODING RLE,
  dep_time SMALLINT, sched_dep_time SMALLINT, dep_delay SMALLINT,
  arr_time SMALLINT, sched_arr_time SMALLINT, arr_delay SMALLINT,
  tailnum STRING, origin STRING, dest STRING, air_time SMALLINT, distance SMALLINT,
  hour TINYINT, minute TINYINT COMPRESSION ZSTD,
  PRIMARY KEY (time_hour, carrier, flight))
PARTITION BY HASH (carrier, flight) PARTITIONS 2, RANGE (time_hour) (
    {MONTH_PARTITIONS})""",
}

BY_AIRLINE = """SELECT a.name, count(*) AS flights, avg(f.dep_delay) AS delay,
       sum(CASE WHEN f.dep_time IS NULL THEN 1 ELSE 0 END) AS cancelled
FROM flights f JOIN airlines a ON f.carrier = a.carrier
GROUP BY a.name ORDER BY delay DESC, a.name LIMIT 8"""

BY_WEATHER = """SELECT CASE WHEN w.visib < 2 THEN '1: fog' WHEN w.precip > 0 THEN '2: rain or snow'
            WHEN w.wind_speed > 20 THEN '3: wind' ELSE '4: fair' END AS weather,
       count(*) AS flights, avg(f.dep_delay) AS delay
FROM flights f JOIN weather w ON f.origin = w.origin AND f.time_hour = w.time_hour
GROUP BY 1 ORDER BY 1"""

CHANGES = (
    "UPDATE flights SET dep_delay = 0 WHERE carrier = 'HA' AND dep_delay < 0",
    "DELETE FROM flights WHERE dep_time IS NULL AND arr_time IS NULL AND month = 2",
)
UPSERT = "UPSERT INTO airlines (carrier, name) VALUES ('UA', 'United'), ('ZZ', 'Imaginary Air')"
UPSERT_REFERENCE = (
    "DELETE FROM airlines WHERE carrier IN ('UA', 'ZZ')",
    "INSERT INTO airlines VALUES ('UA', 'United'), ('ZZ', 'Imaginary Air')",
)
ADD_COLUMN = "ALTER TABLE flights ADD COLUMN checked BOOLEAN NOT NULL DEFAULT false"
ADD_COLUMN_CHECK = "SELECT checked, count(*) AS flights FROM flights GROUP BY checked"
ADD_COLUMN_REFERENCE = "SELECT false AS checked, count(*) AS flights FROM flights"

ONE_MONTH = """SELECT count(*) AS flights, avg(arr_delay) AS delay FROM flights
WHERE time_hour >= '2013-07-01' AND time_hour < '2013-08-01'"""
ONE_FLIGHT = """SELECT tailnum, dep_delay FROM flights
WHERE time_hour = '2013-01-01 10:00:00' AND carrier = 'UA' AND flight = 1545"""


def as_of(sql: str, snapshot: int) -> str:
    """A query of flights and airlines AS OF a hybrid time."""
    for table, alias in (("flights", "f"), ("airlines", "a")):
        sql = sql.replace(
            f"{table} {alias}", f"{table} FOR SYSTEM_TIME AS OF {snapshot} {alias}", 1
        )
    return sql
