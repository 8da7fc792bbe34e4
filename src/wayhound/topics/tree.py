"""Changes the text of a tree file as a person would: accepted keywords and topics, remarks left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np

from wayhound.errors import UsageError
from wayhound.learn.naive_bayes import Ints
from wayhound.learn.shrinkage import NO_NODE
from wayhound.topics.vocabulary import folded_words

_LINE = re.compile(r"(?P<name>[^:\[\]]+?)\s*(?:\[(?P<label>[^\[\]]*)\])?\s*(?::(?P<keywords>.*))?")
_UNSAFE = re.compile(r"[^\w-]")
_READY = "wayhound.topics.trees"


@dataclass(frozen=True, slots=True)
class Topic:
    """One node: its name, the names above it, what other files call it, and its keywords."""

    path: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    label: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def title(self) -> str:
        """How people read it: `Networking › Wireless`."""
        return " › ".join(self.path)

    @property
    def slug(self) -> str:
        """How files name it: `/Networking/Wireless/`."""
        return "".join(f"/{_UNSAFE.sub('_', name)}" for name in self.path) + "/"


@dataclass(frozen=True)
class TopicTree:
    """Topics in the order of the file, parents before their children."""

    topics: tuple[Topic, ...]

    @cached_property
    def leaves(self) -> tuple[Topic, ...]:
        parents = {topic.path[:-1] for topic in self.topics}
        return tuple(topic for topic in self.topics if topic.path not in parents)

    @cached_property
    def interior(self) -> tuple[Topic, ...]:
        """The nodes that have children, the root that stands above all first."""
        leaves = set(self.leaves)
        return (Topic(()), *(topic for topic in self.topics if topic not in leaves))

    @cached_property
    def leaf_paths(self) -> Ints:
        """Node numbers from each leaf up to the root, padded, (leaves, depth); the root has number 0."""
        return _paths([leaf.path for leaf in self.leaves], self._numbers)

    @cached_property
    def interior_paths(self) -> Ints:
        """Node numbers from each interior node up to the root, padded, (interior, depth); the root first."""
        return _paths([topic.path for topic in self.interior], self._numbers)

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], int]:
        return {(): 0} | {topic.path: number for number, topic in enumerate(self.topics, 1)}

    def find(self, name: str) -> Topic:
        """The topic that a person means by a path, a label, or a name that stands but once in the tree."""
        wanted = name.strip().casefold()
        exact = [topic for topic in self.topics if wanted in _names(topic)]
        found = exact or [topic for topic in self.topics if topic.name.casefold() == wanted]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(f"There is no topic {name!r} in the tree.")
        raise UsageError(
            f"{name!r} may mean {' or '.join(topic.slug for topic in found)}; give the whole path."
        )


def read_tree(path: Path) -> TopicTree:
    try:
        return parse_tree(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise UsageError(f"The topic tree {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The topic tree {path} is not text in UTF-8.") from None


def ready_trees() -> dict[str, str]:
    """The trees that come with Wayhound: name and text."""
    files = sorted(resources.files(_READY).iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".topics"): file.read_text("utf-8")
        for file in files
        if file.name.endswith(".topics")
    }


def tree_text(tree: TopicTree) -> str:
    """The file of a tree, without remarks."""
    lines = []
    for topic in tree.topics:
        label = f" [{topic.label}]" if topic.label else ""
        keywords = f": {', '.join(topic.keywords)}" if topic.keywords else ""
        lines.append(f"{'  ' * (len(topic.path) - 1)}{topic.name}{label}{keywords}\n")
    return "".join(lines)


def parse_tree(text: str, name: str = "The topic tree") -> TopicTree:
    """Read a tree; whatever is wrong is said with its line number."""
    topics: list[Topic] = []
    levels: list[tuple[int, str]] = []  # the indents and names that are open at this line
    first_seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        topic = _topic(line, number, levels, f"{name}, line {number}")
        _refuse_second(topic, first_seen, f"{name}, line {number}")
        topics.append(topic)
    if not topics:
        raise UsageError(f"{name} holds no topics.")
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
    """Close the topics that do not stand above this line."""
    if not levels and indent:
        raise UsageError(f"{place}: the first topic must not be indented.")
    closed = False
    while levels and indent <= levels[-1][0]:
        closed = levels.pop()[0] != indent
    if closed:
        raise UsageError(f"{place}: this indent fits no line above it.")


def _keywords(listed: str, place: str) -> tuple[str, ...]:
    keywords = tuple(filter(None, (keyword.strip() for keyword in listed.split(","))))
    for keyword in keywords:
        if not folded_words(keyword):
            raise UsageError(f"{place}: the keyword {keyword!r} holds no word.")
    return keywords


def _refuse_second(topic: Topic, first_seen: dict[tuple[str, ...], int], place: str) -> None:
    """Topics under one parent need different names, also as files name them; labels are theirs alone."""
    for key in filter(
        None, ((topic.slug.casefold(),), ("label", topic.label.casefold()) if topic.label else ())
    ):
        if key in first_seen:
            raise UsageError(f"{place}: {topic.title} was named on line {first_seen[key]} already.")
        first_seen[key] = topic.line


def _paths(ends: list[tuple[str, ...]], numbers: dict[tuple[str, ...], int]) -> Ints:
    paths = np.full((len(ends), max(map(len, ends)) + 1), NO_NODE, dtype=np.int64)
    for row, end in zip(paths, ends, strict=True):
        row[: len(end) + 1] = [numbers[end[:cut]] for cut in range(len(end), -1, -1)]
    return paths


def _names(topic: Topic) -> Iterator[str]:
    yield topic.slug.casefold()
    yield topic.slug.strip("/").casefold()
    yield topic.title.casefold()
    if topic.label:
        yield topic.label.casefold()


def with_keywords(text: str, topic: str, keywords: Sequence[str]) -> str:
    """The file with more keywords for a topic; those that it has already are not added again."""
    found = parse_tree(text).find(topic)
    have = {keyword.casefold() for keyword in found.keywords}
    added = [keyword for keyword in keywords if keyword.casefold() not in have]
    return _checked(_rewritten(text, found, (*found.keywords, *added)))


def without_keywords(text: str, topic: str, keywords: Sequence[str]) -> str:
    """The file with fewer keywords for a topic."""
    found = parse_tree(text).find(topic)
    dropped = {keyword.casefold() for keyword in keywords}
    for keyword in dropped - {keyword.casefold() for keyword in found.keywords}:
        raise UsageError(f"{found.title} has no keyword {keyword!r}.")
    return _checked(
        _rewritten(text, found, tuple(kept for kept in found.keywords if kept.casefold() not in dropped))
    )


def with_topic(text: str, parent: str, name: str, keywords: Sequence[str]) -> str:
    """The file with a new topic as the last child of another, or at the top if no parent is given."""
    tree = parse_tree(text)
    lines = text.splitlines()
    above = tree.find(parent) if parent.strip("/ ") else None
    line = f"{_child_indent(lines, tree, above)}{name}: {', '.join(keywords)}"
    lines.insert(_last_line_below(tree, above), line)
    return _checked("\n".join(lines) + "\n")


def _rewritten(text: str, topic: Topic, keywords: Sequence[str]) -> str:
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
