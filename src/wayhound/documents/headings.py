"""Recognition of the headings that begin the parts of a paper, in seven languages and many spellings."""

from __future__ import annotations

import re

from wayhound.text.words import without_accents

_NUMBER = re.compile(r"^\s*(?:(?:\d{1,2}|[IVX]{1,5}|[A-Z])(?:\.\d{1,2})*\s*[.):]?\s+|§\s*\d*\s*)(?=\S)")
_NOT_LETTERS = re.compile(r"[^a-z]+")

_REFERENCES = frozenset(
    "references reference bibliography bibliographicreferences literature literaturecited referencescited "
    "workscited citedliterature citedreferences referencelist listofreferences referencesandnotes "
    "notesandreferences selectedreferences selectedbibliography referencesandbibliography furtherreading "
    "bibliographie referencesbibliographiques literatur literaturverzeichnis literaturangaben quellen "
    "literaturhinweise quellenverzeichnis schrifttum referencias referenciasbibliograficas bibliografia riferimenti "
    "riferimentibibliografici literatura referenciabibliografica literatuur literatuurlijst referenser litteratur "
    "litteraturliste litteraturforteckning pismiennictwo irodalom kaynakca".split()
)
_ABSTRACT = frozenset(
    "abstract summary extendedabstract executivesummary synopsis resume zusammenfassung kurzfassung resumen "
    "sommario riassunto resumo samenvatting abstrakt".split()
)
_INTRODUCTION = frozenset(
    "introduction introductionandmotivation introductionandbackground introductionandoverview "
    "introductionandrelatedwork motivation motivationandintroduction overview "
    "background einleitung einfuehrung einfuhrung introduccion introduzione introducao inleiding".split()
)
_CONTENTS = frozenset(
    "contents tableofcontents inhaltsverzeichnis inhalt tabledesmatieres sommaire indice indicegeneral sumario "
    "inhoudsopgave spistresci obsah".split()
)
_AFTER_REFERENCES = re.compile(
    r"^(?:appendi(?:x|ces)|supplement|supporting|acknowledge?ments?|anhang|annexe|proofs?of|aboutthe|"
    r"authors?biograph|biograph|vita|index$|listof|figure(?:captions|s$)|tables$|notes$|"
    r"endnotes$|footnotes$|glossary|remerciements|danksagung|affiliations?$|(?:authors?)?address(?:es)?$|anschrift(?:en)?$|"
    r"correspondingauthors?$|addressforcorrespondence$)"
)
_INLINE_ABSTRACT = re.compile(
    r"^\s*(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary|résumé|zusammenfassung|resumen|resumo|sommario)"
    r"\s*+(?:[.:—–]+-?|-{1,3}|(?<=\s\s))\s*+(?=\S)",
    re.IGNORECASE,
)
_BEGINNINGS = {key[:3].replace("e", "[eé]") for key in _REFERENCES | _ABSTRACT | _INTRODUCTION}
_MAYBE = re.compile(
    rf"\s*+(?:[\dIVX.]{{1,6}}|[A-Z§])?[.):]?\s*+(?:{'|'.join(sorted(_BEGINNINGS))}|\w \w \w|\w [A-Z]{{2}})",
    re.IGNORECASE,
)


def heading_key(text: str) -> str:
    """Return only the letters of a heading, in lower case and without accents; empty if it is too long.

    "R EFERENCES", "References:" and "RÉFÉRENCES" all become "references".
    """
    plain = without_accents(text.strip().lower())
    return _NOT_LETTERS.sub("", plain) if len(plain) < 80 else ""


def may_be_heading(text: str) -> bool:
    """Return False quickly for most lines that are no heading of a part; called for every line."""
    return len(text) <= 40 and bool(_MAYBE.match(text))


def _is_one_of(text: str, keys: frozenset[str]) -> bool:
    if not may_be_heading(text) or text.rstrip().endswith(","):
        return False
    return heading_key(text) in keys or heading_key(_NUMBER.sub("", text)) in keys


def is_references_heading(text: str) -> bool:
    return not _ends_in_page_number(text) and _is_one_of(text, _REFERENCES)


def is_abstract_heading(text: str) -> bool:
    return not _ends_in_page_number(text) and _is_one_of(text, _ABSTRACT)


def is_introduction_heading(text: str) -> bool:
    return not _ends_in_page_number(text) and _is_one_of(text, _INTRODUCTION)


def is_contents_heading(text: str) -> bool:
    return len(text) <= 40 and heading_key(text) in _CONTENTS


def inline_abstract(text: str) -> int:
    """Return where the abstract begins in a line such as "Abstract. We show …"; 0 for other lines."""
    match = _INLINE_ABSTRACT.match(text)
    return match.end() if match else 0


def is_heading_after_references(text: str) -> bool:
    """Return True for the heading of an appendix, of acknowledgements or the like, which ends a reference list."""
    if len(text) > 80 or not text[:1].isalnum() or text.rstrip().endswith((",", ";")):
        return False
    return bool(_AFTER_REFERENCES.match(heading_key(_NUMBER.sub("", text)) or heading_key(text)))


def _ends_in_page_number(text: str) -> bool:
    """Return True for a line as in a table of contents."""
    return bool(re.search(r"[\s.]\d{1,4}\s*$", text))
