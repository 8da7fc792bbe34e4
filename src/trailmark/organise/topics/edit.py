"""Changes the text of a tree file as a person would: accepted keywords and topics, remarks left alone."""

from __future__ import annotations

from collections.abc import Sequence

from trailmark.errors import UsageError
from trailmark.organise.topics.tree import Topic, TopicTree, parse_tree


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
