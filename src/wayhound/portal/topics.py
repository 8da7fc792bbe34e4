"""The topic tree as the portal shows it: each topic with its address and how many papers stand under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from wayhound.portal.addresses import slugs

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicNode:
    """A topic; `count` is of the papers at it and under it."""

    path: Path
    slug: str
    count: int = 0
    children: tuple[TopicNode, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else "Topics"

    @property
    def url(self) -> str:
        return f"/topics/{self.slug}" if self.slug else "/topics"

    def walk(self) -> Iterator[TopicNode]:
        yield self
        for child in self.children:
            yield from child.walk()


class TopicMap:
    """Topics by path and by address. The root has neither a name nor a slug."""

    def __init__(self, order: Iterable[Path], counts: Mapping[Path, int]) -> None:
        """`order` is that of the tree's file; topics that only papers name come after it."""
        below: dict[Path, dict[Path, None]] = {}
        for path in (*order, *sorted(counts)):
            for depth in range(len(path)):
                below.setdefault(path[:depth], {})[path[: depth + 1]] = None
        self.root = _node((), "", below, counts)
        self.nowhere = counts.get((), 0)
        nodes = list(self.root.walk())
        self._by_path = {node.path: node for node in nodes}
        self._by_slug = {node.slug: node for node in nodes}
        self._by_name: dict[str, list[TopicNode]] = {}
        for node in nodes[1:]:
            self._by_name.setdefault(node.name, []).append(node)

    def at(self, slug: str) -> TopicNode | None:
        return self._by_slug.get(slug.strip("/"))

    def of(self, path: Path) -> TopicNode | None:
        return self._by_path.get(path)

    def named(self, name: str) -> TopicNode | None:
        """The topic of a name that stands but once in the tree."""
        found = self._by_name.get(name, [])
        return found[0] if len(found) == 1 else None

    def above(self, node: TopicNode) -> list[TopicNode]:
        """From the top down to the topic itself, without the root."""
        return [self._by_path[node.path[:depth]] for depth in range(1, len(node.path) + 1)]


def _node(
    path: Path, slug: str, below: Mapping[Path, Mapping[Path, None]], counts: Mapping[Path, int]
) -> TopicNode:
    paths = list(below.get(path, ()))
    named = zip(paths, slugs(each[-1] for each in paths), strict=True)
    children = tuple(_node(each, f"{slug}/{word}".lstrip("/"), below, counts) for each, word in named)
    own = counts.get(path, 0) if path else 0
    return TopicNode(path, slug, own + sum(child.count for child in children), children)
