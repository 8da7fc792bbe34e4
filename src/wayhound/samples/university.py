"""Universities whose departments' pages look alike, so that only the path tells whose publications a page lists.

The four needs of sections 1.1.2 to 1.1.5 of Vydiswaran & Sarawagi (2005): publications in one discipline, announcements
of seminars, requirements for a Ph.D., and one product in a shop. Addresses are numbers and say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from random import Random

from wayhound.samples.builder import SamplePage, SiteBuilder
from wayhound.samples.grammar import words
from wayhound.samples.markup import link, listing

GOALS = ("cs-publications", "seminar", "phd-requirements", "lamp")
ALIKE = {"cs-publications": "publications", "lamp": "product"}  # labels of pages that look like these goals
ITEMS = 3  # on each shelf of the shop


class UniversitySite:
    """One university as a site of the sample web; universities with other seeds have other names and orders."""

    kind, start, language = "university", "/", "en"
    special = "departments that look alike: only the path tells whose publications a page lists"

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.name = f"university{seed}"
        self.host = f"{self.name}.localhost"
        self.title = f"University No. {seed}"

    @property
    def pages(self) -> Mapping[str, SamplePage]:
        return self._built.pages

    def labels(self) -> dict[str, str]:
        """Return the label of each page by path; pages without one of their own are `other`."""
        return self._made.labels

    def respond(self, path: str) -> SamplePage:
        """Return the response to a path; a page that does not exist has status 404."""
        return self._built.pages.get(path.partition("#")[0]) or self._built.not_found

    @cached_property
    def _made(self) -> _University:
        return _University(self.seed)

    @cached_property
    def _built(self) -> SiteBuilder:
        site = SiteBuilder(self.host)
        for path, text in self._made.pages.items():
            site.page(path, text)
        return site


class _University:
    """The pages as HTML by path, and their labels.

    Pages on the way to the publications of computing have labels of their own, and the like pages of other departments
    have none: a teacher marks the way that leads there.
    """

    def __init__(self, seed: int) -> None:
        self.pages: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self._random = Random(seed)  # noqa: S311 - made pages, no secrets
        start = self._path()
        departments = self._add("Departments", self._departments(), "departments")
        named = [("Departments", departments), ("Shop", self._add("University shop", self._shop(), "shop"))]
        named += [
            (title, self._add(title, self._prose())) for title in ("Admissions", "Campus", "Library", "News")
        ]
        self._random.shuffle(named)
        menu = listing(link(path, text) for text, path in named)
        self.pages[start] = _html("Welcome to the university", menu + self._prose())
        self.labels[start] = "home"

    def _path(self) -> str:
        """Return a new address: a number, so that no word of it helps."""
        path = f"/{len(self.pages)}.html" if self.pages else "/"
        self.pages[path] = ""
        return path

    def _add(self, title: str, body: str, label: str = "other") -> str:
        path = self._path()
        self.pages[path] = _html(title, body)
        self.labels[path] = label
        return path

    def _pick(self, list_name: str) -> str:
        return str(self._random.choice(words("university")[list_name]))

    def _prose(self) -> str:
        return f"<p>Here you read about {' and '.join(self._pick('topics') for _ in range(12))}.</p>"

    def _departments(self) -> str:
        names = [self._pick("computing"), *self._random.sample(words("university")["other"], 6)]
        computing = names[0]
        self._random.shuffle(names)
        return listing(link(self._department(name, name == computing), name) for name in names)

    def _department(self, name: str, is_computing: bool) -> str:
        listed = listing(self._person(is_computing) for _ in range(8))
        people = self._add("People", listed, "cs-people" if is_computing else "other")
        seminar = link(self._seminar(), self._pick("talks"))
        events = self._add("Events", listing([seminar, *self._notices()]), "events")
        graduate = self._add("Graduate studies", self._degrees(), "graduate")
        menu = [
            link(people, self._pick("people")),
            link(events, "Events"),
            link(graduate, self._pick("graduate")),
        ]
        label = "cs-department" if is_computing else "department"
        return self._add(f"Department of {name}", listing([*menu, *self._notices()]) + self._prose(), label)

    def _person(self, is_computing: bool) -> str:
        name = f"{self._pick('first')} {self._pick('last')}"
        papers = listing(f"{self._work()}, {1990 + self._random.randrange(15)}" for _ in range(5))
        label = "cs-publications" if is_computing else "publications"
        publications = self._add(f"{name}: publications", papers, label)
        teaching = self._add(f"{name}: teaching", self._prose())
        links = listing([link(publications, self._pick("papers")), link(teaching, "Teaching")])
        return link(self._add(name, links + self._prose(), "cs-person" if is_computing else "other"), name)

    def _work(self) -> str:
        return f"{self._pick('about')} {self._pick('topics')}"

    def _seminar(self) -> str:
        talks = listing(f"{day} 4 pm: {self._work()}" for day in ("Monday", "Friday"))
        return self._add("Seminars of this term", talks, "seminar")

    def _notices(self) -> list[str]:
        titles = self._random.sample(words("university")["notices"], 2)
        return [link(self._add(title, self._prose()), title) for title in titles]

    def _degrees(self) -> str:
        text = "<p>Credits, a language, an examination and a thesis.</p>"
        named = {"M.Sc. requirements": "other", self._pick("phd"): "phd-requirements",
                 "Certificate: requirements": "other"}  # fmt: skip
        return listing(
            link(self._add("Degree requirements", text, label), title) for title, label in named.items()
        )

    def _shop(self) -> str:
        sections = []
        for section, shelves in words("university")["shop"].items():
            lists = [link(self._shelf(shelf), shelf) for shelf in shelves]
            sections.append(link(self._add(section, listing(lists), "section"), section))
        return listing(sections)

    def _shelf(self, shelf: str) -> str:
        label = "lamp" if shelf == "Lamps" else "product"
        text = "<p>In stock. Price: 12. Add to the basket.</p>"
        items = [link(self._add("Item", text, label), f"No. {number + 1}") for number in range(ITEMS)]
        return self._add(shelf, listing(items), "shelf")


def _html(title: str, body: str) -> str:
    return (
        f"<!doctype html><title>{title}</title><body><h1>{title}</h1>{body}<p><a href='/'>Home</a></p></body>"
    )
