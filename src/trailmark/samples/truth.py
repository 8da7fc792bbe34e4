"""What is true of a sample site, so that extraction from its pages can be scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from trailmark.samples.department import Publication
from trailmark.samples.people import Office, Person


@dataclass(frozen=True, slots=True)
class TruePerson:
    path: str
    name: str
    rank: str
    position: str
    group: str
    email: str
    phone: str
    room: str

    @classmethod
    def of(cls, path: str, person: Person, text: str) -> Self:
        """What the page does not say is left empty, since nobody could read it there."""
        return cls(
            path=path,
            name=person.name,
            rank=person.rank,
            position=person.position if person.position in text else "",
            group=person.group if person.group in text else "",
            email=person.email if person.login in text else "",  # perhaps written with " at "
            phone=person.phone if person.phone in text else "",
            room=person.room if person.room in text else "",
        )


@dataclass(frozen=True, slots=True)
class TruePublication:
    """`pdf` is the path of the file, or empty; `references` are as printed in it."""

    path: str
    pdf: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    abstract: str
    references: tuple[str, ...]

    @classmethod
    def of(cls, path: str, pdf: str, paper: Publication) -> Self:
        authors = tuple(author.name for author in paper.authors)
        return cls(path, pdf, paper.title, authors, paper.year, paper.venue, paper.abstract, paper.references)


@dataclass(frozen=True, slots=True)
class TrueContact:
    path: str
    organisation: str
    street: str
    town: str
    country: str
    phone: str
    email: str

    @classmethod
    def of(cls, path: str, office: Office) -> Self:
        return cls(path, office.name, office.street, office.town, office.country, office.phone, office.email)


@dataclass(frozen=True, slots=True)
class Truth:
    people: tuple[TruePerson, ...] = ()
    publications: tuple[TruePublication, ...] = ()
    contacts: tuple[TrueContact, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """One object a record for JSON Lines; `kind` is person, publication or contact."""
        for kind, records in (
            ("person", self.people),
            ("publication", self.publications),
            ("contact", self.contacts),
        ):
            for record in records:
                yield {"kind": kind, **asdict(record)}
