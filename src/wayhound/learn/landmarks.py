"""Landmark rules over token sequences, learned by sequential covering (STALKER; Muslea, Minton and Knoblock 2001).

A rule is a disjunction of sequences of `SkipTo(landmark)`; a landmark is a run of tokens and token classes. Sequences
are matched as regular expressions over strings in which one character stands for one token, so that a search over a
page of 20,000 tokens is one call into C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any


class TokenClass(Enum):
    """The seven token classes of the paper; a class in a landmark matches any token of it."""

    HTML_TAG = "HTMLTag"
    PUNCTUATION = "Punctuation"
    ALPHABETIC = "Alphabetic"
    ALPHANUMERIC = "Alphanumeric"
    NUMERIC = "Numeric"
    ALL_CAPS = "AllCaps"
    SYMBOL = "Symbol"


Term = str | TokenClass
"""A token, literally, or a class. A tag without attributes, such as `<td>`, matches the tag with any attributes."""

Landmark = tuple[Term, ...]

_WIDER: dict[TokenClass, tuple[TokenClass, ...]] = {
    TokenClass.ALL_CAPS: (TokenClass.ALL_CAPS, TokenClass.ALPHABETIC, TokenClass.ALPHANUMERIC),
    TokenClass.ALPHABETIC: (TokenClass.ALPHABETIC, TokenClass.ALPHANUMERIC),
    TokenClass.NUMERIC: (TokenClass.NUMERIC, TokenClass.ALPHANUMERIC),
}
_PUNCTUATION = frozenset(".,;:!?'\"()[]{}-–—…¿¡«»“”‘’、。，：；！？「」（）/|·•&")


@lru_cache(maxsize=65_536)
def class_of(token: str) -> TokenClass:
    """Return the narrowest class of a token."""
    if token[:1] == "<" and len(token) > 1:
        return TokenClass.HTML_TAG
    if token.isalpha():
        return TokenClass.ALL_CAPS if token.isupper() else TokenClass.ALPHABETIC
    if token.isnumeric():
        return TokenClass.NUMERIC
    if token.isalnum():
        return TokenClass.ALPHANUMERIC
    return TokenClass.PUNCTUATION if token in _PUNCTUATION else TokenClass.SYMBOL


def classes_of(token: str) -> tuple[TokenClass, ...]:
    """Return all classes of a token, narrowest first."""
    narrowest = class_of(token)
    return _WIDER.get(narrowest, (narrowest,))


@lru_cache(maxsize=65_536)
def bare(tag: str) -> str:
    """Return a tag without its attributes; any other token as it is."""
    return tag.partition(" ")[0] + ">" if tag[:1] == "<" and " " in tag else tag


def generalise(first: Term, second: Term) -> Term | None:
    """Return the narrowest term that matches whatever either term matches; None if there is none."""
    if first == second:
        return first
    if (
        isinstance(first, str)
        and isinstance(second, str)
        and first[:1] == "<"
        and bare(first) == bare(second)
    ):
        return bare(first)
    widths = [_classes(term) for term in (first, second)]
    return next((wider for wider in widths[0] if wider in widths[1]), None)


def _classes(term: Term) -> tuple[TokenClass, ...]:
    return classes_of(term) if isinstance(term, str) else _WIDER.get(term, (term,))


class Alphabet(dict[str, str]):
    """Maps each token to the character that stands for it, given the literal terms that rules use.

    Tokens that no rule names share a character: one for each tag that is named without attributes, else one for each
    class. Rules are compiled against the alphabet that was made from their own terms.
    """

    _FIRST = 0xE000  # the private use area; what lies above it is used when there are more terms
    _MAX_CACHED = 400_000

    def __init__(self, terms: Iterable[Term]) -> None:
        super().__init__()
        self._chars: dict[Term, str] = {}
        self._patterns: dict[Term, str] = {}
        self._compiled: dict[Landmark, re.Pattern[str]] = {}
        for term in (*TokenClass, *sorted({term for term in terms if isinstance(term, str)})):
            self._chars[term] = chr(self._FIRST + len(self._chars))

    def __missing__(self, token: str) -> str:
        char = self._chars.get(token) or self._chars.get(bare(token)) or self._chars[class_of(token)]
        if len(self) > self._MAX_CACHED:  # a crawl of years must not fill the memory
            self.clear()
        self[token] = char
        return char

    def encode(self, tokens: Iterable[str]) -> str:
        return "".join(map(self.__getitem__, tokens))

    def term_pattern(self, term: Term) -> str:
        if term not in self._patterns:
            chars = "".join(char for other, char in self._chars.items() if _covers(term, other))
            self._patterns[term] = chars if len(chars) == 1 else f"[{chars}]" if chars else "(?!)"
        return self._patterns[term]

    def landmark_pattern(self, landmark: Sequence[Term]) -> str:
        return "".join(map(self.term_pattern, landmark))

    def compiled(self, landmark: Landmark) -> re.Pattern[str]:
        """Return a landmark as a regular expression; each is made once."""
        if landmark not in self._compiled:
            self._compiled[landmark] = re.compile(self.landmark_pattern(landmark))
        return self._compiled[landmark]


def _covers(term: Term, other: Term) -> bool:
    if term == other:
        return True
    if isinstance(term, TokenClass):
        return term in _classes(other)
    return isinstance(other, str) and other[:1] == "<" and bare(other) == term


@dataclass(frozen=True, slots=True)
class SkipRule:
    """A disjunction of sequences of SkipTo. The first alternative that matches decides; none at all skips nothing.

    Read forward, a sequence consumes everything up to and including its last landmark. Read backward (`from_end`),
    it starts at the end of the content: its first landmark is the last occurrence on the page.
    """

    alternatives: tuple[tuple[Landmark, ...], ...] = ()
    from_end: bool = False

    @property
    def terms(self) -> list[Term]:
        return [term for sequence in self.alternatives for landmark in sequence for term in landmark]

    def to_json(self) -> dict[str, Any]:
        def term(item: Term) -> Any:
            return item if isinstance(item, str) else {"class": item.value}

        sequences = [[[term(item) for item in mark] for mark in sequence] for sequence in self.alternatives]
        return {"skip_to": sequences, "from_end": self.from_end}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SkipRule:
        def term(item: Any) -> Term:
            return TokenClass(item["class"]) if isinstance(item, dict) else str(item)

        sequences = (
            tuple(tuple(term(item) for item in mark) for mark in sequence) for sequence in data["skip_to"]
        )
        return cls(tuple(sequences), bool(data["from_end"]))


class CompiledRule:
    """A rule ready to run over strings of an alphabet that holds its terms."""

    def __init__(self, rule: SkipRule, alphabet: Alphabet) -> None:
        self._from_end = rule.from_end
        marks = [[mark[::-1] for mark in each] if rule.from_end else each for each in rule.alternatives]
        self._sequences = [tuple(map(alphabet.compiled, sequence)) for sequence in marks]

    def stop(self, text: str, start: int, end: int) -> int | None:
        """Return where the rule stops in `text[start:end]`, or None if no alternative matches.

        Forward, that is the position after the last landmark; backward, the position before it.
        """
        if not self._sequences:
            return end if self._from_end else start
        content = text[start:end][::-1] if self._from_end else text
        for sequence in self._sequences:
            if self._from_end:
                if (stop := skip(sequence, content, 0, end - start)) is not None:
                    return end - stop
            elif (stop := skip(sequence, content, start, end)) is not None:
                return stop
        return None


def skip(sequence: Sequence[re.Pattern[str]], text: str, start: int, end: int) -> int | None:
    """Return the position after the last of some landmarks, each looked for behind the one before.

    The first occurrence of each is enough: a later one leaves less to search for the rest. One regular expression for
    all of them would try every later one as well before it fails, in time cubic in the length of the page.
    """
    place = start
    for landmark in sequence:
        match = landmark.search(text, place, end)
        if match is None:
            return None
        place = match.end()
    return place


@dataclass(frozen=True, slots=True)
class SkipExample:
    """A content, and the positions at which a rule may stop in it: from `earliest` to `latest`.

    Every position between two members of the page that must be told apart is as good as another. If there is no
    such position (`latest` < 0), the example is negative: the rule must not match at all.
    """

    tokens: tuple[str, ...]
    earliest: int = 0
    latest: int = -1

    @property
    def is_positive(self) -> bool:
        return self.latest >= 0


class LandmarkLearner:
    """Learns a start rule from examples: Algorithms 2 and 3 of the paper, with STALKER's refinements.

    `is_stable(token)` tells whether a word belongs to the template, and not to the content of one page; words that
    do not are never used literally. Of landmarks that are as good on the examples, those are chosen whose tokens
    `is_common` tells to be on most pages, then the first to stop, or the last if `late`. `window` limits how far
    before the stop landmarks are looked for, in tokens. An end rule is learned from reversed contents.
    """

    def __init__(
        self,
        is_stable: Callable[[str], bool] = lambda _token: True,
        is_common: Callable[[str], bool] = lambda _token: True,
        *,
        late: bool = False,
        window: int = 40,
        max_rounds: int = 12,
    ) -> None:
        self.is_stable = is_stable
        self.is_common = is_common
        self.late = late
        self.window = window
        self.max_rounds = max_rounds

    def fit(self, examples: Sequence[SkipExample]) -> LandmarkLearner:
        """Learn `alternatives_`, the sequences of the rule, and `uncovered_`, the examples that none explains."""
        waiting = [example for example in examples if example.is_positive]
        negatives = [example for example in examples if not example.is_positive]
        self._alphabet = Alphabet(self._usable_terms(waiting))
        self._found: dict[tuple[int, int, Landmark], int | None] = {}
        self._texts = {id(example): self._alphabet.encode(example.tokens) for example in examples}
        alternatives: list[tuple[Landmark, ...]] = []
        self.uncovered_: list[SkipExample] = []
        while waiting:
            rule = self._learn_rule(waiting, negatives)
            covered = [example for example in waiting if rule and self._is_right(rule, example)]
            if rule is None or not covered:
                self.uncovered_ = waiting
                break
            alternatives.append(rule)
            waiting = [example for example in waiting if example not in covered]
        self.alternatives_ = tuple(alternatives)
        return self

    def _usable_terms(self, examples: Sequence[SkipExample]) -> set[str]:
        tokens = {token for example in examples for token in self._near(example)}
        usable = {token for token in tokens if token[:1] == "<" or self.is_stable(token)}
        return usable | {bare(token) for token in usable}

    def _near(self, example: SkipExample) -> tuple[str, ...]:
        return example.tokens[max(example.latest - 3 * self.window, 0) : example.latest]

    def _learn_rule(
        self, positives: Sequence[SkipExample], negatives: Sequence[SkipExample]
    ) -> tuple[Landmark, ...] | None:
        """Refine the best candidate until it is perfect or cannot be refined (Algorithm 3)."""
        seed = min(positives, key=lambda example: len(example.tokens))
        candidates = self._initial_candidates(seed)
        best: tuple[Landmark, ...] | None = None
        best_key: tuple[float, ...] | None = None
        tried: set[tuple[Landmark, ...]] = set()
        for _ in range(self.max_rounds):
            scored = [
                (self._score(rule, positives, negatives), rule) for rule in candidates if rule not in tried
            ]
            tried.update(candidates)
            if not scored:
                break
            key, rule = max(scored, key=lambda pair: pair[0])
            if best_key is None or key > best_key:
                best_key, best = key, rule
            if best_key[0] and best_key[1] == len(positives):
                break
            # The best refiner may differ from the best solution: it is the rule that still matches in most examples.
            refiner = max(scored, key=lambda pair: self._promise(pair[1], positives, pair[0]))[1]
            candidates = self._refine(refiner, seed)
        return best if best_key and best_key[0] and best_key[1] else None

    def _initial_candidates(self, seed: SkipExample) -> list[tuple[Landmark, ...]]:
        """Return the single-token rules that can stop within the example's gap."""
        first = max(seed.earliest, seed.latest - self.window, 1)
        terms = [
            term for stop in range(first, seed.latest + 1) for term in self._terms(seed.tokens[stop - 1])
        ]
        return [((term,),) for term in dict.fromkeys(terms)]

    def _terms(self, token: str) -> list[Term]:
        if token[:1] == "<":
            return list(dict.fromkeys((token, bare(token))))
        literal: list[Term] = [token] if self.is_stable(token) else []
        return [*literal, *classes_of(token)]

    def _refine(self, rule: tuple[Landmark, ...], seed: SkipExample) -> list[tuple[Landmark, ...]]:
        """Return the landmark refinements (a longer landmark) and topology refinements (one more SkipTo)."""
        stops = self._all_stops(rule[-1], seed)
        refined: list[tuple[Landmark, ...]] = []
        for stop in stops:
            begin = stop - len(rule[-1])
            if begin > 0:
                refined += [(*rule[:-1], (term, *rule[-1])) for term in self._terms(seed.tokens[begin - 1])]
            if stop < seed.latest:
                refined += [(*rule[:-1], (*rule[-1], term)) for term in self._terms(seed.tokens[stop])]
            near = seed.tokens[max(begin - self.window, 0) : begin]
            refined += [
                (*rule[:-1], (term,), rule[-1]) for token in reversed(near) for term in self._terms(token)[:1]
            ]
        return [
            rule for rule in dict.fromkeys(refined) if len(rule) <= 3 and all(len(mark) <= 8 for mark in rule)
        ]

    def _all_stops(self, landmark: Landmark, seed: SkipExample) -> list[int]:
        text, pattern = self._texts[id(seed)], self._alphabet.compiled(landmark)
        stops = (
            match.end() for match in pattern.finditer(text, max(seed.latest - self.window, 0), seed.latest)
        )
        return [stop for stop in stops if seed.earliest <= stop <= seed.latest][-3:]

    def _stop(self, rule: tuple[Landmark, ...], example: SkipExample) -> int | None:
        place: int | None = 0
        for landmark in rule:
            place = self._next(landmark, example, place or 0)
            if place is None:
                return None
        return place

    def _next(self, landmark: Landmark, example: SkipExample, start: int) -> int | None:
        """Return the end of the first occurrence of a landmark from a position on.

        Most candidates of a round share landmarks: what was searched once is remembered.
        """
        key = id(example), start, landmark
        if key not in self._found:
            match = self._alphabet.compiled(landmark).search(self._texts[id(example)], start)
            self._found[key] = match.end() if match else None
        return self._found[key]

    def _is_right(self, rule: tuple[Landmark, ...], example: SkipExample) -> bool:
        stop = self._stop(rule, example)
        return stop is not None and example.earliest <= stop <= example.latest

    def _score(
        self, rule: tuple[Landmark, ...], positives: Sequence[SkipExample], negatives: Sequence[SkipExample]
    ) -> tuple[float, ...]:
        """Rank solutions: no negative matched, more positives right, words before tags before classes.

        Then common tokens, tags with attributes, near ones, short ones.
        """
        right = sum(self._is_right(rule, example) for example in positives)
        wrong = sum(self._stop(rule, example) is not None for example in negatives)
        terms = [term for mark in rule for term in mark]
        classes = sum(isinstance(term, TokenClass) for term in terms)
        words = sum(isinstance(term, str) and term[0] != "<" and class_of(term) in _WORDS for term in terms)
        attributes = sum(isinstance(term, str) and " " in term for term in terms)
        rare = sum(isinstance(term, str) and not self.is_common(term) for term in terms)
        stops = (self._stop(rule, example) or 0 for example in positives)
        near = max(stops, default=0) if self.late else 0
        return (
            not wrong, right, -wrong, -classes, min(words, 3), -rare, attributes, -len(rule), -len(terms), near
        )  # fmt: skip

    def _promise(
        self, rule: tuple[Landmark, ...], positives: Sequence[SkipExample], key: tuple[float, ...]
    ) -> tuple[float, ...]:
        """Rank refiners: rules that stop right or too early in most examples can still become right."""
        stops = [self._stop(rule, example) for example in positives]
        alive = sum(
            stop is not None and stop <= example.latest
            for stop, example in zip(stops, positives, strict=True)
        )
        return alive, *key


_WORDS = frozenset({TokenClass.ALPHABETIC, TokenClass.ALL_CAPS, TokenClass.ALPHANUMERIC})
