# ruff: noqa: E501  (tables of statements read best one a line)
"""The engine's part of a query over pruned scans gives what the whole query gives over the tables."""

import datetime as dt
import random
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.engine.value_guard import add_guards
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import bind_key
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyLookup, Query, Scan
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.value_bounds.excess import MAX_VALUE_BYTES
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate as evaluate_predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.cells import from_cell

WORDS = ["alpha", "beta", "gamma", "al", "a", "", "zeta", "Alpha", None]
ENGINE_SETTINGS = (
    "SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
    "SET error_on_division_by_zero = false",
    "SET TimeZone = 'UTC'",
)


def _integers(rng: random.Random, rows: int, top: int) -> list[int | None]:
    return [rng.choice([None, rng.randint(-top, top)]) for _ in range(rows)]


def _data(context: PlanContext) -> dict[str, pa.Table]:
    rng = random.Random(7)
    columns: dict[str, dict[str, list[Any]]] = {
        "t": {
            "id": list(range(60)),
            "a": _integers(rng, 60, 8),
            "b": _integers(rng, 60, 3),
            "s": [rng.choice(WORDS) for _ in range(60)],
            "d": [rng.choice([None, 0.5, -1.5, 3.0, float("nan")]) for _ in range(60)],
            "flag": [rng.choice([None, True, False]) for _ in range(60)],
        },
        "u": {
            "id": list(range(40)),
            "t_id": [rng.choice([None, rng.randint(0, 70)]) for _ in range(40)],
            "name": [rng.choice(WORDS) for _ in range(40)],
            "note": [rng.choice([w for w in WORDS if w is not None]) for _ in range(40)],
        },
        "events": {
            "host": [rng.choice("abc") for _ in range(50)],
            "at": list(range(0, 1000, 20)),
            "value": [rng.random() * 10 for _ in range(50)],
            "amount": [
                rng.choice([None, Decimal(rng.randint(-500, 500)) / 100]) for _ in range(50)
            ],
            "day": [dt.date(2026, 1, 1) + dt.timedelta(days=rng.randint(0, 40)) for _ in range(50)],
            "ts": [
                dt.datetime(2026, 1, 1) + dt.timedelta(minutes=rng.randint(0, 90000))
                for _ in range(50)
            ],
        },
        "kinds": {
            "k": list(range(30)),
            "f": [rng.choice([None, 0.1, 0.25, 1e10, -0.1]) for _ in range(30)],
            "small": [rng.choice([None, -128, 127, 5]) for _ in range(30)],
            "code": [rng.choice([None, "abc", "ab", "b"]) for _ in range(30)],
            "raw": [rng.choice([None, b"\x00a", b"", b"zz"]) for _ in range(30)],
            "big": [rng.choice([None, Decimal("1.2345"), Decimal("-7")]) for _ in range(30)],
        },
    }
    made = {}
    for name, values in columns.items():
        schema = context.catalog.table(name).schema
        arrays = [pa.array(values[c.name], c.type.arrow) for c in schema.visible_columns]
        made[name] = pa.table(arrays, names=[c.name for c in schema.visible_columns])
    return made


class World:
    """The tables whole, and a second engine that sees only what plans scan."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.data = _data(context)
        self.whole = duckdb.connect()
        self.pruned = duckdb.connect()
        for connection in (self.whole, self.pruned):
            for setting in ENGINE_SETTINGS:
                connection.execute(setting)
            add_guards(connection, 0, MAX_VALUE_BYTES)
        for name, table in self.data.items():
            self.whole.register(name, table)

    def scan(self, scan: Scan, parameters: Any) -> pa.Table:
        table = self.data[scan.table.name]
        predicate = bind_predicate(scan.predicate, parameters)
        by_id = scan.table.schema.by_id
        if predicate is not None:
            columns = {i: table.column(by_id[i].name).combine_chunks() for i in by_id}
            types = {i: column.type for i, column in by_id.items()}
            mask = evaluate_predicate(predicate, columns, types)
            table = table.filter(pa.array(np.asarray(mask)))
        if scan.order is ScanOrder.KEY:
            names = [column.name for column in scan.table.schema.key_columns]
            table = table.sort_by([(name, "ascending") for name in names])
        if scan.limit is not None:
            table = table.slice(0, scan.limit)
        return table.select([by_id[i].name for i in scan.column_ids])

    def run(self, sql: str, parameters: Any = ()) -> tuple[list[Any], tuple[str, ...]]:
        planned = plan(sql, self.context)
        if isinstance(planned, KeyLookup):
            return self.look_up(planned, parameters), tuple(name for name, _ in planned.outputs)
        assert isinstance(planned, Query)
        values = [parameters[key] for key in planned.parameters]
        scanned = self.register(planned, parameters)
        rows = self.pruned.execute(planned.sql, values).fetchall()
        if planned.is_cut_short(scanned, len(rows)):
            self.register(planned.unlimited(), parameters)
            rows = self.pruned.execute(planned.sql, values).fetchall()
        return rows, planned.names

    def register(self, planned: Query, parameters: Any) -> int:
        """Make the scans of a plan known to the engine; how many rows they have."""
        rows = 0
        for scan in planned.scans:
            table = self.scan(scan, parameters)
            self.pruned.register(scan.name, table)
            rows += table.num_rows
        return rows

    def look_up(self, planned: KeyLookup, parameters: Any) -> list[Any]:
        schema = planned.table.schema
        key = bind_key(planned.key, parameters)
        if key is None:
            return []
        rows = self.data[planned.table.name].to_pylist()
        wanted = [from_cell(v, c.type) for c, v in zip(schema.key_columns, key, strict=True)]
        names = [c.name for c in schema.key_columns]
        found = [row for row in rows if [row[n] for n in names] == wanted]
        return [tuple(row[schema.by_id[i].name] for _, i in planned.outputs) for row in found]


@pytest.fixture(scope="module")
def world(context: PlanContext) -> Iterator[World]:
    yield World(context)


def _comparable(rows: list[Any], ordered: bool) -> list[Any]:
    texts = [tuple("nan" if v != v else v for v in row) for row in rows]
    return texts if ordered else sorted(texts, key=repr)


def _for_the_engine(sql: str) -> str:
    """The same query in the engine's own spelling; `at` is a keyword there."""
    spelled = sql.replace(" div ", " // ").replace("x'7a7a'", "unhex('7a7a')")
    return re.sub(r"\bat\b", '"at"', spelled)


def check(world: World, sql: str, parameters: Any = ()) -> None:
    """The plan's answer is the engine's own on the whole tables."""
    found, names = world.run(sql, parameters)
    relation = world.whole.execute(_for_the_engine(sql), parameters)
    expected = relation.fetchall()
    ordered = "order by" in sql.lower().rsplit(")", 1)[-1]
    assert _comparable(found, ordered) == _comparable(expected, ordered), sql
    assert len(names) == len(relation.description), sql


QUERIES = """
select * from t
select * from t where id = 7
select s, id from t where id = 7.0
select * from t where id = 7.5
select count(*) from t where a < 2.5
select * from t where a > -2.5 and a <= 3 and b in (1, 2, null)
select * from t where a between -3 and 3 or s like 'al%'
select * from t where s like 'alpha' or s like '%a'
select id from t where s is null and a is not null
select id from t where flag
select id from t where not flag or flag is null
select id from t where not (a < 3)
select id from t where d > 1 order by id
select id from t where d = 'nan'::double order by id
select id from t where 3 > a and 5 = b + 2
select id from t where a = '3'
select id from t where (a = 1 or a = 2) and (b = 1 or b = 2)
select id from t where (a = 1 and b = 1) or (a = 2 and s = 'a') or a = 3
select id from t where a = 1 or b = 1
select id from t where a in (1, 2) or a = 3 or a is null
select id, d from t order by d desc, id
select id, a from t order by a, id desc
select id, a from t order by a desc nulls last, id
select a, count(*), sum(b), avg(d) from t group by a order by a
select a, b, count(*) c from t group by grouping sets ((a), (b), ()) order by a, b, c
select distinct a from t order by a
select a, row_number() over (partition by b order by id) from t order by id
select a from t qualify row_number() over (partition by a order by id) = 1 order by a
select t.id, u.name from t join u on t.id = u.t_id where u.name = 'beta' and t.a > 0
select t.id, u.name from t left join u on t.id = u.t_id and u.name = 'beta'
select t.id, u.name from t left join u on t.id = u.t_id where u.name = 'beta'
select t.id, u.id from t left join u on t.id = u.t_id where u.id is null and t.a > 1
select t.id, u.id from t left join u on t.id = u.t_id and u.note = 'a' where u.id is null
select t.id, u.id from t left join u on t.id = u.t_id and t.a = 1 where u.id > 3 or u.id is null
select t.id, u.id from t right join u on t.id = u.t_id and t.a > 0 and u.id > 5 where u.id < 30
select t.id, u.id from t right join u on t.id = u.t_id where t.a > 0
select t.id, u.id from t full join u on t.id = u.t_id and t.a > 0 and u.id > 5
select t.id, u.id from t full join u on t.id = u.t_id where t.a > 0
select t.id, u.id from t full join u on t.id = u.t_id where t.a is null
select t.id from t semi join u on t.id = u.t_id and u.note = 'a' and t.a > 0
select t.id from t anti join u on t.id = u.t_id and u.note = 'a' and t.a > 0
select * from t natural join (select id, t_id from u) x
select id, name from t join u using (id) where a = 1
select * from t join u using (id) where t.a = 1
select x.id from t x, t y where x.id = y.id + 1 and y.a = 2 and x.b = 1
select t.id from t join (u left join events on u.id = events.at) on t.id = u.t_id where events.host = 'a' or events.host is null
select t.id, e.host from t left join (u right join events e on u.id = e.at / 20) on t.id = u.t_id where u.name is null
select count(*) from t where exists (select * from u where u.t_id = t.id and u.name = 'beta')
select count(*) from t where id in (select t_id from u where id > 10)
select count(*) from t where id not in (select t_id from u where t_id is not null)
select id, (select max(name) from u where t_id = t.id and u.id > 3) from t
with c as (select * from t where a > 0) select c.id, d.id from c join c d on c.id = d.id where d.b = 1
with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select t.id from t join r on t.id = r.n
select id from t where a > 2 union select id from u where id < 5
(select id from t where a > 2 order by id limit 3) union all select id from u where id < 2
select id from t except select t_id from u
select sum(x) from (select a x, b from t where b = 1) y where x > 0
select x.a from (select * from t) x where x.b = 1
select count(*) from (select * from t) x
select count(*) from (select distinct * from t) x
select v.x, t.id from (values (1, 'a'), (2, 'b')) v(x, y) join t on t.id = v.x
select i, id from range(5) r(i) join t on t.id = r.i
select * from events where host = 'a' and at >= 100 and at < 300
select * from events where host in ('a', 'b') and at = 200
select at from events where amount > 1.005 and amount < 3
select at from events where amount = 2.5 or amount in (1, -1.25)
select at from events where day = '2026-01-05' or day > date '2026-02-01' - interval 5 day
select at from events where day >= timestamp '2026-01-20 12:00:00'
select at from events where ts < '2026-01-15' and ts >= date '2026-01-03'
select at from events where ts between '2026-01-03 10:00' and '2026-02-03 10:00:00.5'
select extract(month from day), count(*) from events group by 1 order by 1
select k from kinds where f = 0.1
select k from kinds where f > 0.1
select k from kinds where f <= 0.25 and f >= -0.1
select k from kinds where small < 1000 and small >= -128
select k from kinds where small > 127
select k from kinds where code = 'abc' or code like 'ab%'
select k from kinds where raw = x'7a7a' or raw = ''
select k from kinds where big > 1.23449999 and big < 2
select k from kinds where big = 1.2345
select a / b, a div 2, a % 3 from t where b <> 0 order by id
select 7 / 2, 7 div 2, 1 / 0, 0.1 + 0.2
select id from t limit 0
select id, a from t order by id limit 4 offset 1
select id from t where a > 2 order by id limit 3
select id from t where a > 0 and s like '%a%' order by id limit 3
select -id as id from t order by id limit 3
select id from t where false
select case when a > 0 then 'p' when a < 0 then 'n' else 'z' end k, count(*) from t group by k order by k
select upper(s) as u, length(s) from t where upper(s) = 'ALPHA' order by id
select t.id, l.c from t, lateral (select count(*) c from u where u.t_id = t.id) l order by t.id
select * exclude (d, s) from t where a = 1
select string_agg(s, ',' order by s) from t where a > 0
select * from t where a > 0 and id in (select id from t where a > 0 and b = 1)
select x.*, y.a from t x join t y on x.id = y.b
select x.a, y.b, z.s from t x join t y on x.id = y.a join t z on z.id = y.id
select x.n from (select count(*) n from t where a > 100) x
""".strip().splitlines()


@pytest.mark.parametrize("sql", QUERIES)
def test_a_plan_answers_as_the_engine_on_whole_tables(world: World, sql: str) -> None:
    check(world, sql)


PARAMETERS = [
    ("select id from t where a < ?", (2.5,)),
    ("select id from t where a = ?", (3,)),
    ("select id from t where a = ?", (None,)),
    ("select id from t where a in (?, 2, ?)", (1, None)),
    ("select id from t where a = ? or a = ? or b = 1", (1, 10**12)),
    ("select id from t where s >= ? and a > ?", ("b", -3)),
    ("select * from t where id = ?", (5,)),
    ("select * from t where id = ?", (5.5,)),
    ("select at from events where day = ?", (dt.date(2026, 1, 5),)),
    ("select at from events where day < ?", ("2026-01-15",)),
    ("select at from events where day <= ?", (dt.datetime(2026, 1, 15, 3),)),
    ("select at from events where ts > ?", (dt.datetime(2026, 1, 15, 3),)),
    ("select at from events where ts > ?", (dt.date(2026, 1, 15),)),
    ("select at from events where amount > ?", (1.1,)),
    ("select at from events where amount = ?", (Decimal("2.5"),)),
    ("select k from kinds where f = ?", (0.1,)),
    ("select k from kinds where f < ?", (0.1,)),
    ("select k from kinds where small <= ?", (500,)),
    ("select k from kinds where big > ?", (1,)),
    ("select k from kinds where raw = ?", (b"zz",)),
    ("select t.id from t join u on t.id = u.t_id and u.id > ? where t.a > ? limit 1000", (3, 0)),
]


@pytest.mark.parametrize(("sql", "parameters"), PARAMETERS)
def test_parameters_prune_as_literals_do(world: World, sql: str, parameters: Any) -> None:
    check(world, sql, parameters)


def _random_condition(rng: random.Random, depth: int = 0) -> str:
    if depth < 3 and rng.random() < 0.45:
        joiner = rng.choice([" and ", " or "])
        parts = [_random_condition(rng, depth + 1) for _ in range(rng.randint(2, 3))]
        text = "(" + joiner.join(parts) + ")"
        return f"not {text}" if rng.random() < 0.15 else text
    column = rng.choice(["t.a", "t.b", "t.id", "u.id", "u.t_id", "u.name", "t.s", "t.flag"])
    if column == "t.flag":
        return rng.choice(["t.flag", "not t.flag", "t.flag is null", "t.flag = true"])
    if column in ("u.name", "t.s"):
        return column + rng.choice(
            [" = 'beta'", " like 'al%'", " is null", " is not null", " >= 'b'", " in ('a', 'zeta')"]
        )
    value = rng.choice([str(rng.randint(-9, 40)), "2.5", "1e1", "null", "t.b"])
    op = rng.choice(["=", "<", "<=", ">", ">=", "<>"])
    return rng.choice(
        [
            f"{column} {op} {value}",
            f"{value} {op} {column}",
            f"{column} between {rng.randint(-9, 9)} and {rng.randint(-9, 30)}",
            f"{column} in (1, {value}, 7)",
            f"{column} is null",
            f"{column} is not null",
        ]
    )


@pytest.mark.parametrize("seed", range(120))
def test_random_conditions_on_every_join_keep_the_answer(world: World, seed: int) -> None:
    rng = random.Random(seed)
    join = rng.choice(["join", "left join", "right join", "full join"])
    on = "t.id = u.t_id"
    if join != "full join" and rng.random() < 0.6:
        on += f" and {_random_condition(rng, 2)}"
    sql = f"select t.id, u.id from t {join} u on {on} where {_random_condition(rng)}"
    check(world, sql)


_QUERIES_OF_T = (
    "select * from t",
    "select id, a, b, s, d, flag from t where {condition}",
    "select distinct id, a, b, s, d, flag from t",
    "select max(id) id, a, b, max(s) s, max(d) d, bool_and(flag) flag from t group by a, b",
    "select min(id) id, a, 1 b, s, max(d) d, true flag from t group by a, s having {condition}",
    "select id, sum(b) over (partition by a) a, b, s, d, flag from t",
    "select id, a, b, s, count(*) over (partition by a, b) d, flag from t",
    "select id, a, b, s, d, flag from t qualify row_number() over (partition by b order by id) < 3",
    "select id, a, b, s, d, flag from t order by id limit 20",
    "select id, a, b, s, d, flag from t union all select t_id, 3, 4, name, 0.5, true from u",
    "select id, a, b, s, d, flag from t except select id, b, a, s, d, flag from t",
    "select id, a, b, s, d, flag from t union select b, b, a, 'a', d, flag from t where {condition}",
    "select u.id, a, b, name s, d, flag from t right join u on t.id = u.t_id",
    "select x.id, x.a, y.b, x.s, y.d, x.flag from t x full join t y on x.id = y.a",
)


def _query_of_t(rng: random.Random) -> str:
    condition = rng.choice(
        ["a > 1", "s like 'a%' or a = 2", "a in (1, 3) or s is null", "s >= 'b'"]
    )
    return rng.choice(_QUERIES_OF_T).format(condition=condition)


def _condition_of_t(rng: random.Random) -> str:
    found = _random_condition(rng, 1).replace("u.t_id", "t.a").replace("u.name", "t.s")
    return found.replace("u.id", "t.b")


@pytest.mark.parametrize("seed", range(150))
def test_random_conditions_around_every_query_keep_the_answer(world: World, seed: int) -> None:
    rng = random.Random(seed)
    inner = _query_of_t(rng)
    if rng.random() < 0.3:
        inner = f"select * from ({inner}) t where {_condition_of_t(rng)}"
    join = rng.choice(["join", "left join", "right join", "full join"])
    on = "t.id = u.t_id"
    if join != "full join" and rng.random() < 0.5:
        on += f" and {_random_condition(rng, 2)}"
    where = _random_condition(rng)
    if rng.random() < 0.6:
        sql = f"select t.id, t.a, u.id from ({inner}) t {join} u on {on} where {where}"
    else:
        sql = (
            f"with c as ({inner}) select t.id, t.a, u.id from c t {join} u on {on} where {where} "
            f"union all select t.id, t.a, 0 from c t where {_condition_of_t(rng)}"
        )
    check(world, sql)
