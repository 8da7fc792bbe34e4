"""Rules taught by example: values marked on two or three pages generalise over the template of their site.

A rule says where a value stands: the path of its element, the text before it on its line, and the line above. Only what
all examples have in common becomes part of the rule. Where one sequence of landmarks leads to the value on all examples
(what to skip to, over elements and words, until the value begins), it is tried first. Any field can be taught, also one
that no extractor knows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from selectolax.lexbor import LexborNode

from wayhound.entities.contacts import clean_email, normal_phone
from wayhound.entities.fact import Fact, normal_value
from wayhound.entities.page_lines import PageLines, ParsedPage, parse_page
from wayhound.learn.landmarks import Alphabet, CompiledRule, LandmarkLearner, SkipExample, SkipRule
from wayhound.record_kinds import Compare, KindSpec

TAUGHT_CONFIDENCE = 0.97
MAX_LINES = 6  # of one value
LEAST_FOR_LANDMARKS = 2  # examples: of one page, any word may be content

Example = tuple[bytes, str, str, str, str]
"""A page (body, content type, charset), a field, and the text that a person marked on it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value: the path of its line, the text around it there, and the lines above and below."""

    path: str
    before: str
    after: str
    above: str
    below: str
    lines: int
    ordinal: int  # among the lines with the same path
    start: int  # in the text of the page
    line: int


@dataclass(frozen=True, slots=True)
class Rule:
    """The part of the places of all examples that is the same; None for what differs."""

    field: str
    path: str | None
    before: str | None
    after: str
    above: str | None
    below: str | None
    lines: int | None
    ordinal: int | None
    landmarks: SkipRule | None = None

    def find(self, page: PageLines, paths: Sequence[str]) -> Fact | None:
        """Return the first value that the rule fits; None if there is none."""
        for start in chain(self._starts_by_landmarks(page, paths), self._starts_by_path(page, paths)):
            last = self._last_line(page, page.line_at(start))
            end = self._end(page.lines[last], page.starts[last])
            raw = page.text[start:end]
            text = ", ".join(part for part in (piece.strip(" ,;:|") for piece in raw.split("\n")) if part)
            if text:
                return Fact(
                    self.field, text, TAUGHT_CONFIDENCE, "taught", start, max(start, end), printed=raw
                )
        return None

    def _starts_by_path(self, page: PageLines, paths: Sequence[str]) -> Iterator[int]:
        seen: dict[str, int] = defaultdict(int)
        for index in range(len(page.lines)):
            path = paths[index] if index < len(paths) else ""
            ordinal, seen[path] = seen[path], seen[path] + 1
            if self._fits(page, index, path, ordinal):
                yield page.starts[index] + len(self.before or "")

    def _starts_by_landmarks(self, page: PageLines, paths: Sequence[str]) -> Iterator[int]:
        if self.landmarks is not None:
            tokens, starts = tokens_of(page, paths)
            alphabet = Alphabet(self.landmarks.terms)
            encoded = alphabet.encode(tokens)
            stop = CompiledRule(self.landmarks, alphabet).stop(encoded, 0, len(encoded))
            # the element must be like those of the examples: pages of another template have landmarks, too
            if stop is not None and stop < len(starts):
                index = page.line_at(starts[stop])
                if self.path is None or paths[index] == self.path:
                    yield starts[stop]

    def _fits(self, page: PageLines, index: int, path: str, ordinal: int) -> bool:
        text = page.lines[index]
        above = page.lines[index - 1] if index else ""
        return (
            (self.path is None or path == self.path)
            and (self.before is None or text.startswith(self.before))
            and (self.above is None or above == self.above)
            and (self._is_anchored or self.ordinal is None or ordinal == self.ordinal)
        )

    @property
    def _is_anchored(self) -> bool:
        """True if a text beside the value finds it, so that its number among like elements is not needed."""
        return bool(self.before) or bool(self.above)

    def _last_line(self, page: PageLines, index: int) -> int:
        if self.lines is not None:
            return min(len(page.lines) - 1, index + self.lines - 1)
        for last in range(index, min(len(page.lines), index + MAX_LINES)):
            if last + 1 < len(page.lines) and page.lines[last + 1] == self.below:
                return last
        return index

    def _end(self, text: str, start: int) -> int:
        cut = text.find(self.after) if self.after else -1
        return start + (cut if cut > 0 else len(text))


@dataclass(frozen=True, slots=True)
class SiteTemplate:
    """The rules of a site, at most one for a field."""

    rules: tuple[Rule, ...]

    def apply(self, body: bytes, content_type: str = "", charset: str = "") -> list[Fact]:
        """Return the values that the rules find on a page."""
        page, paths = lines_with_paths(body, content_type, charset)
        facts = (rule.find(page, paths) for rule in self.rules)
        return [fact for fact in facts if fact is not None]


def merge_taught(
    found: Sequence[Fact], taught: Sequence[Fact], kind: KindSpec, regions: Sequence[str]
) -> list[Fact]:
    """Return the facts of a page where taught rules decide which value counts, and extractors where it ends.

    A taught value that cannot be one of its field, such as a phone without a number, is left out.
    """
    merged: list[Fact] = []
    decided: set[str] = set()
    for fact in taught:
        compare = kind.field(fact.field).compare
        same = [f for f in found if f.field == fact.field and f.start < fact.end and fact.start < f.end]
        if same and compare in ("phone", "email", "address"):
            merged += [one._replace(confidence=TAUGHT_CONFIDENCE, source="taught") for one in same]
        elif _may_be(compare, fact.text, regions):
            merged.append(fact._replace(text=normal_value(compare, fact.text, tuple(regions))))
        else:
            continue
        decided.add(fact.field)
    return [*merged, *(fact for fact in found if fact.field not in decided)]


def _may_be(compare: Compare, text: str, regions: Sequence[str]) -> bool:
    match compare:
        case "phone":
            return any(normal_phone(text, region) for region in ("", *regions))
        case "email":
            return bool(clean_email(text))
        case "address":
            return any(map(str.isdigit, text))
        case _:
            return True


def learn_template(examples: Iterable[Example]) -> SiteTemplate:
    """Return the rules that examples have in common. A value that is not found on its page teaches nothing."""
    places: dict[str, list[Place]] = defaultdict(list)
    marked: dict[str, list[SkipExample]] = defaultdict(list)
    for body, content_type, charset, name, text in examples:
        page, paths = lines_with_paths(body, content_type, charset)
        if (place := locate(page, paths, text)) is not None:
            places[name].append(place)
            tokens, starts = tokens_of(page, paths)
            if place.start in starts:
                # of a tag and the word right after it, the word is later in the list
                first = len(starts) - 1 - starts[::-1].index(place.start)
                marked[name].append(SkipExample(tokens, first, first))
    return SiteTemplate(
        tuple(_generalised(name, found, _landmarks(marked[name])) for name, found in places.items())
    )


_TOKENS = re.compile(r"\w+|[^\w\s]")


def tokens_of(page: PageLines, paths: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Return a page as landmarks see it, for each line the tag of its element and its words, and where each begins."""
    tokens: list[str] = []
    starts: list[int] = []
    for line, path, start in zip(page.lines, paths, page.starts, strict=False):
        name, *classes = path.rpartition(">")[2].split(".")
        tokens.append(f'<{name} class="{" ".join(classes)}">' if classes else f"<{name}>")
        starts.append(start)
        for match in _TOKENS.finditer(line):
            tokens.append(match[0])
            starts.append(start + match.start())
    return tuple(tokens), starts


def _landmarks(examples: Sequence[SkipExample]) -> SkipRule | None:
    """Return one sequence of landmarks that finds the value in all examples; None if there are fewer than two."""
    if len(examples) < LEAST_FOR_LANDMARKS:
        return None
    common = frozenset.intersection(*(frozenset(example.tokens) for example in examples))
    learner = LandmarkLearner(common.__contains__, common.__contains__).fit(examples)
    is_found = len(learner.alternatives_) == 1 and not learner.uncovered_
    return SkipRule(learner.alternatives_) if is_found else None


def locate(page: PageLines, paths: Sequence[str], text: str) -> Place | None:
    """Return where a text stands on a page, also over several lines; None if it does not.

    Of several places, one in an element whose whole text it is counts first: a name stands in menus, too.
    """
    words = re.findall(r"\w+|[^\w\s,|]", text)
    if not words:
        return None
    pattern = re.compile(r"[\s,;:|]*".join(map(re.escape, words)) + r"(?![^\W_])", re.IGNORECASE)
    best: tuple[int, Place] | None = None
    for match in pattern.finditer(page.text):
        first, last = page.line_at(match.start()), page.line_at(match.end() - 1)
        if last - first >= MAX_LINES or (match.start() > 0 and page.text[match.start() - 1].isalnum()):
            continue
        path = paths[first] if first < len(paths) else ""
        place = Place(
            path=path,
            before=page.text[page.starts[first] : match.start()],
            after=page.text[match.end() : page.starts[last] + len(page.lines[last])],
            above=page.lines[first - 1] if first else "",
            below=page.lines[last + 1] if last + 1 < len(page.lines) else "",
            lines=last - first + 1,
            ordinal=sum(other == path for other in paths[:first]),
            start=match.start(),
            line=first,
        )
        rank = len(place.before) + len(place.after)
        if best is None or rank < best[0]:
            best = rank, place
    return best[1] if best else None


def _generalised(name: str, places: Sequence[Place], landmarks: SkipRule | None) -> Rule:
    first = places[0]

    def shared(attribute: str) -> bool:
        return all(getattr(place, attribute) == getattr(first, attribute) for place in places)

    return Rule(
        field=name,
        path=first.path if shared("path") else None,
        before=first.before if shared("before") else None,
        after=_common_start([place.after for place in places]),
        above=first.above if shared("above") and len(places) > 1 else None,
        below=first.below if shared("below") else None,
        lines=first.lines if shared("lines") else None,
        ordinal=first.ordinal if shared("ordinal") else None,
        landmarks=landmarks,
    )


def _common_start(texts: Sequence[str]) -> str:
    """Return the beginning that all texts share, up to the end of a word."""
    shortest = min(texts, key=len)
    length = next((i for i, char in enumerate(shortest) if any(t[i] != char for t in texts)), len(shortest))
    return shortest[:length].rstrip() if length < len(shortest) else shortest


def lines_with_paths(body: bytes, content_type: str = "", charset: str = "") -> tuple[PageLines, list[str]]:
    """Return the lines of a page, and for each the path of its element: tags with their classes."""
    parsed = parse_page("", body, content_type, charset)
    if not isinstance(parsed, ParsedPage):
        return parsed, []
    page = parsed.lines()
    cache: dict[int, str] = {}
    root = parsed.tree.body
    nodes = root.traverse(include_text=True) if root is not None else ()
    return page, [
        _path(node.parent, cache)
        for node in nodes
        if node.is_text_node and node.parent is not None and (node.text() or "").strip()
    ]


def _path(node: LexborNode, cache: dict[int, str]) -> str:
    unknown: list[LexborNode] = []
    above: LexborNode | None = node
    while above is not None and above.tag not in ("html", "-document", None) and above.mem_id not in cache:
        unknown.append(above)
        above = above.parent
    path = cache.get(above.mem_id, "") if above is not None else ""
    for inner in reversed(unknown):
        name = ".".join([inner.tag or "", *(inner.attributes.get("class") or "").split()[:2]])
        path = cache[inner.mem_id] = f"{path}>{name}" if path else name
    return path
