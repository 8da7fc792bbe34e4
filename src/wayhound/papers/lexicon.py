"""Word lists that indicate a field: closed classes written here, and names collected from other sources.

Closed classes are months, words of addresses, of acknowledgements and so on. First and last names, places,
publishers, and words that occur almost only in one BibTeX field come from a file that
`scripts/train_paper_models.py` makes; see `docs/paper-models.md` for its sources.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice

from wayhound.errors import ModelError
from wayhound.papers.distant import BibEntry

_EDGES = re.compile(r"^\W+|\W+$")

MAX_NAMES = 20_000
"""Taken of each list. Places are in order of population, and the last of fifty thousand are mostly noise."""

NAME_CODES = {"first": "f", "last": "l", "place": "p", "publisher": "h"}
BIBTEX_CODES = {
    "author": "A", "editor": "A", "title": "T", "booktitle": "B", "journal": "J", "publisher": "H",
    "address": "P",
}  # fmt: skip

_LISTS = {
    "month": """january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter""",
    "affiliation": """univ university universitat universite universita universidad universidade
    universiteit institut institute institutes instituto istituto inst dept department departments
    departement dipartimento departamento school college lab labs laboratory laboratories laboratoire
    laboratorium division center centre corp corporation inc company faculty fakultat faculteit group
    academy academia ecole politecnico polytechnic technische hochschule lehrstuhl fachbereich inria cnrs
    mit ibm bell at&t nasa section office ltd gmbh computing science sciences engineering mathematics
    informatics informatik informatica informatique computer technology programme program unit team research
    council systems electrical hospital ministry society""",
    "address": """street st ave avenue road rd drive blvd boulevard lane box p.o po suite room building bldg
    floor cedex hall mail stop postfach strasse str rue via plaza park campus code highway way square route
    north south east west mailstop parkway pkwy piazza""",
    "region": """ca ma ny nj pa il tx wa or md va nc fl oh mi mn wi co az ut ga ct ri nh in ia mo tn nm usa
    u.s.a u.s uk u.k england germany france canada italy japan australia netherlands switzerland sweden
    calif mass israel spain belgium austria denmark scotland ontario quebec california massachusetts
    pennsylvania illinois texas washington maryland virginia michigan finland norway ireland greece portugal
    india china korea taiwan brazil singapore hungary poland russia kingdom states zealand wales""",
    "thanks": """supported grant grants contract contracts funded funding acknowledge acknowledgements acknowledges
        thank thanks sponsored foundation nsf darpa arpa onr afosr esprit award fellowship scholarship agency
        government endorsement views opinions""",
    "notice": """copyright permission reserved rights copying copies republish appear appears appeared appearing
        submitted proceedings proc isbn issn ieee acm preprint draft press reprint reprinted correspondence
        corresponding manuscript lecture""",
    "publication": """published presented accepted preliminary version revised currently visiting leave available
        volume vol pp pages conference journal workshop symposium transactions subject classification classifications
        part partial partially support""",
    "degree": """thesis dissertation fulfillment fulfilment requirements requirement degree doctor master
    masters bachelor philosophy advisor adviser committee supervisor supervisors chair chairman approved
    graduate ph.d phd m.s msc m.sc b.s b.a m.a examiner examiners reader candidate signature certified
    diplomarbeit diplom""",
    "keyword": "keyword keywords keyphrases key words phrases categories descriptors terms index",
    "phone": "phone tel telephone fax telefax voice telex facsimile",
    "report": """technical report tr tech rep memo memorandum preprint series note rapport recherche
    publication document working paper no number research""",
    "abstract": "abstract summary synopsis resume zusammenfassung",
    "intro": "introduction overview contents motivation background preface",
    "mail": "e-mail email internet mail electronic address addresses",
    "web": "url www http web ftp home page homepage available anonymous",
    "dated": "date dated revised draft updated received submitted version printed",
    "and": "and by with et al und",
    "common": """the of in for is are we that to a an on with which this be by as our it can from at and
    these has have not or such their was were using show how both than more also""",
    "editor": "ed eds editor editors edited",
    "pages": "p pp page pages pgs pg",
    "volume": "vol volume no nr number issue vols",
    "thesis": """technical tech report rep memo memorandum tr note thesis phd ph.d dissertation master
    masters master's msc working paper research rapport manuscript doctoral m.s series""",
    "meeting": """proc procs proceedings conf conference conferences symp symposium workshop wkshp int intl
    int'l international annual meeting advances congress colloquium ieee acm aaai ijcai sigmod siggraph
    usenix nips lecture notes transactions conference""",
    "journal": """journal j jour trans transactions letters lett magazine review rev bulletin annals
    communications comm commun quarterly computer ieee acm siam archive acta surveys intelligence computing
    systems science sciences physics phys mathematics math""",
    "press": """press publisher publishers publishing verlag springer springer-verlag wiley mcgraw-hill
    prentice prentice-hall hall kaufmann kaufman morgan elsevier north-holland addison-wesley addison wesley
    kluwer academic freeman cambridge oxford ablex erlbaum benjamin cummings benjamin/cummings plenum sons
    co books cliffs""",
    "status": """submitted appear press preparation preprint unpublished personal communication available
    forthcoming accepted published draft ftp http also manuscript see version invited reprinted translated
    publication revised""",
}
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th)|\w*(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|teenth|"
    r"tieth)"
)


def core(token: str) -> str:
    """Return the token in lower case, without the punctuation around it."""
    return _EDGES.sub("", token.lower())


_CLASSES: dict[str, tuple[str, ...]] = {}
for _name, _words in _LISTS.items():
    for _word in _words.split():
        _CLASSES[_word] = (*_CLASSES.get(_word, ()), _name)


@cache
def word_classes(word: str) -> tuple[str, ...]:
    """Return the names of the lists that contain the word, and `ordinal` for an ordinal number."""
    classes = _CLASSES.get(word, ())
    return (*classes, "ordinal") if _ORDINAL.fullmatch(word) else classes


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Codes of a lower-case word: a letter for each name list and each BibTeX field that it is typical of."""

    codes: Mapping[str, str]

    def codes_of(self, word: str) -> str:
        return self.codes.get(word, "")

    def is_first_name(self, token: str) -> bool:
        return NAME_CODES["first"] in self.codes_of(core(token))

    def to_bytes(self) -> bytes:
        lines = "".join(f"{word}\t{codes}\n" for word, codes in sorted(self.codes.items()))
        return gzip.compress(lines.encode(), mtime=0)

    @classmethod
    def from_bytes(cls, body: bytes) -> Lexicon:
        try:
            lines = gzip.decompress(body).decode().splitlines()
            return cls(dict(line.split("\t", 1) for line in lines))
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise ModelError(
                f"The lexicon of the paper models is damaged ({error}). Install Wayhound again."
            ) from error


@cache
def shipped_lexicon() -> Lexicon:
    """Return the lexicon inside the package."""
    return Lexicon.from_bytes((files(__package__) / "shipped" / "lexicon.tsv.gz").read_bytes())


def build_lexicon(names: Mapping[str, Iterable[str]], entries: Iterable[BibEntry]) -> Lexicon:
    """Return a lexicon of the single words in name lists, and of words typical of one BibTeX field."""
    codes: dict[str, set[str]] = {}
    for kind, listed in names.items():
        for name in islice(listed, MAX_NAMES):
            if " " not in name and len(name) > 1:
                codes.setdefault(name, set()).add(NAME_CODES[kind])
    for word, letter in _typical_words(entries):
        codes.setdefault(word, set()).add(letter)
    return Lexicon({word: "".join(sorted(letters)) for word, letters in codes.items()})


def _typical_words(entries: Iterable[BibEntry]) -> Iterable[tuple[str, str]]:
    """Yield words that occur at least three times and have a far larger share of one field than of the others."""
    counts: dict[str, Counter[str]] = {letter: Counter() for letter in BIBTEX_CODES.values()}
    for entry in entries:
        for name, value in entry.fields.items():
            if name in BIBTEX_CODES:
                counts[BIBTEX_CODES[name]].update(word for word in map(core, value.split()) if len(word) > 1)
    totals = {letter: max(1, words.total()) for letter, words in counts.items()}
    for word in set().union(*counts.values()):
        shares = {letter: words[word] / totals[letter] for letter, words in counts.items()}
        best = max(shares, key=lambda letter: shares[letter])
        if counts[best][word] >= 3 and shares[best] > 0.6 * sum(shares.values()):
            yield word, best
