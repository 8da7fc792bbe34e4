"""A citation as it is given: with its fields where they are known, else as the text in which it stands."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference to a paper, or a paper's own description. Fields are text as printed, tidied by nobody."""

    title: str = ""
    authors: str = ""
    venue: str = ""
    year: str = ""
    pages: str = ""
    volume: str = ""
    note: str = ""  # whatever else is known: publisher, institution, editor
    text: str = ""  # the citation as it stands in the paper

    @property
    def is_raw(self) -> bool:
        """Whether there is nothing but its text."""
        return not (self.title or self.authors)

    @property
    def all_text(self) -> str:
        """All that is said of the paper, each thing once."""
        if self.text:
            return self.text
        return " ".join(filter(None, (getattr(self, each.name) for each in fields(self))))
