"""Personal names as papers print them: single names, and the author and editor lists of headers and references.

Handles both orders (`I. H. Witten`, `Witten, I. H.`, `Witten IH`) and mixtures of them, particles, suffixes,
`et al.`, editors' roles, footnote marks, and the names without commas that headers print side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

PARTICLES = frozenset(
    "al bin da das de del della den der di dos du el la las le los st ten ter van vande vant vom von zu zur".split()
)
"""Words before a last name that belong to it, in lower case."""

CAPITALISED_PARTICLES = PARTICLES - frozenset("al bin vant vom zu zur".split())
"""Particles that may also be capitalised. The others are then names of their own, as in Bin Yu."""

_NEVER_A_LAST_NAME = frozenset("de del della den der dos st van vande von".split())
PARTICLE_PATTERN = "|".join(sorted(PARTICLES))

IsFirstName = Callable[[str], bool]
"""Recognises first names, for lists in which no comma separates the names."""

ET_AL = re.compile(
    r",?(?<!\s)\s*+(?:\bet\.?\s*al\b\.?|\band\s+others\b|\bu\.\s?a\.)", re.IGNORECASE
)  # from the first blank before it
_ROLE = re.compile(
    r"[(\[]?\b(?!(?-i:Ed)\s+(?-i:[A-Z]))(?:eds?|editors?|hrsg)\b\.?[)\]]?|\bedited by\b|^\s*(?:in|by)\b:?",
    re.IGNORECASE,
)  # but Ed is a first name before another one
_SEPARATOR = re.compile(r"[;&\n]|\b(?:and|AND|und|UND)\b|\bet\b(?=\s+[^\W\d_a-z])")
_MARKS = re.compile(r"[*∗†‡§¶‖#⋆]+|\d+")
_LETTER_MARKS = re.compile(
    r"(?<=[^\W\d_])\s+[a-h](?:\s*,\s*(?:[a-h]|[*∗†‡§]|\d)(?![^\W\d_]))*(?=\s*(?:[,;&*∗†‡§]|\band\b|$))"
)  # references to an address after a name: `Paul Berg a,b`
_BRACKETS = re.compile(r"[()\[\]{}\"“”]")
_RANK = re.compile(
    r"\b(?:(?:student|senior|life)\s+)?(?:member|fellow)\b|\b(?:IEEE|ACM|AAAI)\b", re.IGNORECASE
)
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|ph\.?d|esq)\.?$", re.IGNORECASE)
_TWO_CAPITALS = re.compile(r"[^\W\d_a-z]{2}$")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?-?){1,4}$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?$")
_TITLE = re.compile(r"(?:dr|prof|professor|mr|mrs|ms|sir)\.?$", re.IGNORECASE)
_MOST_NAMES = 200  # a longer field is not a list of names


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name in parts. `last` includes particles; parts that are not printed are empty."""

    last: str
    first: str = ""
    middle: str = ""
    suffix: str = ""

    @property
    def given(self) -> str:
        return " ".join(filter(None, (self.first, self.middle)))

    @property
    def full(self) -> str:
        return " ".join(filter(None, (self.first, self.middle, self.last, self.suffix)))


def is_particle(word: str) -> bool:
    """Return True if the word belongs to the last name after it: `von`, `Le`, but not `Bin`."""
    plain = _bare(word)
    return plain in PARTICLES or plain.lower() in CAPITALISED_PARTICLES


def _is_small_particle(word: str) -> bool:
    return _bare(word) in PARTICLES


def _bare(word: str) -> str:
    return word.rstrip(".").replace("'", "").replace("’", "")


def split_name(name: str) -> PersonName:
    """Return the parts of one name as they are printed: `von Last, First` or `First von Last Jr`."""
    if "," in name:
        last, _, given = name.partition(",")
        return _person([last.strip()], given.replace(",", " ").split())
    words = name.split()
    suffix = words.pop() if len(words) > 2 and _SUFFIX.match(words[-1]) else ""
    cut = _last_name_start(words)
    return _person(words[cut:], words[:cut], suffix)


def parse_names(text: str, is_first_name: IsFirstName | None = None) -> tuple[PersonName, ...]:
    """Return the names in a field, in order. Without `is_first_name`, names are separated only where the text is."""
    marked = _LETTER_MARKS.sub(" , ", ET_AL.sub(" , ", text))
    plain = _BRACKETS.sub(" ", _ROLE.sub(" ", _RANK.sub(" ", _MARKS.sub(" , ", marked))))
    chunks = _SEPARATOR.split(plain)
    are_separated = _has_one_long_name([_words(piece) for chunk in chunks for piece in chunk.split(",")])
    beside = None if are_separated else is_first_name
    names = [name for chunk in chunks for name in _chunk_names(chunk, beside)]
    whole = [name for name in names if not _DOTTED.match(name.last)]  # the others lost their last name
    return tuple((whole or names)[:_MOST_NAMES])


def _has_one_long_name(pieces: Sequence[list[str]]) -> bool:
    """Return True for a list of single names of which one has four words: `Anna Maria Lopez Diaz, B. Lind, C. Wood`.

    Where names stand side by side without commas, several pieces are that long, or there are fewer than three.
    """
    lengths = [len(words) for words in pieces if words]
    return len(lengths) > 2 and max(lengths) == 4 and sum(length > 3 for length in lengths) == 1


def _chunk_names(chunk: str, is_first_name: IsFirstName | None) -> Iterator[PersonName]:
    """Yield the names of a text in which only commas separate them.

    A bare last name takes the given names after the comma, and any name takes a suffix.
    """
    pieces = list(_with_lost_commas([words for piece in chunk.split(",") if (words := _words(piece))]))
    only_last_names = len(pieces) > 2 and all(
        len(words) == 1 and not _is_initials(words[0]) for words in pieces
    )
    at = 0
    while at < len(pieces):
        words, following = pieces[at], pieces[at + 1] if at + 1 < len(pieces) else []
        inverted = not only_last_names and _goes_with(words, following)
        suffix_at = at + 1 + inverted
        suffix = pieces[suffix_at] if suffix_at < len(pieces) and _is_suffix(pieces[suffix_at]) else []
        if inverted:
            yield _inverted(words, following, " ".join(suffix))
        else:
            yield from _direct(words, " ".join(suffix), is_first_name)
        at = suffix_at + bool(suffix)


def _with_lost_commas(pieces: Sequence[list[str]]) -> Iterator[list[str]]:
    """Yield the pieces, split where a comma between two people is missing: `Walker, T. N. Runner, J.`"""
    for at, words in enumerate(pieces):
        given, last = words[:-1], words[-1]
        inverted = 0 < at < len(pieces) - 1 and _is_last_name(pieces[at - 1]) and _all_dotted(pieces[at + 1])
        if inverted and _all_dotted(given) and _is_last_name([last]):
            yield given
            yield [last]
        else:
            yield words


def _goes_with(words: Sequence[str], following: Sequence[str]) -> bool:
    """Return True if `following` are the given names of the last name `words`.

    Initials alone belong to what precedes them, be it two words (`Garcia Molina, H.`) or two capitals
    (`GU, C.`).
    """
    if _is_last_name(words):
        return _is_given(following)
    whole = not any(map(_is_initials, words)) or (len(words) == 1 and bool(_TWO_CAPITALS.match(words[0])))
    return whole and not _is_suffix(words) and _all_dotted(following)


def _all_dotted(words: Sequence[str]) -> bool:
    return bool(words) and all(map(_DOTTED.match, words))


def _words(piece: str) -> list[str]:
    """Return the words of a piece without titles; initials are cut off a last name (`M.Woszczyna`)."""
    parts = re.sub(r"(?<!\b[^\W\d_a-z]\.)((?:\b[^\W\d_a-z]\.)++)(?=[^\W\d_]{2})", r"\1 ", piece).split()
    words = [part.strip("-–:'`’.") if not _keeps_its_dot(part) else part.strip(":'`") for part in parts]
    return [word for word in words if re.search(r"[^\W\d_]", word) and not _TITLE.match(word)]


def _keeps_its_dot(word: str) -> bool:
    return bool(_DOTTED.match(word) or _SUFFIX.match(word))


def _is_initials(word: str) -> bool:
    return bool(_DOTTED.match(word)) or (len(word) <= 2 and _INITIALS.match(word) is not None)


def _is_suffix(words: Sequence[str]) -> bool:
    return len(words) == 1 and _SUFFIX.match(words[0]) is not None


def _is_last_name(words: Sequence[str]) -> bool:
    """Return True for one word and its particles, capitalised or not (`Le Roux`), but not for an initial."""
    particles = {word for word in words[:-1] if _bare(word).lower() in PARTICLES}
    proper = [word for word in words if word not in particles and not _is_small_particle(word)]
    return len(proper) == 1 and not _is_initials(proper[0]) and not _is_suffix(proper)


def _is_given(words: Sequence[str]) -> bool:
    """Return True for initials, or one written name with initials: `I. H.`, `Robert E.`, `Robert`."""
    written = [word for word in words if not _is_initials(word) and not _is_small_particle(word)]
    ends_in_name = len(words) > 1 and not _is_initials(words[-1]) and not _is_small_particle(words[-1])
    return bool(words) and len(written) <= 1 and not ends_in_name


def _inverted(last: Sequence[str], given: Sequence[str], suffix: str) -> PersonName:
    particles = [word for word in given if _is_small_particle(word)]
    names = _spread_initials([word for word in given if not _is_small_particle(word)])
    return _person([*particles, *last], names, suffix)


def _direct(words: Sequence[str], suffix: str, is_first_name: IsFirstName | None) -> Iterator[PersonName]:
    for name in _side_by_side(words, is_first_name):
        if len(name) > 1 and _SUFFIX.match(name[-1]):
            yield _one(name[:-1], name[-1])
        else:
            yield _one(name, suffix)


def _one(words: Sequence[str], suffix: str) -> PersonName:
    """Return the name in `R. E. Schapire` or `Schapire R E`."""
    if len(words) > 1 and _is_initials(words[-1]) and not _is_initials(words[0]):
        cut = next(at for at, word in enumerate(words) if _is_initials(word))
        return _inverted(words[:cut], words[cut:], suffix)
    cut = _last_name_start(words)
    return _person(words[cut:], _spread_initials(words[:cut]), suffix)


def _last_name_start(words: Sequence[str]) -> int:
    """Return the index of the first word of the last name, particles included."""
    cut = max(0, len(words) - 1)
    while cut > 1 and is_particle(words[cut - 1]):
        cut -= 1
    return cut


def _person(last: Sequence[str], given: Sequence[str], suffix: str = "") -> PersonName:
    return PersonName(" ".join(last), given[0] if given else "", " ".join(given[1:]), suffix)


def _side_by_side(words: Sequence[str], is_first_name: IsFirstName | None) -> Iterator[list[str]]:
    """Yield the names in a row without commas: after a last name, a first name or initial begins the next."""
    name: list[str] = []
    for at, word in enumerate(words):
        whole = len(name) > 1 and not _is_initials(name[-1]) and not _needs_more(name[-1])
        if is_first_name is not None and whole and _begins_name(words, at, is_first_name):
            yield name
            name = []
        name.append(word)
    if name:
        yield name


def _needs_more(word: str) -> bool:
    """Return True for a particle that cannot end a name. A capitalised `Le` can: it is also a last name."""
    return _is_small_particle(word) or _bare(word).lower() in _NEVER_A_LAST_NAME


def _begins_name(words: Sequence[str], at: int, is_first_name: IsFirstName) -> bool:
    """Return True for an initial, a first name, a name before an initial, or the third of four plain words.

    The last word begins none: it would be a name of one word.
    """
    if at + 1 == len(words):
        return False
    if _is_initials(words[at]) or is_first_name(words[at]):
        return True
    if at + 2 < len(words) and _is_initials(words[at + 1]):
        return True
    plain = not any(_is_initials(word) or _is_small_particle(word) or _SUFFIX.match(word) for word in words)
    return plain and len(words) == 4 and at == 2


def _spread_initials(words: Sequence[str]) -> list[str]:
    """Return `I.H.` and `IH` as `I. H.`, so that first and middle names can be told apart."""
    spread = list[str]()
    for word in words:
        letters = re.findall(r"-?[^\W\d_]", word)
        spread += [f"{letter}." for letter in _hyphenated(letters)] if _is_initials(word) else [word]
    return spread


def _hyphenated(letters: Sequence[str]) -> list[str]:
    """Keep initials with a hyphen (`C.-C.`) together."""
    together: list[str] = []
    for letter in letters:
        if letter.startswith("-") and together:
            together[-1] += f".{letter}"
        else:
            together.append(letter.lstrip("-"))
    return together
