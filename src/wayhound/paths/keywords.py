"""Keywords that a user gives: found inside words and URLs, and by their synonyms in many languages.

People give navigation words ("people", "contact"), which are on every page of a site. So a match counts in full,
however frequent the word is, and inside longer words: "faculty" in `/facultylist.html`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wayhound.page import Link, Page
from wayhound.paths.concepts import strip_accents, web_concepts
from wayhound.paths.traits import url_end_words
from wayhound.text.words import words
from wayhound.url import url_tokens

SYNONYM = 0.8  # of a match by another word, or a word of another language
ON_MATCHING_PAGE = 0.3  # of a link that does not match itself, on a page that does: an entry of its list
MENU_WORDS = 4  # a longer link text is a sentence, in which a match says less about the target
_MIN_INSIDE = 3  # shorter keywords match whole words only: "pi" is inside "shopping"


@dataclass(frozen=True)
class Keywords:
    """Folded keywords, and the concepts that they name. Without `use_urls`, URLs are not looked at."""

    terms: tuple[str, ...]
    concepts: frozenset[str]
    use_urls: bool = True
    _links: dict[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_words(cls, keywords: Sequence[str], *, use_urls: bool = True) -> Keywords:
        """Read keywords as a user types them; a keyword may be several words."""
        split = [words(keyword) for keyword in keywords]
        terms = dict.fromkeys(" ".join(map(strip_accents, own)) for own in split if own)
        concepts = [web_concepts().named_by(own) for own in split]
        return cls(tuple(terms), frozenset().union(*concepts), use_urls)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def in_name(self, page: Page) -> float:
        """Return how well the title and the first headings of a page match, in [0, 1]."""
        return self._match([word for text in (page.title, *page.headings[:2]) for word in words(text)])

    def in_link(self, link: Link, page: float = 0.0) -> float:
        """Return how well a link matches, in [0, 1], on a page whose name matches as given by `in_name`."""
        key = link.text, link.url
        match = self._links.get(key)
        if match is None:  # navigation occurs again on every page
            match = self._links[key] = self._link_match(link)
        return max(match, ON_MATCHING_PAGE * page)

    def _link_match(self, link: Link) -> float:
        by_text = self._match(words(link.text)) * min(1.0, MENU_WORDS / max(len(link.text.split()), 1))
        if not self.use_urls:
            return by_text
        if self._has_term(url_tokens(link.url)):
            return 1.0
        return max(by_text, self._match(url_end_words(link.url)))

    def _match(self, text: Sequence[str]) -> float:
        if self._has_term(text):
            return 1.0
        return SYNONYM if self.concepts & web_concepts().named_by(text) else 0.0

    def _has_term(self, text: Sequence[str]) -> bool:
        folded = " ".join(map(strip_accents, text))
        return any(
            term in folded if len(term) >= _MIN_INSIDE else f" {term} " in f" {folded} "
            for term in self.terms
        )
