"""Extraction rules of an anchor element path, and their evaluation (Definitions 3 to 8, Algorithms 1 and 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wayhound.chains.tokens import LINK, Anchor, OpenTag, TagCutter, TokenPage, remember, tokens_of
from wayhound.errors import ModelError
from wayhound.learn.landmarks import Alphabet, CompiledRule, Landmark, SkipRule, Term

END_OF_LINK = "</a>"
NOTHING = SkipRule()
"""The rule that skips nothing."""


@dataclass(frozen=True, slots=True)
class LeafRule:
    """The landmarks right before a link, its own tag included, and right after its closing tag."""

    before: Landmark
    after: Landmark = ()


@dataclass(frozen=True, slots=True)
class PathRule:
    """The rules of one anchor element path: a list node with start and end rule, and a leaf with a target rule.

    A path without a list node has an empty start and end rule: its content is the whole page. `end` runs from the end
    of the page, `close` from the start of the list; the list ends where the first of them stops. `text` limits the
    leaf to links that say just that; else `target` names the pattern that their text follows. `open_tags` are cut down
    before anything is matched.
    """

    start: SkipRule = NOTHING
    end: SkipRule = NOTHING
    close: SkipRule = NOTHING
    leaves: tuple[LeafRule, ...] = (LeafRule((LINK,)),)
    target: str = "any"
    text: str = ""
    repeats: bool = True
    open_tags: tuple[OpenTag, ...] = ()

    @property
    def terms(self) -> list[Term]:
        leaf_terms = [term for leaf in self.leaves for term in (*leaf.before, *leaf.after)]
        return [*self.start.terms, *self.end.terms, *self.close.terms, *leaf_terms]

    def accepts(self, anchor: Anchor) -> bool:
        """Return True if a link satisfies the target rule."""
        if self.text:
            return anchor.text == self.text
        return has_anchor_text_pattern(self.target, anchor.text)

    def to_json(self) -> dict[str, Any]:
        leaves = [
            {"before": _terms_to_json(leaf.before), "after": _terms_to_json(leaf.after)}
            for leaf in self.leaves
        ]
        return {
            "start": self.start.to_json(), "end": self.end.to_json(), "close": self.close.to_json(),
            "leaves": leaves, "target": self.target, "text": self.text, "repeats": self.repeats,
            "open_tags": [
                {"tag": each.tag, "common": sorted(each.common), "kept": sorted(each.kept)}
                for each in self.open_tags
            ],
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PathRule:
        """Read a saved rule. Raises ModelError if it is damaged or names a pattern that is not known here."""
        try:
            leaves = tuple(
                LeafRule(_terms_from_json(leaf["before"]), _terms_from_json(leaf["after"]))
                for leaf in data["leaves"]
            )
            end = SkipRule.from_json(data["end"])
            # rules of older versions have one end rule, which ran forward
            close = SkipRule.from_json(data["close"]) if "close" in data else end
            rule = cls(
                SkipRule.from_json(data["start"]), end if end.from_end else NOTHING, close, leaves,
                target=str(data["target"]), text=str(data["text"]), repeats=bool(data["repeats"]),
                open_tags=tuple(
                    OpenTag(str(each["tag"]), frozenset(each["common"]), frozenset(each["kept"]))
                    for each in data.get("open_tags", ())
                ),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"A link rule is damaged ({error}). Learn the relationship again.") from None
        if rule.target not in PATTERNS:
            raise ModelError(f"A link rule needs the text pattern {rule.target!r}, which is not known here.")
        return rule


def _terms_to_json(terms: Landmark) -> list[Any]:
    sequences: list[list[Any]] = SkipRule(((terms,),)).to_json()["skip_to"]
    return list(sequences[0][0])


def _terms_from_json(terms: list[Any]) -> Landmark:
    return SkipRule.from_json({"skip_to": [[terms]], "from_end": False}).alternatives[0][0]


@dataclass(frozen=True, slots=True)
class Region:
    """The content of a list node: the tokens from `start` up to `end`."""

    start: int
    end: int


class PageRules:
    """The rules of one step of a chain, compiled: a disjunction of anchor element paths, chosen on each page.

    Every path that a page matches contributes its links; a page that none matches is not covered.
    """

    def __init__(self, paths: Sequence[PathRule]) -> None:
        self.paths = tuple(paths)
        self._alphabet = Alphabet([END_OF_LINK, LINK, *(term for path in paths for term in path.terms)])
        self._codes = {path.open_tags: _PieceCodes(self._alphabet, path.open_tags) for path in paths}
        self._compiled = [_CompiledPath(path, self._alphabet) for path in paths]

    def take(self, page: TokenPage) -> list[Anchor]:
        """Return the links that the rules take from a page, in document order, each target once (Algorithm 1)."""
        anchors: dict[str, Anchor] = {}
        for anchor in self.take_all(page):
            if anchor.target:
                anchors.setdefault(anchor.target, anchor)
        return list(anchors.values())

    def take_all(self, page: TokenPage) -> list[Anchor]:
        """Return every link element that the rules take, in document order."""
        members = self._members(page)
        anchors = [page.anchor(token) for token in sorted(set().union(*members))]
        return [
            anchor
            for anchor in anchors
            if any(anchor.token in of_path and path.rule.accepts(anchor)
                   for of_path, path in zip(members, self._compiled, strict=True))
        ]  # fmt: skip

    def tokens(self, page: TokenPage) -> list[int]:
        """Return the opening tags of the links that the landmarks take, before patterns of their text are applied."""
        if any(path.rule.text for path in self._compiled):
            return [anchor.token for anchor in self.take_all(page)]
        return sorted(set().union(*self._members(page)))

    def regions(self, page: TokenPage) -> list[Region | None]:
        """Return the content that each path finds for its list node; None where its rules do not match."""
        texts = self._encode(page)
        return [path.region(texts[path.rule.open_tags]) for path in self._compiled]

    def covers(self, page: TokenPage) -> bool:
        """Return True if any path takes a link from the page."""
        return bool(self.take_all(page))

    def _members(self, page: TokenPage) -> list[set[int]]:
        texts = self._encode(page)
        return [path.members(texts[path.rule.open_tags]) for path in self._compiled]

    def _encode(self, page: TokenPage) -> dict[tuple[OpenTag, ...], str]:
        return {tags: page.encode(codes) for tags, codes in self._codes.items()}


class _PieceCodes(dict[str, str]):
    """Pieces of pages in the characters of an alphabet."""

    def __init__(self, alphabet: Alphabet, open_tags: tuple[OpenTag, ...]) -> None:
        super().__init__()
        self._alphabet = alphabet
        self._cutter = TagCutter(open_tags)

    def __missing__(self, piece: str) -> str:
        tokens: Iterable[str] = tokens_of(piece)
        if self._cutter.tags:
            tokens = map(self._cutter.__getitem__, tokens)
        code = self._alphabet.encode(tokens)
        remember(self, piece, code)
        return code


class _CompiledPath:
    def __init__(self, rule: PathRule, alphabet: Alphabet) -> None:
        self.rule = rule
        self._start = CompiledRule(rule.start, alphabet)
        self._ends = [CompiledRule(end, alphabet) for end in (rule.end, rule.close) if end.alternatives]
        self._leaves = [_leaf_pattern(leaf, alphabet) for leaf in rule.leaves]

    def region(self, text: str) -> Region | None:
        """Skip what comes before and after the list; a list whose end is not found goes on to the end of the page.

        The last list of a page often lacks what ends the others, such as the next heading.
        """
        start = self._start.stop(text, 0, len(text))
        if start is None:
            return None
        stops = (end.stop(text, start, len(text)) for end in self._ends)
        return Region(start, min((stop for stop in stops if stop is not None), default=len(text)))

    def members(self, text: str) -> set[int]:
        """Return the opening tags of the links between start and end, before the target rule."""
        region = self.region(text)
        if region is None:
            return set()
        found = (match.start() for leaf in self._leaves for match in leaf.finditer(text, region.start))
        return {token for token in found if token < region.end}


def _leaf_pattern(leaf: LeafRule, alphabet: Alphabet) -> re.Pattern[str]:
    """Match a link's opening tag between its two landmarks, of which neither is consumed: members may share them."""
    *before, own = leaf.before
    closing = alphabet.term_pattern(END_OF_LINK)
    behind = f"(?<={alphabet.landmark_pattern(before)})" if before else ""
    ahead = f"(?=[^{closing}]*{closing}{alphabet.landmark_pattern(leaf.after)})" if leaf.after else ""
    return re.compile(f"{behind}{alphabet.term_pattern(own)}{ahead}", re.DOTALL)


def taken_by(paths: Iterable[PathRule], page: TokenPage) -> list[Anchor]:
    """Return every link element that some rules take from a page."""
    return PageRules(tuple(paths)).take_all(page)


# Target rules: patterns that the text of a link may follow (Definition 8)

_PARTICLES = frozenset(
    """al ben bin d da das de del della den der di dos du e el ibn la le los of san st ten ter und van vel von y
    zu""".split()
)
_NOT_IN_NAMES = re.compile(r"[\d@/:;!?#%=<>|]")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|(?:[^\W\d_]{3,9}\.? )?\d{1,2}(?:st|nd|rd|th|\.)?,? (?:[^\W\d_]{3,10}\.?,? )?\d{4}"
)
_NUMBER = re.compile(r"[-+]?\d[\d.,  ]*%?")
_URL = re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)+/\S*", re.IGNORECASE)
_YEAR = re.compile(r"\(?(?:1[5-9]|20|21)\d\d\)?")


def _is_person(text: str) -> bool:
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= 6 or _NOT_IN_NAMES.search(text):
        return False
    # names have particles, initials, nicknames in quotes and odd letters: most parts must be capitalised, not all
    named = [
        word for part in parts if part.lower() not in _PARTICLES and (word := part.strip("()[]\"'“”‘’.-"))
    ]
    return bool(named) and 2 * sum(map(_is_capital, named)) >= len(named)


def _is_capital(word: str) -> bool:
    # letters without case, as in Chinese or Arabic names, count as capitals
    return word[:1].isupper() or not (word[:1].islower() or word[:1].isdigit())


def _is_title_case(text: str) -> bool:
    words = [word for word in re.findall(r"[^\W_]+", text) if len(word) > 3]
    return bool(words) and all(_is_capital(word) or word[0].isdigit() for word in words)


PATTERNS: dict[str, Callable[[str], bool]] = {
    "year": lambda text: bool(_YEAR.fullmatch(text)),
    "number": lambda text: bool(_NUMBER.fullmatch(text)),
    "date": lambda text: bool(_DATE.fullmatch(text)),
    "url": lambda text: bool(_URL.fullmatch(text)),
    "person name": _is_person,
    "title case": _is_title_case,
    "any": lambda _text: True,
}
"""The patterns by name, the most specific first. Add to it to make another one known."""


def has_anchor_text_pattern(name: str, text: str) -> bool:
    """Return True if a link's text follows a pattern (the predicate HasAnchorTextPattern)."""
    return PATTERNS[name](text.strip())


def choose_pattern(texts: Sequence[str]) -> str:
    """Return the most specific pattern that all texts follow (Algorithm 4); `any` if no other matches all.

    Algorithm 4 takes the pattern with the highest match count. `any` always has the highest, so a tie goes to the
    more specific pattern, and a pattern that misses a text is behind `any`. Single capitalised words are names only
    among names of several words.
    """
    counts = {name: sum(has_anchor_text_pattern(name, text) for text in texts) for name in PATTERNS}
    if 2 * sum(" " in text for text in texts) < len(texts):
        counts["person name"] = 0
    most = max(counts.values(), default=0)
    return next(name for name, count in counts.items() if count == most)
