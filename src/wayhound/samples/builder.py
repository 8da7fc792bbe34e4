"""Collects the pages, traps and true records of one site, as its style module adds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from wayhound.samples.department import Publication
from wayhound.samples.pdf import paper_pdf
from wayhound.samples.people import Office, SamplePerson


@dataclass(frozen=True, slots=True)
class TruePerson:
    """A person as described by one page. Fields that the page does not mention are empty."""

    path: str
    name: str
    rank: str
    position: str
    group: str
    email: str
    phone: str
    room: str

    @classmethod
    def of(cls, path: str, person: SamplePerson, text: str) -> Self:
        """Return what `text`, the page at `path`, says about the person."""
        return cls(
            path=path,
            name=person.name,
            rank=person.rank,
            position=person.position if person.position in text else "",
            group=person.group if person.group in text else "",
            email=person.email if person.login in text else "",  # it may be obfuscated
            phone=person.phone if person.phone in text else "",
            room=person.room if person.room in text else "",
        )


@dataclass(frozen=True, slots=True)
class TruePublication:
    """A publication as described by its page and its PDF. `pdf` is the path of the file, or empty."""

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
        return cls(
            path=path,
            pdf=pdf,
            title=paper.title,
            authors=authors,
            year=paper.year,
            venue=paper.venue,
            abstract=paper.abstract,
            references=paper.references,
        )


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
        return cls(
            path=path,
            organisation=office.name,
            street=office.street,
            town=office.town,
            country=office.country,
            phone=office.phone,
            email=office.email,
        )


@dataclass(frozen=True, slots=True)
class Truth:
    people: tuple[TruePerson, ...] = ()
    publications: tuple[TruePublication, ...] = ()
    contacts: tuple[TrueContact, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one JSON object a record; `kind` is person, publication or contact."""
        for kind, records in (
            ("person", self.people),
            ("publication", self.publications),
            ("contact", self.contacts),
        ):
            for record in records:
                yield {"kind": kind, **asdict(record)}


Label = Literal[
    "home", "people", "person", "publications", "publication", "paper", "course", "project",
    "contact", "about", "team", "product", "news", "other", "trap",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A response of a sample site. With `busy_at_first`, the first request gets status 503."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    label: Label = "other"
    rank: str = ""  # faculty, student or staff, for a person's page
    busy_at_first: bool = False

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers if name == "Content-Type"), "")


TrapPage = Callable[[re.Match[str]], str]


@dataclass
class SiteBuilder:
    """The parts of a site. `assets` (style sheets, pictures, robots.txt) have no label."""

    host: str
    charset: str = "utf-8"
    charset_in_header: bool = True
    session_parameter: str = ""
    pages: dict[str, SamplePage] = field(default_factory=dict)
    assets: dict[str, SamplePage] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    traps: list[tuple[re.Pattern[str], TrapPage]] = field(default_factory=list)
    people: list[TruePerson] = field(default_factory=list)
    publications: list[TruePublication] = field(default_factory=list)
    contacts: list[TrueContact] = field(default_factory=list)
    not_found: SamplePage = SamplePage(404, (("Content-Type", "text/plain"),), b"Not found\n")

    def html(self, text: str, label: Label = "other", rank: str = "", status: int = 200) -> SamplePage:
        kind = f"text/html; charset={self.charset}" if self.charset_in_header else "text/html"
        body = text.encode(self.charset, "xmlcharrefreplace")
        return SamplePage(status, (("Content-Type", kind),), body, label, rank)

    def page(self, path: str, text: str, label: Label = "other") -> None:
        self._add(path, self.html(text, label))

    def _add(self, path: str, page: SamplePage) -> None:
        if path in self.pages:
            raise ValueError(f"two pages of {self.host} have the path {path}")
        self.pages[path] = page

    def busy_page(self, path: str, text: str, label: Label = "other") -> None:
        page = self.html(text, label)
        self._add(path, SamplePage(page.status, page.headers, page.body, label, busy_at_first=True))

    def person(self, path: str, text: str, person: SamplePerson) -> None:
        self._add(path, self.html(text, "person", person.rank))
        self.people.append(TruePerson.of(path, person, text))

    def team(self, path: str, text: str, people: Iterable[SamplePerson]) -> None:
        """Add a page about several people that have no pages of their own."""
        self.page(path, text, "team")
        self.people.extend(TruePerson.of(path, person, text) for person in people)

    def publication(self, path: str, text: str, paper: Publication, pdf_path: str) -> None:
        self.page(path, text, "publication")
        self.publications.append(TruePublication.of(path, pdf_path if paper.has_pdf else "", paper))

    def paper(self, path: str, paper: Publication, affiliation: str, language: str) -> None:
        body = paper_pdf(paper, affiliation, language)
        self._add(path, SamplePage(200, (("Content-Type", "application/pdf"),), body, "paper"))

    def contact(self, path: str, text: str, *offices: Office) -> None:
        self.page(path, text, "contact")
        self.contacts.extend(TrueContact.of(path, office) for office in offices)

    def redirect(self, path: str, target: str, status: int = 301, label: Label = "other") -> None:
        headers = (("Content-Type", "text/plain"), ("Location", target))
        self._add(path, SamplePage(status, headers, b"", label))

    def asset(self, path: str, text: str, content_type: str) -> None:
        self.assets[path] = SamplePage(200, (("Content-Type", content_type),), text.encode())

    def robots(self, *forbidden: str) -> None:
        rules = "".join(f"Disallow: {folder}\n" for folder in forbidden)
        self.asset("/robots.txt", f"User-agent: *\n{rules}", "text/plain")

    def trap(self, pattern: str, answer: TrapPage) -> None:
        """Answer every path that matches `pattern` with a generated page, labelled as a trap."""
        self.traps.append((re.compile(pattern), answer))

    def break_link(self, path: str) -> str:
        """Record a path as a broken link, and return it."""
        self.broken.add(path)
        return path

    def missing(self, text: str, status: int = 404) -> None:
        """Set the response to unknown paths; status 200 makes it a soft 404."""
        self.not_found = self.html(text, "trap" if status == 200 else "other", status=status)
