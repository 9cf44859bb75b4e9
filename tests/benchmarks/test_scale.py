"""What operations cost is drawn by size."""

import xml.etree.ElementTree as ET

from benchmarks.scale_operations import Cost
from benchmarks.workloads.growth.scale import draw_costs

SVG = "{http://www.w3.org/2000/svg}"
COSTS = {
    ("Q1 <all>", 1.0): Cost(0.5, 0.6, 6_000_000, 250.0),
    ("load", 1.0): Cost(4.0, 7.0, 8_000_000, 900.0),
    ("Q1 <all>", 10.0): Cost(3.0, 4.0, 60_000_000, 280.0),
    ("load", 10.0): Cost(40.0, 80.0, 86_000_000, 950.0),
}


def test_each_operation_is_a_line_of_both_panels() -> None:
    root = ET.fromstring(draw_costs(COSTS))
    panels = root.findall(f"{SVG}g")
    assert len(panels) == 2
    for panel in panels:
        lines = [line.attrib["points"].split() for line in panel.findall(f"{SVG}polyline")]
        assert [len(points) for points in lines] == [2, 2]
        words = [text.text for text in panel.findall(f"{SVG}text")]
        assert {"SF1", "SF10", "Q1 <all>", "load"} <= set(words)


def test_lines_lie_inside_the_picture() -> None:
    root = ET.fromstring(draw_costs(COSTS))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for line in root.iter(f"{SVG}polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_more_memory_lies_higher() -> None:
    memory = ET.fromstring(draw_costs(COSTS)).findall(f"{SVG}g")[1]
    places = [line.attrib["points"].split() for line in memory.findall(f"{SVG}polyline")]
    heights = [[float(point.split(",")[1]) for point in line] for line in places]
    assert all(upper <= lower for lower, upper in heights)
    assert heights[0][0] > heights[1][0]
