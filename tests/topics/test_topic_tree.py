from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.errors import UsageError
from wayhound.topics.tree import (
    parse_tree,
    read_tree,
    shipped_trees,
    tree_text,
    with_keywords,
    with_topic,
    without_keywords,
)

TREE = """\
# Networks, mostly
Networking: network
  Wireless [net.w]: wireless, mobile host
    Satellites: satellite

  Routing: routing
Databases, Old and New: database
"""


def test_a_tree_is_read_with_paths_keywords_labels_and_lines() -> None:
    tree = parse_tree(TREE)
    wireless = tree.find("Wireless")
    assert wireless.path == ("Networking", "Wireless")
    assert wireless.keywords == ("wireless", "mobile host")
    assert (wireless.label, wireless.line) == ("net.w", 3)
    assert [leaf.name for leaf in tree.leaves] == ["Satellites", "Routing", "Databases, Old and New"]
    assert [node.path for node in tree.interior] == [(), ("Networking",), ("Networking", "Wireless")]


def test_leaf_paths_lead_to_the_root() -> None:
    tree = parse_tree(TREE)
    assert tree.leaf_paths.tolist() == [[3, 2, 1, 0], [4, 1, 0, -1], [5, 0, -1, -1]]
    assert tree.interior_paths.tolist() == [[0, -1, -1], [1, 0, -1], [2, 1, 0]]


def test_a_tree_of_one_level_has_leaves_right_below_the_root() -> None:
    tree = parse_tree("Cats: cat\nDogs: dog\n")
    assert np.array_equal(tree.leaf_paths, [[1, 0], [2, 0]])


@pytest.mark.parametrize(
    "name",
    ["Satellites", "satellites", "/Networking/Wireless/Satellites/", "Networking › Wireless › Satellites"],
)
def test_a_topic_is_found_by_name_or_path(name: str) -> None:
    assert parse_tree(TREE).find(name).name == "Satellites"


def test_a_topic_is_found_by_its_label_and_by_its_path_with_odd_signs() -> None:
    assert parse_tree(TREE).find("net.w").name == "Wireless"
    assert parse_tree(TREE).find("/Databases__Old_and_New/").name == "Databases, Old and New"


def test_equal_names_under_different_parents_need_the_whole_path() -> None:
    tree = parse_tree("A\n  Logic: x\nB\n  Logic: y\n")
    with pytest.raises(UsageError, match="/A/Logic/ or /B/Logic/"):
        tree.find("Logic")
    assert tree.find("/B/Logic/").keywords == ("y",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "contains no topics"),
        ("# only a remark\n", "contains no topics"),
        ("  A: x\n", "line 1: the first topic must not be indented"),
        ("A\n\tB: x\n", "line 2: indent with spaces"),
        ("A\n    B: x\n  C: y\n", "line 3: this indent matches no line above"),
        ("A: x\nB: y\nA: z\n", "line 3: A is already on line 1"),
        ("A b: x\nA_b: y\n", "line 2: A_b is already on line 1"),
        ("A [l]: x\nB [L]: y\n", "line 2: B is already on line 1"),
        ("A: x, ++, y\n", r"line 1: the keyword '\+\+' contains no word"),
        ("A [x: y\n", "line 1: expected a name"),
        (": x\n", "line 1: expected a name"),
        pytest.param(f"A{' ' * 200_000}[\n", "line 1: expected a name", id="blanks"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_tree(text)


def test_names_and_keywords_of_any_language_are_kept() -> None:
    tree = parse_tree("Künstliche Intelligenz: maschinelles lernen\n機械学習: ニューラル\n")
    assert tree.leaves[0].keywords == ("maschinelles lernen",)
    assert tree.leaves[1].name == "機械学習"


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.text("abcdefg ", min_size=1, max_size=5).filter(str.strip)),
        min_size=1,
        max_size=12,
    )
)
def test_writing_a_tree_and_reading_it_gives_the_same_tree(shape: list[tuple[int, str]]) -> None:
    depth, lines = -1, []
    for number, (wanted, name) in enumerate(shape):
        depth = min(wanted, depth + 1)
        lines.append(f"{'  ' * depth}{name.strip()} {number}: word{number}")
    tree = parse_tree("\n".join(lines))
    again = parse_tree(tree_text(tree))
    assert [(t.path, t.keywords, t.label) for t in again.topics] == [
        (t.path, t.keywords, t.label) for t in tree.topics
    ]


def test_a_missing_or_foreign_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_tree(tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"Caf\xe9: x\n")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        read_tree(tmp_path / "latin")


def test_the_ready_trees_can_be_read_and_every_leaf_has_keywords() -> None:
    trees = shipped_trees()
    assert {"computer-science", "medicine"} <= set(trees)
    for name, text in trees.items():
        assert all(1 < len(leaf.keywords) <= 6 for leaf in parse_tree(text, name).leaves)
    assert len(parse_tree(trees["computer-science"]).leaves) == 70


def test_accepted_keywords_are_added_once_and_remarks_stay() -> None:
    changed = with_keywords(TREE, "Routing", ["router", "Routing"])
    assert parse_tree(changed).find("Routing").keywords == ("routing", "router")
    assert changed.startswith("# Networks, mostly\n")
    assert "[net.w]" in with_keywords(TREE, "net.w", ["handoff"])


def test_keywords_can_be_dropped_but_only_those_that_are_there() -> None:
    assert parse_tree(without_keywords(TREE, "Wireless", ["Mobile Host"])).find("Wireless").keywords == (
        "wireless",
    )
    with pytest.raises(UsageError, match="has no keyword 'fish'"):
        without_keywords(TREE, "Wireless", ["fish"])


def test_a_new_topic_stands_last_among_its_siblings() -> None:
    tree = parse_tree(with_topic(TREE, "Networking", "Protocols", ["tcp"]))
    assert tree.find("Protocols").path == ("Networking", "Protocols")
    below = parse_tree(with_topic(TREE, "Satellites", "Orbits", ["orbit"]))
    assert below.find("Orbits").path == ("Networking", "Wireless", "Satellites", "Orbits")
    top = parse_tree(with_topic(TREE, "/", "Graphics", ["rendering"]))
    assert top.find("Graphics").path == ("Graphics",)


def test_a_new_topic_of_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UsageError, match="is already on line"):
        with_topic(TREE, "Networking", "Routing", ["x"])
