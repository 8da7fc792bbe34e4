"""The names of pages, compared with those of taught goals by the runs of characters that they share.

The lexicon knows that "Kontakt" and "Contatti" are one concept, but only of goals that it names. Words of the same
origin also look alike: after `/contact-us` was shown, "Kontakt" and "Contacto" share most of their runs of two to four
letters with it, whatever the goal is. How far names tell goals at all is seen in the lesson: each taught site is
compared with the others (`learn_names`). Names of persons tell nothing, and then they count for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from wayhound.page import Link
from wayhound.paths.concepts import strip_accents
from wayhound.paths.features import link_words
from wayhound.paths.traits import MENU_WORDS, ReachedPage, name_parts, url_end_words
from wayhound.text.words import words

_RUNS = (2, 3, 4)  # lengths of the runs of characters that are compared
_MIN_SITES = 3  # with goals, for names to count
_MIN_TRUST = 0.3  # below, names of goals are as good as any: titles of papers, names of persons
_BEST_SITES = 3  # so many taught sites are enough to know a name: others may have another language
_MAX_CACHED_NAMES = 1 << 12
_ALIKE = str.maketrans("kqzyj", "ccsii")  # letters that languages choose differently in words of one origin


def page_names(reached: ReachedPage, *, use_urls: bool = True) -> tuple[str, ...]:
    """Return the short names of a page: the link to it, the end of its address, parts of its title, its heading.

    A longer text is a sentence, which says what is on the page and not what the page is.
    """
    page = reached.page
    texts: list[Sequence[str]] = [words(part) for part in name_parts(page.title)]
    texts += [words(heading) for heading in page.headings[:1]]
    if reached.link is not None:
        texts.append(link_words(reached.link.text))
    if use_urls:
        texts.append(url_end_words(page.url))
    return _short_names(texts)


def link_names(link: Link, *, use_urls: bool = True) -> tuple[str, ...]:
    """Return the short names of a page that is not fetched yet: the text of a link to it and the end of its address."""
    texts = [link_words(link.text)]
    return _short_names([*texts, url_end_words(link.url)] if use_urls else texts)


def _short_names(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            _fold(text)
            for text in texts
            if len(text) <= MENU_WORDS and not all(map(str.isdigit, text))  # a number is no name
        )
    )


def _fold(text: Iterable[str]) -> str:
    return " ".join(strip_accents(word).replace("ph", "f").translate(_ALIKE) for word in text)


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _runs(name: str) -> frozenset[str]:
    """Return the runs of characters in the words of a folded name; the edges of a word are characters too."""
    edged = [f"^{word}$" for word in name.split()]
    return frozenset(
        word[at : at + size] for word in edged for size in _RUNS for at in range(len(word) - size + 1)
    )


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The likeness of a page's names to those of taught goals, and to those of other taught pages, in [0, 1]."""

    goals: float = 0.0
    others: float = 0.0

    @property
    def contrast(self) -> float:
        """By how much they are more like those of goals, in [-1, 1]."""
        return self.goals - self.others


NO_MATCH = NameMatch()


@dataclass
class TaughtNames:
    """The names of taught goals and of other taught pages, both by the number of the site.

    A name is compared with all of them at once, by an index of their runs of characters.
    """

    goals: Sequence[Sequence[str]] = field(default_factory=list)
    others: Sequence[Sequence[str]] = field(default_factory=list)
    _index: dict[str, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _sizes: list[int] = field(default_factory=list, init=False, repr=False, compare=False)
    _owners: list[tuple[bool, int]] = field(default_factory=list, init=False, repr=False, compare=False)
    _known: dict[str, dict[tuple[bool, int], float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for is_goal, sites in ((True, self.goals), (False, self.others)):
            for site, names in enumerate(sites):
                for name in names:
                    self._add(name, (is_goal, site))

    def _add(self, name: str, owner: tuple[bool, int]) -> None:
        number = len(self._sizes)
        runs = _runs(name)
        self._sizes.append(len(runs))
        self._owners.append(owner)
        for run in runs:
            self._index.setdefault(run, []).append(number)

    def match(self, names: Iterable[str], *, without: int | None = None) -> NameMatch:
        """Compare the names of a page with those of the taught sites; `without` is a site to leave out.

        Goals of one site may be named in another language, so the best few sites count.
        """
        best: dict[tuple[bool, int], float] = {}
        for name in names:
            for owner, value in self._alike(name).items():
                if value > best.get(owner, 0.0) and owner[1] != without:
                    best[owner] = value
        taught = sum(bool(own) for site, own in enumerate(self.goals) if site != without)
        goals = sorted((value for (is_goal, _), value in best.items() if is_goal), reverse=True)
        others = max((value for (is_goal, _), value in best.items() if not is_goal), default=0.0)
        return NameMatch(sum(goals[:_BEST_SITES]) / max(min(taught, _BEST_SITES), 1), others)

    def _alike(self, name: str) -> Mapping[tuple[bool, int], float]:
        """Return the largest Dice coefficient of a name with any name of each owner."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _MAX_CACHED_NAMES:
                self._known.clear()
            known = self._known[name] = {}
            runs = _runs(name)
            shared: Counter[int] = Counter()
            for run in runs:
                shared.update(self._index.get(run, ()))
            for number, count in shared.items():
                owner, value = self._owners[number], 2 * count / (len(runs) + self._sizes[number])
                if value > known.get(owner, 0.0):
                    known[owner] = value
        return known


TaughtPage = tuple[str, bool, tuple[str, ...]]
"""A page of a lesson: its site, whether it is a goal, and its names."""


def learn_names(pages: Sequence[TaughtPage]) -> tuple[TaughtNames, float]:
    """Return the names in a lesson, and how far they tell goals of sites that were not taught, in [0, 1].

    Each taught site is compared with the others, as a new site will be: 1 if its goals are always more like their
    goals than its other pages are (2 · area under the curve − 1). Where that is low, as for titles of papers and names
    of persons, no names are kept. Neither are those of one or two sites: that they agree may be chance. After one,
    departments were recognised worse with them, after two, contact pages in other languages.
    """
    numbers = {site: number for number, site in enumerate(dict.fromkeys(site for site, _, _ in pages))}
    listed: dict[bool, list[dict[str, None]]] = {kind: [{} for _ in numbers] for kind in (True, False)}
    for site, is_goal, names in pages:
        listed[is_goal][numbers[site]].update(dict.fromkeys(names))
    if sum(map(bool, listed[True])) < _MIN_SITES:
        return TaughtNames(), 0.0
    taught = TaughtNames(*([list(names) for names in listed[kind]] for kind in (True, False)))
    contrasts: dict[bool, list[float]] = {True: [], False: []}
    for site, is_goal, names in pages:
        contrasts[is_goal].append(taught.match(names, without=numbers[site]).contrast)
    above = [(goal > other) - (goal < other) for goal in contrasts[True] for other in contrasts[False]]
    trust = sum(above) / len(above) if above else 0.0
    return (taught, trust) if trust >= _MIN_TRUST else (TaughtNames(), 0.0)
