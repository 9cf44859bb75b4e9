"""Finds in a history what snapshot isolation excludes.

Reads of a key tell the order of its versions, and so the dependencies between transactions: ww (one
overwrote the other's version), wr (one read it) and rw (one read the version that the other
overwrote). Names are those of Adya's thesis ("Weak Consistency", 1999). Snapshot isolation allows
a cycle only if it has two rw edges in a row, which is write skew (Fekete et al., TODS 2005); so a
cycle of ww and wr edges, each with at most one rw edge before it, is an anomaly.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.pykudu_sql.isolation.history import Append, Element, Fate, Key, Read, Record

Edges = Mapping[str, set[str]]


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something that must not happen: what it is called, and where it was seen."""

    name: str
    where: str


def anomalies(history: Sequence[Record]) -> list[Anomaly]:
    """All anomalies of a history.

    Its last record should read every key after all others, so that nothing appended goes unseen.
    """
    versions = _versions(history)
    found = [
        *_split_orders(history, versions),
        *_own_reads(history),
        *_foreign_reads(history),
        *_lost(history, versions),
    ]
    # Orders that contradict one another make no graph.
    return found or list(_cycles(history, versions))


def _reads(history: Sequence[Record]) -> Iterator[tuple[Record, Read]]:
    for record in history:
        for event in record.events:
            if isinstance(event, Read) and record.fate is not Fate.ABORTED:
                yield record, event


def _foreign(record: Record, read: Read) -> tuple[Element, ...]:
    """The part of a list read that others wrote; one's own appends come last."""
    own = set(record.appended(read.key))
    return tuple(element for element in read.elements if element not in own)


def _versions(history: Sequence[Record]) -> dict[Key, tuple[Element, ...]]:
    """The longest list of each key that was read and that nobody's own appends may end."""
    longest: dict[Key, tuple[Element, ...]] = {}
    for record, read in _reads(history):
        seen = read.elements if record.fate is Fate.COMMITTED else _foreign(record, read)
        if len(seen) > len(longest.get(read.key, ())):
            longest[read.key] = seen
    return longest


def _split_orders(
    history: Sequence[Record], versions: Mapping[Key, tuple[Element, ...]]
) -> Iterator[Anomaly]:
    """Lists that are no beginnings of the longest: writes overwrote one another."""
    for record, read in _reads(history):
        seen, whole = _foreign(record, read), versions.get(read.key, ())
        if seen != whole[: len(seen)]:
            yield Anomaly("dirty write", f"{record.name} read {seen} of {read.key}, not {whole}")


def _own_reads(history: Sequence[Record]) -> Iterator[Anomaly]:
    """Reads that lack one's own writes, or differ from the read before."""
    for record in history:
        known: dict[Key, tuple[Element, ...]] = {}
        pending: dict[Key, tuple[Element, ...]] = defaultdict(tuple)
        for event in record.events:
            key = event.key
            if isinstance(event, Append):
                pending[key] += (event.element,)
                if key in known:
                    known[key] += (event.element,)
                continue
            own = pending[key]
            if key in known and known[key] != event.elements:
                where = f"{record.name} read {event.elements} of {key} after {known[key]}"
                yield Anomaly("non-repeatable read", where)
            elif own and event.elements[-len(own) :] != own:
                yield Anomaly("own write unseen", f"{record.name} read {event.elements} of {key}")
            known[key] = event.elements


def _foreign_reads(history: Sequence[Record]) -> Iterator[Anomaly]:
    """G1a, reads of what never committed, and G1b, reads of half a transaction."""
    writers = {e.element: r for r in history for e in r.events if isinstance(e, Append)}
    for record, read in _reads(history):
        seen = _foreign(record, read)
        for element in seen:
            writer = writers.get(element)
            if writer is None or writer.fate is Fate.ABORTED:
                name = "nobody" if writer is None else writer.name
                yield Anomaly("G1a", f"{record.name} read {element} of {name}")
        if seen and (last := writers.get(seen[-1])) is not None:
            final = last.appended(read.key)[-1]
            if final != seen[-1]:
                yield Anomaly("G1b", f"{record.name} read {seen[-1]} of {last.name}, not {final}")


def _lost(
    history: Sequence[Record], versions: Mapping[Key, tuple[Element, ...]]
) -> Iterator[Anomaly]:
    """Appends that were committed and are in no list."""
    for record in history:
        for event in record.events:
            if isinstance(event, Append) and record.fate is Fate.COMMITTED:
                if event.element in versions.get(event.key, ()):
                    continue
                yield Anomaly("lost update", f"{event.element} of {record.name} in {event.key}")


def _cycles(
    history: Sequence[Record], versions: Mapping[Key, tuple[Element, ...]]
) -> Iterator[Anomaly]:
    """G0 and G1c, cycles of ww and wr; G-single, cycles without two rw edges in a row."""
    dependencies, anti = _edges(history, versions)
    cycle = _cycle(dependencies)
    if cycle:
        yield Anomaly("G1c", " -> ".join(cycle))
        return
    joined: dict[str, set[str]] = {name: set(after) for name, after in dependencies.items()}
    for reader, writers in anti.items():
        for writer in writers:
            joined.setdefault(reader, set()).update(dependencies.get(writer, ()))
    cycle = _cycle(joined)
    if cycle:
        yield Anomaly("G-single", " -> ".join(cycle))


def _edges(
    history: Sequence[Record], versions: Mapping[Key, tuple[Element, ...]]
) -> tuple[Edges, Edges]:
    """The ww and wr edges, and the rw edges."""
    writers = {e.element: r.name for r in history for e in r.events if isinstance(e, Append)}
    dependencies: dict[str, set[str]] = defaultdict(set)
    anti: dict[str, set[str]] = defaultdict(set)
    for elements in versions.values():
        for before, after in pairwise(writers[element] for element in elements):
            if before != after:
                dependencies[before].add(after)
    for record, read in _reads(history):
        seen = _foreign(record, read)
        if seen:
            dependencies[writers[seen[-1]]].add(record.name)
        rest = versions.get(read.key, ())[len(seen) :]
        if rest and writers[rest[0]] != record.name:
            anti[record.name].add(writers[rest[0]])
    return dependencies, anti


def _cycle(edges: Edges) -> list[str]:
    """The names along one cycle, the first again at the end; empty when there is none."""
    done: set[str] = set()
    for start in edges:
        path: list[str] = []
        on_path: set[str] = set()
        stack = [(start, iter(sorted(edges.get(start, ()))))] if start not in done else []
        if stack:
            path.append(start)
            on_path.add(start)
        while stack:
            name, following = stack[-1]
            after = next(following, None)
            if after is None:
                stack.pop()
                path.pop()
                on_path.discard(name)
                done.add(name)
            elif after in on_path:
                return [*path[path.index(after) :], after]
            elif after not in done:
                stack.append((after, iter(sorted(edges.get(after, ())))))
                path.append(after)
                on_path.add(after)
    return []
