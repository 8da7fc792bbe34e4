"""Chains of a relationship: rules for every step, and the chains that they make from source pages (Algorithm 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wayhound.chains.learning import LinkExample, StepLearner
from wayhound.chains.ontology import LinkChain, LinkElement
from wayhound.chains.paths import find_label, list_path
from wayhound.chains.rules import PageRules, PathRule
from wayhound.chains.tokens import Anchor, TokenPage
from wayhound.errors import ModelError, TeachingError
from wayhound.url import normalise

GetPage = Callable[[str], TokenPage | None]
"""Returns a page by its address, or None if it cannot be had."""

MAX_PAGES = 50_000


@dataclass(frozen=True, slots=True)
class ExampleLink:
    """A link on a page, as a person gave it: by its target, and by its offset or text if the target has several.

    `pos` is the offset of the link in the page's text, and -1 if it is not known.
    """

    page: str
    target: str
    pos: int = -1
    text: str = ""


@dataclass(frozen=True, slots=True)
class ExampleChain:
    """An example of a relationship: its links in order. One that is not `wanted` says which link is wrong.

    `name` is what messages call it, such as "line 3".
    """

    links: tuple[ExampleLink, ...]
    wanted: bool = True
    name: str = ""


Pattern = tuple[tuple[PathRule, ...], ...]
"""An anchor element pattern: for every step of a chain, a disjunction of paths."""


@dataclass(frozen=True, slots=True)
class ChainRules:
    """The rules of a relationship: a disjunction of patterns, one for each length of chain that its examples have."""

    patterns: tuple[Pattern, ...]

    def at_step(self, step: int) -> tuple[PathRule, ...]:
        """Return the paths of all patterns at a step, the first being 0."""
        paths = (path for pattern in self.patterns for path in (pattern[step] if step < len(pattern) else ()))
        return tuple(dict.fromkeys(paths))

    def to_json(self) -> dict[str, Any]:
        patterns = [[[path.to_json() for path in step] for step in pattern] for pattern in self.patterns]
        return {"version": 2, "patterns": patterns}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ChainRules:
        """Read saved rules. Raises ModelError if they are damaged or newer than this version."""
        patterns: Any = [data.get("steps")] if data.get("version") == 1 else data.get("patterns")
        if (
            data.get("version") not in (1, 2)
            or not patterns
            or not all(isinstance(each, list) for each in patterns)
        ):
            raise ModelError(
                "The link rules are damaged or newer than this version. Learn the relationship again."
            )
        return cls(
            tuple(
                tuple(tuple(PathRule.from_json(path) for path in step) for step in pattern)
                for pattern in patterns
            )
        )


def learn_chains(
    examples: Sequence[ExampleChain], get_page: GetPage, context: Iterable[str] = ()
) -> ChainRules:
    """Learn the rules of a relationship from example chains; chains of different lengths are patterns of their own.

    `context` are addresses of other source pages; the pages behind the examples' first links serve as context for
    the steps that follow. Raises TeachingError, naming the example, if a page or a link cannot be found, or if
    examples contradict each other.
    """
    wanted = [example for example in examples if example.wanted]
    _check(examples, wanted)
    found = [(example, _locate(example, get_page)) for example in examples]
    _check_contradictions(found)
    sources = _get_all(context, get_page)
    lengths = dict.fromkeys(len(example.links) for example in wanted)
    return ChainRules(tuple(_learn_pattern(length, found, sources, get_page) for length in lengths))


_Located = tuple[ExampleChain, list[tuple[TokenPage, Anchor]]]


def _learn_pattern(
    length: int, found: Sequence[_Located], pages: list[TokenPage], get_page: GetPage
) -> Pattern:
    found = [
        (example, located)
        for example, located in found
        if len(located) == length or (not example.wanted and len(located) < length)
    ]
    steps: list[tuple[PathRule, ...]] = []
    for number in range(length):
        links = [
            LinkExample(located[number][0], located[number][1], example.wanted)
            for example, located in found
            # of a chain that is not wanted, only the last link is wrong
            if len(located) > number and (example.wanted or number == len(located) - 1)
        ]
        _resolve_ambiguous(links, found, number)
        rules = StepLearner(pages).fit(links).paths_
        steps.append(rules)
        taken = PageRules(rules)
        known = {link.page.url: link.page for link in links}
        if number + 1 < length:
            following = [anchor.target for page in (*known.values(), *pages) for anchor in taken.take(page)]
            pages = _get_all(_spread(list(dict.fromkeys(following))), get_page)
    return tuple(steps)


_MOST_CONTEXT = 24
_MOST_CONTEXT_CHARS = 2_500_000


def _spread(urls: list[str]) -> list[str]:
    """Return a sample of a list, taken at even distances."""
    step = max(len(urls) / _MOST_CONTEXT, 1.0)
    return [urls[int(place * step)] for place in range(int(len(urls) / step))]


def _get_all(urls: Iterable[str], get_page: GetPage) -> list[TokenPage]:
    """Return the pages that can be had, until they are enough in number and size to tell a template by."""
    pages: list[TokenPage] = []
    chars = 0
    for url in urls:
        if len(pages) == _MOST_CONTEXT or (chars > _MOST_CONTEXT_CHARS and len(pages) > 1):
            break
        if (page := get_page(url)) is not None:
            pages.append(page)
            chars += len(page.text)
    return pages


def _check(examples: Sequence[ExampleChain], wanted: Sequence[ExampleChain]) -> None:
    if not wanted:
        raise TeachingError(
            "There is no example to learn from: mark at least one link that belongs to the relationship."
        )
    longest = max(len(example.links) for example in wanted)
    for example in examples:
        if not example.links:
            raise TeachingError(f"{example.name or 'An example'} has no link.")
        if len(example.links) > longest:
            raise TeachingError(
                f"{example.name} says that a link does not belong after {len(example.links) - 1} others, but no "
                f"example that belongs has more than {longest} links."
            )
        for link, following in zip(example.links, example.links[1:], strict=False):
            if normalise(link.target) != normalise(following.page):
                raise TeachingError(
                    f"{example.name}: {link.target} is not the page {following.page} of the next link."
                )


def _locate(example: ExampleChain, get_page: GetPage) -> list[tuple[TokenPage, Anchor]]:
    located = []
    for link in example.links:
        page = get_page(link.page)
        if page is None:
            raise TeachingError(f"{example.name}: the page {link.page} cannot be read.")
        located.append((page, _find_link(page, link, example.name)))
    return located


def _find_link(page: TokenPage, link: ExampleLink, name: str) -> Anchor:
    target = normalise(link.target) or link.target
    if link.pos >= 0 and (token := page.link_at(link.pos)) is not None:
        anchor = page.anchor(token)
        if _loose(anchor.target) == _loose(target):
            return anchor
    targets = list(page.targets())
    matches = [page.anchor(token) for token, other in targets if other == target]
    if not matches:
        # a target may be given without the fragment or with another spelling of the scheme
        matches = [page.anchor(token) for token, other in targets if _loose(other) == _loose(target)]
    if not matches:
        raise TeachingError(
            f"{name}: there is no link to {link.target} on {link.page}. It may have been added by a script, or the "
            "page has changed."
        )
    if link.pos >= 0:
        return min(matches, key=lambda anchor: abs(anchor.pos - link.pos))
    same_text = [anchor for anchor in matches if link.text and anchor.text == link.text]
    return (same_text or matches)[0]


def _loose(url: str) -> str:
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _check_contradictions(found: Sequence[_Located]) -> None:
    wanted = {_identity(located): example for example, located in found if example.wanted}
    for example, located in found:
        if not example.wanted and (other := wanted.get(_identity(located))):
            raise TeachingError(
                f"{example.name} says that the link to {located[-1][1].target} does not belong to the relationship, "
                f"{other.name} says that it does. Delete one of them."
            )


def _identity(located: list[tuple[TokenPage, Anchor]]) -> tuple[tuple[str, int], ...]:
    return tuple((page.url, anchor.token) for page, anchor in located)


def _resolve_ambiguous(
    links: list[LinkExample],
    found: Sequence[_Located],
    number: int,
) -> None:
    """Choose the place of an example whose target its page links several times: the one that fits the others."""

    def key(page: TokenPage, anchor: Anchor) -> tuple[str, ...]:
        return list_path(page, anchor.token, find_label(page, anchor.token))

    given = {(located[number][0].url, located[number][1].token): example.links[number]
             for example, located in found if len(located) > number}  # fmt: skip
    choices: list[list[Anchor]] = []
    for link in links:
        example = given[link.page.url, link.anchor.token]
        if example.pos >= 0 or example.text == link.anchor.text or not link.wanted:
            choices.append([link.anchor])
            continue
        page, target = link.page, link.anchor.target
        choices.append([page.anchor(token) for token, other in page.targets() if other == target])
    votes = Counter(
        path
        for link, anchors in zip(links, choices, strict=True)
        for path in {key(link.page, anchor) for anchor in anchors}
        if link.wanted
    )
    for place, (link, anchors) in enumerate(zip(links, choices, strict=True)):
        if len(anchors) > 1:
            best = max(anchors, key=lambda anchor: (votes[key(link.page, anchor)], -anchor.token))
            links[place] = LinkExample(link.page, best, link.wanted)


@dataclass(slots=True)
class Extraction:
    """Counts of an extraction: source pages read, pages that no rule covered, pages that could not be read."""

    pages: int = 0
    uncovered: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    stopped_by_budget: bool = False

    @property
    def covered_share(self) -> float:
        return 1.0 - len(self.uncovered) / self.pages if self.pages else 0.0


def construct_chains(
    rules: ChainRules, sources: Iterable[str], get_page: GetPage, report: Extraction, budget: int = MAX_PAGES
) -> Iterator[LinkChain]:
    """Yield the chains of source pages, each once, and count in `report` (Algorithm 5).

    A link element is followed only to the page that its link leads to (Definition 2). At most `budget` pages are
    read; each page is read once for each step.
    """
    walker = _Walker(
        [[PageRules(step) for step in pattern] for pattern in rules.patterns], get_page, report, budget
    )
    for source in dict.fromkeys(sources):
        links = walker.links(0, source)
        if report.stopped_by_budget:
            return
        report.pages += 1
        if links is None:
            report.unread.append(source)
        elif not any(links):
            report.uncovered.append(source)
        yield from {
            chain.urls: chain
            for pattern in range(len(rules.patterns))
            for chain in walker.chains(pattern, source, ())
        }.values()


@dataclass
class _Walker:
    patterns: list[list[PageRules]]
    get_page: GetPage
    report: Extraction
    budget: int
    _taken: dict[tuple[int, str], list[list[Anchor]] | None] = field(default_factory=dict)

    def links(self, step: int, url: str) -> list[list[Anchor]] | None:
        """Return the links that each pattern takes from a page at a step.

        Returns None if the page cannot be read or the budget is spent.
        """
        if (step, url) not in self._taken:
            if len(self._taken) >= self.budget:
                self.report.stopped_by_budget = True
                return None
            page = self.get_page(url)
            self._taken[step, url] = None if page is None else [
                pattern[step].take(page) if step < len(pattern) else [] for pattern in self.patterns
            ]  # fmt: skip
        return self._taken[step, url]

    def chains(self, pattern: int, url: str, before: tuple[LinkElement, ...]) -> Iterator[LinkChain]:
        links = self.links(len(before), url)
        for anchor in links[pattern] if links else ():
            elements = (*before, LinkElement(url, anchor))
            if len(elements) == len(self.patterns[pattern]):
                yield LinkChain(elements)
            else:
                yield from self.chains(pattern, anchor.target, elements)
