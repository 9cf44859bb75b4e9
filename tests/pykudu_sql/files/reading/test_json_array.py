"""Elements of a JSON array: what is broken is one record, and the next one is recognised."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql import DataError
from pykudu_sql.files.reading import json_array, json_rows
from pykudu_sql.files.reading.json_array import ArrayElements, BrokenElement
from pykudu_sql.jobs.load import LoadOptions, load
from tests.pykudu_sql.jobs.job_tables import content, read_rejects, run

ROW, NEXT = '{"id":1,"v":"a"}', '{"id":2,"v":"b"}'
DEEP = "[" * 5000
# The text; the lines and keys of its rows; the line and text of what is none.
BROKEN = {
    "garbage behind": (f"[{ROW},\n{NEXT}, garbage", [(1, 1), (2, 2)], [(2, "garbage")]),
    "garbage between": (f"[{ROW}, garbage,\n{NEXT}]", [(1, 1), (2, 2)], [(1, "garbage")]),
    "no object": (f'[{ROW},3,"x",[{ROW},{ROW}],\n{NEXT}]', [(1, 1), (2, 2)], [
        (1, "3"), (1, '"x"'), (1, f"[{ROW},{ROW}]"),
    ]),
    "no comma": (f"[{ROW}\n{NEXT},{ROW}]", [(1, 1), (2, 1)], [(2, NEXT)]),
    "two commas": (f"[{ROW},,{NEXT}]", [(1, 1), (1, 2)], [(1, "")]),
    "comma at the end": (f"[{ROW},]", [(1, 1)], [(1, "]")]),
    "text on one line": (f'[{{"id":3,"v":"x}},{ROW}]', [(1, 1)], [(1, '{"id":3,"v":"x}')]),
    "text on lines": (f'[{{"id":3,"v":"x}},\n{ROW}]', [(2, 1)], [(1, '{"id":3,"v":"x}')]),
    "brace": (f'[{{"id":3,"v":"x",\n{ROW}]', [(2, 1)], [(1, '{"id":3,"v":"x"')]),
    "brackets": (f'[{{"id":3,"v":[{ROW},{ROW}] 5}},{NEXT}]', [(1, 2)], [
        (1, f'{{"id":3,"v":[{ROW},{ROW}] 5}}'),
    ]),
    "nothing to recognise": (f'[{ROW},{{"id":3,"v":[{ROW},{ROW}],"x":"}},{NEXT}]', [(1, 1)], [
        (1, f'{{"id":3,"v":[{ROW},{ROW}],"x":"}},{NEXT}]'),
    ]),
    "behind an object": (f"[{ROW}5,\n{NEXT}]", [(2, 2)], [(1, ROW + "5")]),
    "cut in a text": (f'[{ROW},\n{{"id":2,"v":"', [(1, 1)], [(2, '{"id":2,"v":"')]),
    "cut behind an object": (f"[{ROW},\n{NEXT}\n", [(1, 1), (2, 2)], [(3, "")]),
    "cut behind a comma": (f"[{ROW},\n", [(1, 1)], [(2, "")]),
    "only a bracket": ("[", [], [(1, "")]),
    "another array": (f"[{ROW}]\n[{NEXT}]", [(1, 1)], [(2, f"[{NEXT}]")]),
    "deep": (f"[{DEEP},\n{ROW}]", [], [(1, f"{DEEP},\n{ROW}]")]),
    "not UTF-8": (f'[{{"id":3,"v":"\udcff"}},{ROW}]', [(1, 1)], [(1, '{"id":3,"v":"\ufffd"}')]),
    "not UTF-8 and broken": (f"[\udcff,{ROW}]", [(1, 1)], [(1, "\ufffd")]),
    "half a pair": (f'[{{"id":3,"v":"\\ud800"}},{ROW}]', [(1, 1)], [
        (1, '{"id":3,"v":"\\ud800"}'),
    ]),
}  # fmt: skip


def walked(text: str) -> list[tuple[int, object]]:
    array = ArrayElements(io.BytesIO(text.encode("utf-8", "surrogateescape")))
    return [(array.line, one) for one in array.elements()]


@pytest.mark.parametrize("case", BROKEN)
def test_a_load_goes_on_behind_what_is_no_row_of_an_array(tmp_path: Path, case: str) -> None:
    text, _, broken = BROKEN[case]
    path, source, rejects = str(tmp_path / "my.db"), tmp_path / "a.json", tmp_path / "rejects"
    run(path, "CREATE TABLE t (id BIGINT, n INT AUTO_INCREMENT, v STRING, PRIMARY KEY (id, n))")
    source.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=f"a.json, line {broken[0][0]}: "):
        load(path, "t", [str(source)], LoadOptions(engine="local"))
    load(path, "t", [str(source)], LoadOptions(rejects=str(rejects), engine="local"))
    found = [(one["line"], one["row"]) for one in read_rejects(rejects)]
    assert found == broken
    assert content(path, "SELECT id FROM t ORDER BY id") == sorted(
        (key,) for _, key in BROKEN[case][1]
    )


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_elements_do_not_depend_on_how_much_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch, case: str, size: int
) -> None:
    monkeypatch.setattr(json_array, "_READ_BYTES", size)
    text, rows, broken = BROKEN[case]
    elements = walked(text)
    objects = [(line, int(one["id"])) for line, one in elements if isinstance(one, dict)]
    texts = [(line, one.text) for line, one in elements if isinstance(one, BrokenElement)]
    if case == "half a pair":
        rows, broken = [(1, 3), *rows], []
    assert (objects, texts) == (rows, broken)


@given(
    st.lists(st.sampled_from([ROW, NEXT, ",", ",", "[", "]", "{", "}", '"', ":", "1", "\n"])).map(
        "".join
    )
)
def test_a_row_is_an_object_that_the_text_has_and_whole_arrays_have_no_other(text: str) -> None:
    array = "[" + text
    rows = [one for _, one in walked(array) if isinstance(one, dict)]
    assert len(rows) <= len(re.findall(re.escape(ROW) + "|" + re.escape(NEXT), text)) + text.count(
        "{}"
    ) + text.count("{\n")
    try:
        whole = json.loads(array)
    except ValueError:
        assert any(isinstance(one, BrokenElement) for _, one in walked(array))
    else:
        assert len(walked(array)) == len(whole)
        assert len(rows) == sum(isinstance(one, dict) for one in whole)


def test_a_broken_element_is_passed_in_bounded_memory() -> None:
    class Endless(io.RawIOBase):
        blocks = 0

        def read(self, size: int = -1) -> bytes:
            self.blocks += 1
            return b"[" + b"x" * (size - 1) if self.blocks == 1 else b"x" * size

    stream = Endless()
    (broken,) = ArrayElements(stream).elements()
    assert isinstance(broken, BrokenElement)
    assert (len(broken.text), stream.blocks) == (1 << 16, 2)


def test_a_line_that_is_too_long_is_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_rows, "BLOCK_BYTES", 16)
    monkeypatch.setattr(json_rows, "LONGEST_LINE", 64)
    path, source, rejects = str(tmp_path / "my.db"), tmp_path / "a.json", tmp_path / "rejects"
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
    long = json.dumps({"id": 2, "v": "x" * 500})
    source.write_text(f'{{"id":1}}\n\n{long}\n{{"id":3}}\n{long}')
    load(path, "t", [str(source)], LoadOptions(rejects=str(rejects), engine="local"))
    assert content(path, "SELECT id FROM t ORDER BY id") == [(1,), (3,)]
    assert [one["line"] for one in read_rejects(rejects)] == [3, 5]
