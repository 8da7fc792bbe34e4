"""Papers and their references as citations, and the groups of those that are to one work."""

from __future__ import annotations

from wayhound.citations.citation import Citation, NormalisedCitation, normalise
from wayhound.citations.grouping import CitationMatcher
from wayhound.papers.paper import Fields
from wayhound.record import Record

_NOTES = ("publisher", "institution", "tech", "editor", "location", "note")


def citation_of_paper(record: Record) -> Citation:
    """A paper's own description, which is matched as if somebody had cited it."""
    return _citation(record.fields, _first(record.fields, "journal", "booktitle", "institution"))


def citation_of_reference(fields: Fields, text: str) -> Citation:
    return _citation(fields, _first(fields, "venue", "journal", "booktitle"), text)


def _citation(fields: Fields, venue: str, text: str = "") -> Citation:
    return Citation(
        title=_first(fields, "title"),
        authors=" and ".join(value.text for value in fields.get("author", ())),
        venue=venue,
        year=_first(fields, "year"),
        pages=_first(fields, "pages"),
        volume=_first(fields, "volume"),
        note=" ".join(value.text for name in _NOTES for value in fields.get(name, ())) if text else "",
        text=text,
    )


def _first(fields: Fields, *names: str) -> str:
    return next((fields[name][0].text for name in names if fields.get(name)), "")


class CitationGroups(CitationMatcher):
    """A matcher that can also forget: papers are read again, and fields corrected."""

    def forget(self, citation: Citation, group: int) -> None:
        """Take a citation out of its group. A group without members is no longer joined by anything."""
        members, normal = self._members.get(group, []), normalise(citation)
        if normal in members:
            members.remove(normal)

    def settle(self, citation: Citation, before: tuple[Citation, int] | None) -> int:
        """The group of a citation; one that says what it said before stays where it was."""
        if before is not None and before[0] == citation:
            return before[1]
        if before is not None:
            self.forget(*before)
        return self.add(citation)

    def _agreement(self, normal: NormalisedCitation, group: int) -> float:
        return super()._agreement(normal, group) if self._members[group] else 0.0
