"""Names of people as papers print them, taken apart: lists of authors and editors become single people.

Written for `normalise_fields`: both orders (`I. H. Witten`, `Witten, I. H.`, `Witten IH`) and mixtures of
them, particles, suffixes, `et al.`, roles of editors, footnote marks, and the bare rows of names that
headers have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wayhound.papers.lexicon import Lexicon, core

_ET_AL = re.compile(r",?\s*(?:\bet\.?\s*al\b\.?|\band\s+others\b|\bu\.\s?a\.)", re.IGNORECASE)
_ROLE = re.compile(
    r"[(\[]?\b(?:eds?|editors?|hrsg)\b\.?[)\]]?|\bedited by\b|^\s*(?:in|by)\b:?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:;|&|\b(?:and|AND|und|UND)\b|\n)\s*")
_MARKS = re.compile(r"[*∗†‡§¶‖#⋆]+|\d+")
_LETTER_MARKS = re.compile(
    r"(?<=[^\W\d_])\s+[a-h](?:\s*,\s*(?:[a-h]|[*∗†‡§]|\d)(?![^\W\d_]))*(?=\s*(?:[,;&*∗†‡§]|\band\b|$))"
)  # of an address, behind a name: `Paul Berg a,b`
_BRACKETS = re.compile(r"[()\[\]{}\"“”]")
_RANK = re.compile(
    r"\b(?:(?:student|senior|life)\s+)?(?:member|fellow)\b|\b(?:IEEE|ACM|AAAI)\b", re.IGNORECASE
)
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|ph\.?d|esq)\.?$", re.IGNORECASE)
_PARTICLE = re.compile(
    r"(?:van(?:['’]?t)?|von|der?|den|di|da|dos|del|della|la|le|du|ter|ten|bin|el|al|st\.?|zu)$"
)
_WRITTEN_LARGE = re.compile(
    r"(?:van|von|der?|den|di|da|dos|del|della|la|le|du|ter|ten|bin|el|al|st)$", re.IGNORECASE
)  # before the name that they belong to: `Le Roux, N.`
_NO_LAST_NAME = re.compile(
    r"(?:van|von|de[lnr]?|della|dos|st)$", re.IGNORECASE
)  # nobody is called so, and all that follows is one name: `S. Della Pietra`
_TWO_CAPITALS = re.compile(r"[^\W\d_a-z]{2}$")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?-?){1,4}$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?$")
_TITLE = re.compile(r"(?:dr|prof|professor|mr|mrs|ms|sir)\.?$", re.IGNORECASE)
_MOST_PEOPLE = 200  # of one field: what is longer is no list of people


@dataclass(frozen=True, slots=True)
class Person:
    """A name in parts. `last` holds particles; what is not printed is ""."""

    last: str
    first: str = ""
    middle: str = ""
    suffix: str = ""

    @property
    def full(self) -> str:
        return " ".join(filter(None, (self.first, self.middle, self.last, self.suffix)))


@dataclass(frozen=True, slots=True)
class People:
    """The people of a field in order; `et_al` where the list says that there are more."""

    people: tuple[Person, ...] = ()
    et_al: bool = False


NOBODY = People()


def read_people(text: str, lexicon: Lexicon | None = None) -> People:
    """The people named in a field. A `lexicon` helps where names stand side by side without a comma."""
    marked = _LETTER_MARKS.sub(" , ", _ET_AL.sub(" , ", text))
    bare = _BRACKETS.sub(" ", _ROLE.sub(" ", _RANK.sub(" ", _MARKS.sub(" , ", marked))))
    people = [one for chunk in _BETWEEN.split(bare) for one in _chunk(chunk, lexicon)]
    named = [one for one in people if not _DOTTED.match(one.last)]  # of the others the name is lost
    return People(tuple((named or people)[:_MOST_PEOPLE]), _ET_AL.search(text) is not None)


def _chunk(chunk: str, lexicon: Lexicon | None) -> Iterator[Person]:
    """People that only commas part: a bare last name takes the given names, and any a suffix, behind the
    comma.
    """
    pieces = list(_with_commas([words for piece in chunk.split(",") if (words := _words(piece))]))
    bare_list = len(pieces) > 2 and all(len(words) == 1 and not _is_initials(words[0]) for words in pieces)
    at = 0
    while at < len(pieces):
        words, follows = pieces[at], pieces[at + 1] if at + 1 < len(pieces) else []
        takes = not bare_list and _goes_with(words, follows)
        suffix_at = at + 1 + takes
        suffix = pieces[suffix_at] if suffix_at < len(pieces) and _is_suffix(pieces[suffix_at]) else []
        if takes:
            yield _inverted(words, follows, " ".join(suffix))
        else:
            yield from _direct(words, " ".join(suffix), lexicon)
        at = suffix_at + bool(suffix)


def _with_commas(pieces: Sequence[list[str]]) -> Iterator[list[str]]:
    """A comma between two people that was forgotten: `Walker, T. N. Runner, J.` is three commas, not two."""
    for at, words in enumerate(pieces):
        given, last = words[:-1], words[-1]
        inverted = 0 < at < len(pieces) - 1 and _is_last_name(pieces[at - 1]) and _all_dotted(pieces[at + 1])
        if inverted and _all_dotted(given) and _is_last_name([last]):
            yield given
            yield [last]
        else:
            yield words


def _goes_with(words: Sequence[str], follows: Sequence[str]) -> bool:
    """Whether `follows` are the given names of the last name `words`.

    Initials by themselves belong to what stands before them, be it two words (`Garcia Molina, H.`) or two
    capitals (`GU, C.`).
    """
    if _is_last_name(words):
        return _is_given(follows)
    whole = not any(map(_is_initials, words)) or (len(words) == 1 and bool(_TWO_CAPITALS.match(words[0])))
    return whole and not _is_suffix(words) and _all_dotted(follows)


def _all_dotted(words: Sequence[str]) -> bool:
    return bool(words) and all(map(_DOTTED.match, words))


def _words(piece: str) -> list[str]:
    """The words of a piece; initials that stick to a last name (`M.Woszczyna`) are cut off."""
    parts = re.sub(r"((?:\b[^\W\d_a-z]\.)+)(?=[^\W\d_]{2})", r"\1 ", piece).split()
    words = [part.strip("-–:'`’.") if not _looks_short(part) else part.strip(":'`") for part in parts]
    return [word for word in words if re.search(r"[^\W\d_]", word) and not _TITLE.match(word)]


def _looks_short(word: str) -> bool:
    return bool(_DOTTED.match(word) or _SUFFIX.match(word))


def _is_initials(word: str) -> bool:
    return bool(_DOTTED.match(word)) or (len(word) <= 2 and _INITIALS.match(word) is not None)


def _is_suffix(words: Sequence[str]) -> bool:
    return len(words) == 1 and _SUFFIX.match(words[0]) is not None


def _is_last_name(words: Sequence[str]) -> bool:
    """One word without its particles, and no initial."""
    large = {word for word in words[:-1] if _WRITTEN_LARGE.match(word)}
    proper = [word for word in words if word not in large and not _PARTICLE.match(word)]
    return len(proper) == 1 and not _is_initials(proper[0]) and not _is_suffix(proper)


def _is_particle(word: str) -> bool:
    return bool(_PARTICLE.match(word) or _NO_LAST_NAME.match(word))


def _is_given(words: Sequence[str]) -> bool:
    """Initials, or at most one written-out name with initials: `I. H.`, `Robert E.`, `Robert`."""
    written = [word for word in words if not _is_initials(word)]
    ends_in_name = len(words) > 1 and not _is_initials(words[-1]) and not _PARTICLE.match(words[-1])
    return (
        bool(words) and len([word for word in written if not _PARTICLE.match(word)]) <= 1 and not ends_in_name
    )


def _inverted(last: Sequence[str], given: Sequence[str], suffix: str) -> Person:
    particles = [word for word in given if _PARTICLE.match(word)]
    names = _spread_initials([word for word in given if not _PARTICLE.match(word)])
    return Person(" ".join([*particles, *last]), names[0] if names else "", " ".join(names[1:]), suffix)


def _direct(words: Sequence[str], suffix: str, lexicon: Lexicon | None) -> Iterator[Person]:
    for name in _side_by_side(words, lexicon):
        if len(name) > 1 and _SUFFIX.match(name[-1]):
            yield _one(name[:-1], name[-1])
        else:
            yield _one(name, suffix)


def _one(words: Sequence[str], suffix: str) -> Person:
    """`R. E. Schapire`, or `Schapire R E`; particles go with the last name."""
    if len(words) > 1 and _is_initials(words[-1]) and not _is_initials(words[0]):
        cut = next(at for at, word in enumerate(words) if _is_initials(word))
        return _inverted(words[:cut], words[cut:], suffix)
    cut = len(words) - 1
    while cut > 1 and _is_particle(words[cut - 1]):
        cut -= 1
    given = _spread_initials(words[:cut])
    return Person(" ".join(words[cut:]), given[0] if given else "", " ".join(given[1:]), suffix)


def _side_by_side(words: Sequence[str], lexicon: Lexicon | None) -> Iterator[list[str]]:
    """Names in a row without commas: after a last name, a first name or an initial begins the next."""
    name: list[str] = []
    for at, word in enumerate(words):
        whole = len(name) > 1 and not _is_initials(name[-1]) and not _is_particle(name[-1])
        if lexicon is not None and whole and _begins_name(words, at, lexicon):
            yield name
            name = []
        name.append(word)
    if name:
        yield name


def _begins_name(words: Sequence[str], at: int, lexicon: Lexicon) -> bool:
    """An initial, a known first name, a name before an initial, or the third of two and two written names."""
    if _is_initials(words[at]) or "f" in lexicon.of(core(words[at])):
        return True
    if at + 2 < len(words) and _is_initials(words[at + 1]):
        return True
    plain = not any(_is_initials(word) or _PARTICLE.match(word) or _SUFFIX.match(word) for word in words)
    return plain and len(words) == 4 and at == 2


def _spread_initials(words: Sequence[str]) -> list[str]:
    """`I.H.` and `IH` as `I. H.`, so that first and middle names can be told apart."""
    spread = list[str]()
    for word in words:
        letters = re.findall(r"-?[^\W\d_]", word)
        spread += [f"{letter}." for letter in _joined(letters)] if _is_initials(word) else [word]
    return spread


def _joined(letters: Sequence[str]) -> list[str]:
    """Initials with a hyphen (`C.-C.`) stay together."""
    together: list[str] = []
    for letter in letters:
        if letter.startswith("-") and together:
            together[-1] += f".{letter}"
        else:
            together.append(letter.lstrip("-"))
    return together
