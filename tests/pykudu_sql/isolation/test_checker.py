"""The checker finds each anomaly in a history made by hand, and nothing in good ones."""

import pytest

from tests.pykudu_sql.isolation.checker import anomalies
from tests.pykudu_sql.isolation.history import Append, Fate, Read, Record

X, Y = 1, 2
GOOD = {
    "one after the other": [
        Record("a", (Read(X, ()), Append(X, 1))),
        Record("b", (Read(X, (1,)), Append(X, 2), Read(X, (1, 2)))),
        Record("end", (Read(X, (1, 2)),)),
    ],
    "a reader of an old snapshot": [
        Record("old", (Read(X, ()), Read(Y, ()))),
        Record("a", (Append(X, 1), Append(Y, 2))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)))),
    ],
    "write skew, which snapshot isolation allows": [
        Record("a", (Read(X, ()), Read(Y, ()), Append(X, 1))),
        Record("b", (Read(X, ()), Read(Y, ()), Append(Y, 2))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)))),
    ],
    "an aborted transaction that nobody saw": [
        Record("a", (Append(X, 1), Read(X, (1,))), Fate.ABORTED),
        Record("end", (Read(X, ()),)),
    ],
    "one of unknown fate that turns out to have committed": [
        Record("a", (Append(X, 1),), Fate.UNKNOWN),
        Record("end", (Read(X, (1,)),)),
    ],
}
BAD = {
    "dirty write": [
        Record("a", (Append(X, 1), Append(Y, 2))),
        Record("b", (Append(X, 3), Append(Y, 4))),
        Record("c", (Read(X, (1, 3)),)),
        Record("end", (Read(X, (3, 1)), Read(Y, (2, 4)))),
    ],
    "G1a": [
        Record("a", (Append(X, 1),), Fate.ABORTED),
        Record("b", (Read(X, (1,)),)),
        Record("end", (Read(X, (1,)),)),
    ],
    "G1b": [
        Record("a", (Append(X, 1), Append(X, 2))),
        Record("b", (Read(X, (1,)),)),
        Record("end", (Read(X, (1, 2)),)),
    ],
    "lost update": [
        Record("a", (Read(X, ()), Append(X, 1))),
        Record("b", (Read(X, ()), Append(X, 2))),
        Record("end", (Read(X, (2,)),)),
    ],
    "non-repeatable read": [
        Record("a", (Append(X, 1),)),
        Record("b", (Read(X, ()), Read(X, (1,)))),
        Record("end", (Read(X, (1,)),)),
    ],
    "own write unseen": [
        Record("a", (Append(X, 1), Read(X, ()))),
        Record("end", (Read(X, (1,)),)),
    ],
    "G1c": [
        Record("a", (Append(X, 1), Read(Y, (2,)))),
        Record("b", (Append(Y, 2), Read(X, (1,)))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)))),
    ],
    "G1c of writes alone": [
        Record("a", (Append(X, 1), Append(Y, 4))),
        Record("b", (Append(X, 2), Append(Y, 3))),
        Record("end", (Read(X, (1, 2)), Read(Y, (3, 4)))),
    ],
    "G-single: read skew": [
        Record("a", (Append(X, 1), Append(Y, 2))),
        Record("b", (Read(X, ()), Read(Y, (2,)))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)))),
    ],
    "G-single: a phantom in a group": [
        Record("a", (Append(X, 1), Append(Y, 2))),
        Record("b", (Read(Y, (2,)), Read(X, ()), Append(3, 7))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)), Read(3, (7,)))),
    ],
    "G-single: two old reads that are not next to each other": [
        Record("a", (Read(X, ()), Append(4, 5))),
        Record("b", (Append(X, 1), Append(Y, 2))),
        Record("c", (Read(Y, (2,)), Read(3, ()))),
        Record("d", (Append(3, 6), Read(4, ()))),
        Record("e", (Read(3, (6,)), Append(4, 9), Read(4, (9,)))),
        Record("end", (Read(X, (1,)), Read(Y, (2,)), Read(3, (6,)), Read(4, (9, 5)))),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_history_has_no_anomaly(name: str) -> None:
    assert anomalies(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_a_seeded_anomaly_is_found(name: str) -> None:
    assert name.partition(" of ")[0].partition(":")[0] in {a.name for a in anomalies(BAD[name])}
