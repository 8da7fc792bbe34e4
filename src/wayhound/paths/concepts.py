"""Web concepts in many languages: which of them the words of a page, link or URL name.

The words are in `data/concepts.toml`, those that only the text of a page is searched for in `data/contents.toml`. A
concept is a feature beside tokens: "Kontakt" and "Contact us" name the same one, so a model taught on English sites
can recognise pages of German or Japanese ones.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from wayhound.text.words import without_accents, words

_MAX_CACHED_WORDS = 1 << 16
_TRANSLITERATED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"})
_PREFIX_MARK = "*"

_TermWord = tuple[str, bool]
"""A folded word of a term, and whether it is a prefix, which matches any ending."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The words of a term after its first one, and the concept that the term names."""

    rest: tuple[_TermWord, ...]
    concept: str

    def matches(self, folded: Sequence[str], start: int) -> bool:
        """Return True if the words from `start` on are the rest of this term."""
        if start + len(self.rest) > len(folded):
            return False
        for at, (expected, is_prefix) in enumerate(self.rest, start):
            word = folded[at]
            if not (word.startswith(expected) if is_prefix else word == expected):
                return False
        return True


_Entry = tuple[frozenset[str], tuple[_Phrase, ...]]
_EMPTY: _Entry = (frozenset(), ())


@dataclass
class ConceptLexicon:
    """Terms by their first word; terms whose first word is a prefix (`kontakt*`) by that prefix."""

    exact: dict[str, list[_Phrase]]
    prefixes: dict[str, list[_Phrase]]
    concepts: tuple[str, ...]
    _prefix_lengths: tuple[int, ...] = field(init=False)
    _entries: dict[str, _Entry] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._prefix_lengths = tuple(sorted({len(prefix) for prefix in self.prefixes}))

    @classmethod
    def from_terms(cls, terms: Mapping[str, Mapping[str, str]]) -> ConceptLexicon:
        """Build a lexicon from concept → language → comma-separated terms."""
        exact: dict[str, list[_Phrase]] = {}
        prefixes: dict[str, list[_Phrase]] = {}
        for concept, languages in terms.items():
            spellings = (
                spelling
                for listed in languages.values()
                for term in listed.split(",")
                for spelling in _spellings(term)
            )
            for (first, is_prefix), *rest in dict.fromkeys(spellings):
                phrases = (prefixes if is_prefix else exact).setdefault(first, [])
                phrases.append(_Phrase(tuple(rest), concept))
        return cls(exact, prefixes, tuple(terms))

    def named_by(self, text: Sequence[str]) -> frozenset[str]:
        """Return the concepts that these words (`wayhound.text.words.words`) name."""
        concepts: set[str] = set()
        folded: list[str] | None = None
        for at, word in enumerate(text):
            alone, phrases = self._entry(word)
            concepts |= alone
            if phrases:
                folded = folded or [strip_accents(other) for other in text]
                concepts.update(phrase.concept for phrase in phrases if phrase.matches(folded, at + 1))
        return frozenset(concepts)

    def _entry(self, word: str) -> _Entry:
        """Return the concepts that a word names by itself, and the phrases that it may begin."""
        entry = self._entries.get(word)
        if entry is None:
            if len(self._entries) >= _MAX_CACHED_WORDS:
                self._entries.clear()
            entry = self._entries[word] = self._look_up(strip_accents(word))
        return entry

    def _look_up(self, folded: str) -> _Entry:
        phrases = list(self.exact.get(folded, ()))
        for length in self._prefix_lengths:
            if length > len(folded):
                break
            phrases += self.prefixes.get(folded[:length], ())
        if not phrases:
            return _EMPTY
        alone = frozenset(phrase.concept for phrase in phrases if not phrase.rest)
        return alone, tuple(phrase for phrase in phrases if phrase.rest)


@lru_cache(maxsize=1 << 15)
def strip_accents(word: str) -> str:
    """Return a word in lower case without accents, as URLs spell it."""
    if word.isascii():
        return word.lower()
    # composed again, because decomposition takes Hangul syllables apart
    return unicodedata.normalize("NFC", without_accents(word.lower()))


def _spellings(term: str) -> list[tuple[_TermWord, ...]]:
    """Return the spellings of a term, with and without umlauts written out; none for an empty term."""
    spellings = (_term_words(spelling) for spelling in dict.fromkeys([term, term.translate(_TRANSLITERATED)]))
    return [spelling for spelling in spellings if spelling]


def _term_words(term: str) -> tuple[_TermWord, ...]:
    parts: list[_TermWord] = []
    for piece in term.split():
        folded = [strip_accents(word) for word in words(piece)]
        parts += [(word, False) for word in folded[:-1]]
        if folded:
            parts.append((folded[-1], piece.endswith(_PREFIX_MARK)))
    return tuple(parts)


@lru_cache(maxsize=1)
def web_concepts() -> ConceptLexicon:
    """Return the lexicon that the package ships, read once."""
    return _shipped_lexicon("concepts.toml")


@lru_cache(maxsize=1 << 10)
def named_concepts(text: tuple[str, ...]) -> frozenset[str]:
    """Return the web concepts that the words of a link name. Prior and keywords ask for the same ones in turn."""
    return web_concepts().named_by(text)


@lru_cache(maxsize=1)
def page_contents() -> ConceptLexicon:
    """Return the lexicon of what the text of a page is made of, such as addresses and dates, read once."""
    return _shipped_lexicon("contents.toml")


def _shipped_lexicon(name: str) -> ConceptLexicon:
    text = files("wayhound.paths").joinpath("data", name).read_text(encoding="utf-8")
    return ConceptLexicon.from_terms(tomllib.loads(text))
