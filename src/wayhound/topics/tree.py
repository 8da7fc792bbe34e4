"""The topic tree and its text file: parse it, find topics in it, and edit it without losing its comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np

from wayhound.errors import UsageError
from wayhound.learn.arrays import Ints
from wayhound.learn.shrinkage import NO_NODE
from wayhound.topics.vocabulary import singular_words

_LINE = re.compile(
    r"(?P<name>[^:\[\]\s]++(?:\s++[^:\[\]\s]++)*+)\s*+(?:\[(?P<label>[^\[\]]*+)\])?\s*+(?::(?P<keywords>.*))?"
)
_UNSAFE = re.compile(r"[^\w-]")
_SHIPPED = "wayhound.topics.trees"

TREE_NAME = "topics.txt"
"""The name of the tree file in a workspace."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One node of the tree. `path` holds the names from the top down, `label` its name in other files."""

    path: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    label: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def title(self) -> str:
        """The path for people: `Networking › Wireless`."""
        return " › ".join(self.path)

    @property
    def slug(self) -> str:
        """The path for files: `/Networking/Wireless/`."""
        return "".join(f"/{_UNSAFE.sub('_', name)}" for name in self.path) + "/"


@dataclass(frozen=True)
class TopicTree:
    """Topics in file order, parents before their children."""

    topics: tuple[Topic, ...]

    @cached_property
    def leaves(self) -> tuple[Topic, ...]:
        parents = {topic.path[:-1] for topic in self.topics}
        return tuple(topic for topic in self.topics if topic.path not in parents)

    @cached_property
    def interior(self) -> tuple[Topic, ...]:
        """The nodes that have children; the unnamed root comes first."""
        leaves = set(self.leaves)
        return (Topic(()), *(topic for topic in self.topics if topic not in leaves))

    @cached_property
    def leaf_paths(self) -> Ints:
        """Node numbers from each leaf up to the root, padded, (leaves, depth). The root has number 0."""
        return _paths([leaf.path for leaf in self.leaves], self._numbers)

    @cached_property
    def interior_paths(self) -> Ints:
        """Node numbers from each interior node up to the root, padded, (interior, depth). The root comes first."""
        return _paths([topic.path for topic in self.interior], self._numbers)

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], int]:
        return {(): 0} | {topic.path: number for number, topic in enumerate(self.topics, 1)}

    def find(self, name: str) -> Topic:
        """Return the topic with this path, label or unique name. Raises UsageError for none or several."""
        wanted = name.strip().casefold()
        exact = [topic for topic in self.topics if wanted in _spellings(topic)]
        matches = exact or [topic for topic in self.topics if topic.name.casefold() == wanted]
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise UsageError(f"There is no topic {name!r} in the tree.")
        paths = " or ".join(topic.slug for topic in matches)
        raise UsageError(f"{name!r} is ambiguous: it may mean {paths}. Give the whole path.")


def read_tree(path: Path) -> TopicTree:
    """Parse a tree file. Raises UsageError if it cannot be read or parsed."""
    return parse_tree(read_tree_text(path), str(path))


def read_tree_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"The topic tree {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The topic tree {path} is not text in UTF-8.") from None


def load_tree_text(name: str) -> str:
    """Return the text of a shipped tree, or of a tree file at this path.

    Raises UsageError if there is neither, or if the file is no tree.
    """
    shipped = shipped_trees()
    if name in shipped:
        return shipped[name]
    if not Path(name).exists():
        raise UsageError(f"There is no tree {name!r}: neither a file nor one of {', '.join(shipped)}.")
    text = read_tree_text(Path(name))
    parse_tree(text, name)
    return text


def shipped_trees() -> dict[str, str]:
    """Return the trees that come with Wayhound, text by name."""
    files = sorted(resources.files(_SHIPPED).iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".topics"): file.read_text("utf-8")
        for file in files
        if file.name.endswith(".topics")
    }


def tree_text(tree: TopicTree) -> str:
    """Return the text of a tree file, without comments."""
    lines = []
    for topic in tree.topics:
        label = f" [{topic.label}]" if topic.label else ""
        keywords = f": {', '.join(topic.keywords)}" if topic.keywords else ""
        lines.append(f"{'  ' * (len(topic.path) - 1)}{topic.name}{label}{keywords}\n")
    return "".join(lines)


def parse_tree(text: str, name: str = "The topic tree") -> TopicTree:
    """Parse the text of a tree file. Raises UsageError with the line number of the first mistake."""
    topics: list[Topic] = []
    levels: list[tuple[int, str]] = []  # indents and names of the topics above this line
    first_seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        topic = _topic(line, number, levels, f"{name}, line {number}")
        _refuse_duplicate(topic, first_seen, f"{name}, line {number}")
        topics.append(topic)
    if not topics:
        raise UsageError(f"{name} contains no topics.")
    return TopicTree(tuple(topics))


def _topic(line: str, number: int, levels: list[tuple[int, str]], place: str) -> Topic:
    indent = len(line) - len(line.lstrip())
    if "\t" in line[:indent]:
        raise UsageError(f"{place}: indent with spaces, not with tabs.")
    parts = _LINE.fullmatch(line.strip())
    if parts is None:
        raise UsageError(f"{place}: expected a name, a label in brackets if any, and keywords after a colon.")
    _descend(indent, levels, place)
    path = (*(above for _, above in levels), parts["name"])
    levels.append((indent, parts["name"]))
    return Topic(path, _keywords(parts["keywords"] or "", place), (parts["label"] or "").strip(), number)


def _descend(indent: int, levels: list[tuple[int, str]], place: str) -> None:
    """Drop the levels that are not ancestors of this line."""
    if not levels and indent:
        raise UsageError(f"{place}: the first topic must not be indented.")
    closed = False
    while levels and indent <= levels[-1][0]:
        closed = levels.pop()[0] != indent
    if closed:
        raise UsageError(f"{place}: this indent matches no line above it.")


def _keywords(text: str, place: str) -> tuple[str, ...]:
    keywords = tuple(filter(None, (keyword.strip() for keyword in text.split(","))))
    for keyword in keywords:
        if not singular_words(keyword):
            raise UsageError(f"{place}: the keyword {keyword!r} contains no word.")
    return keywords


def _refuse_duplicate(topic: Topic, first_seen: dict[tuple[str, ...], int], place: str) -> None:
    """Raise UsageError if an earlier topic has the same path, spelt for files, or the same label."""
    for key in filter(
        None, ((topic.slug.casefold(),), ("label", topic.label.casefold()) if topic.label else ())
    ):
        if key in first_seen:
            raise UsageError(f"{place}: {topic.title} is already on line {first_seen[key]}.")
        first_seen[key] = topic.line


def _paths(ends: list[tuple[str, ...]], numbers: dict[tuple[str, ...], int]) -> Ints:
    paths = np.full((len(ends), max(map(len, ends)) + 1), NO_NODE, dtype=np.int64)
    for row, end in zip(paths, ends, strict=True):
        row[: len(end) + 1] = [numbers[end[:cut]] for cut in range(len(end), -1, -1)]
    return paths


def _spellings(topic: Topic) -> Iterator[str]:
    yield topic.slug.casefold()
    yield topic.slug.strip("/").casefold()
    yield topic.title.casefold()
    if topic.label:
        yield topic.label.casefold()


def with_keywords(text: str, topic: str, keywords: Sequence[str]) -> str:
    """Return the file with more keywords for a topic; those that it has already are not added again."""
    node = parse_tree(text).find(topic)
    present = {keyword.casefold() for keyword in node.keywords}
    added = [keyword for keyword in keywords if keyword.casefold() not in present]
    return _checked(_with_keywords(text, node, (*node.keywords, *added)))


def without_keywords(text: str, topic: str, keywords: Sequence[str]) -> str:
    """Return the file with fewer keywords for a topic. Raises UsageError for one that it does not have."""
    node = parse_tree(text).find(topic)
    dropped = {keyword.casefold() for keyword in keywords}
    for keyword in dropped - {keyword.casefold() for keyword in node.keywords}:
        raise UsageError(f"{node.title} has no keyword {keyword!r}.")
    kept = tuple(keyword for keyword in node.keywords if keyword.casefold() not in dropped)
    return _checked(_with_keywords(text, node, kept))


def with_topic(text: str, parent: str, name: str, keywords: Sequence[str]) -> str:
    """Return the file with a new topic as the last child of `parent`, or at the top if that is empty or `/`."""
    tree = parse_tree(text)
    lines = text.splitlines()
    above = tree.find(parent) if parent.strip("/ ") else None
    line = f"{_child_indent(lines, tree, above)}{name}: {', '.join(keywords)}"
    lines.insert(_last_line_below(tree, above), line)
    return _checked("\n".join(lines) + "\n")


def _with_keywords(text: str, topic: Topic, keywords: Sequence[str]) -> str:
    lines = text.splitlines()
    head = lines[topic.line - 1].partition(":")[0].rstrip()
    lines[topic.line - 1] = f"{head}: {', '.join(keywords)}" if keywords else head
    return "\n".join(lines) + "\n"


def _child_indent(lines: list[str], tree: TopicTree, above: Topic | None) -> str:
    if above is None:
        return ""
    children = [topic for topic in tree.topics if topic.path[:-1] == above.path]
    if children:
        return _indent(lines[children[0].line - 1])
    return _indent(lines[above.line - 1]) + "  "


def _last_line_below(tree: TopicTree, above: Topic | None) -> int:
    path = above.path if above else ()
    return max(topic.line for topic in tree.topics if topic.path[: len(path)] == path)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _checked(text: str) -> str:
    parse_tree(text, "The changed tree")
    return text
