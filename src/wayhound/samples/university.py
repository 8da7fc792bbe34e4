"""Universities whose departments' pages look alike, so that only the path tells whose publications a page lists.

The four needs of sections 1.1.2 to 1.1.5 of Vydiswaran & Sarawagi (2005): publications in one discipline, announcements
of seminars, requirements for a Ph.D., and one product in a shop. Addresses are numbers and say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from wayhound.samples.markup import link, listing

GOALS = ("cs-publications", "seminar", "phd-requirements", "lamp")

_COMPUTING = (
    "Computer Science",
    "Computing",
    "School of Computer Science",
    "Computer Science and Engineering",
)
_OTHERS = (
    "History",
    "Chemistry",
    "Law",
    "Geography",
    "Music",
    "Economics",
    "Botany",
    "Philosophy",
    "Mathematics",
)
_PEOPLE = ("People", "Faculty", "Our staff", "Faculty and staff")
_PAPERS = ("Papers", "Publications", "My publications", "Selected papers")
_TALKS = ("Seminars", "Talks", "Seminar series", "Colloquium")
_GRADUATE = ("Graduate studies", "Graduate programme", "For graduates", "Postgraduates")
_PHD = (
    "Ph.D. requirements",
    "Requirements for the Ph.D.",
    "Doctorate: requirements",
    "PhD degree requirements",
)
_FIRST = (
    "Ada",
    "Ben",
    "Cleo",
    "Dov",
    "Edda",
    "Finn",
    "Gita",
    "Hugo",
    "Ines",
    "Jon",
    "Kira",
    "Lev",
    "Mona",
    "Nils",
)
_LAST = (
    "Abel",
    "Berg",
    "Cole",
    "Dahl",
    "Elm",
    "Frost",
    "Gale",
    "Holt",
    "Irons",
    "Jung",
    "Kell",
    "Lund",
    "Moor",
    "Nye",
)
_TOPICS = (
    "structure",
    "change",
    "limits",
    "models",
    "order",
    "growth",
    "patterns",
    "sources",
    "form",
    "balance",
)
_ABOUT = ("notes on the", "a study of", "more on the", "questions of", "a survey of", "towards the")
_GOODS = {
    "Home": {
        "Lamps": ("Reading lamp", "Desk lamp", "Night lamp"),
        "Rugs": ("Round rug", "Long rug", "Small rug"),
    },
    "Paper": {
        "Books": ("Blank book", "Field book", "Guest book"),
        "Cards": ("Plain card", "Lined card", "Gilt card"),
    },
    "Wear": {
        "Scarves": ("Wool scarf", "Silk scarf", "Long scarf"),
        "Caps": ("Grey cap", "Flat cap", "Rain cap"),
    },
}


@dataclass
class University:
    """The pages of one university as HTML by path, and the labels of some of them."""

    seed: int
    pages: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    _random: Random = field(init=False)
    _menu: str = ""

    def __post_init__(self) -> None:
        self._random = Random(self.seed)  # noqa: S311 - made pages, no secrets
        self._build()

    @property
    def host(self) -> str:
        return f"uni{self.seed}.example"

    def _build(self) -> None:
        start = self._path()
        assert start == "/"
        departments = self._add("Departments", self._departments(), "departments")
        shop = self._add("University shop", self._shop(), "shop")
        others = [
            self._add(title, self._prose()) for title in ("Admissions", "Campus life", "Library", "News")
        ]
        named = [("Departments", departments), ("Shop", shop)]
        named += zip(("Admissions", "Campus", "Library", "News"), others, strict=True)
        self._random.shuffle(named)
        menu = listing(link(path, text) for text, path in named)
        self.pages[start] = _html("Welcome to the university", menu + self._prose())
        self.labels[start] = "home"

    def _path(self) -> str:
        """Return a new address: a number, so that no word of it helps."""
        path = f"/{len(self.pages)}.html" if self.pages else "/"
        self.pages[path] = ""
        return path

    def _add(self, title: str, body: str, label: str = "") -> str:
        path = self._path()
        self.pages[path] = _html(title, body)
        if label:
            self.labels[path] = label
        return path

    def _pick(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)

    def _prose(self) -> str:
        words = [self._pick(_TOPICS) for _ in range(12)]
        return f"<p>Here you read about {' and '.join(words)}.</p>"

    def _departments(self) -> str:
        names = [self._pick(_COMPUTING), *self._random.sample(_OTHERS, 6)]
        computing = names[0]
        self._random.shuffle(names)
        return listing(link(self._department(name, name == computing), name) for name in names)

    def _department(self, name: str, is_computing: bool) -> str:
        people = self._add("People", listing(self._person(is_computing) for _ in range(8)), "people")
        talks = self._add(
            "Events", listing([link(self._seminar(), self._pick(_TALKS)), *self._notices()]), "events"
        )
        graduate = self._add("Graduate studies", self._degrees(), "graduate")
        body = listing(
            [link(people, self._pick(_PEOPLE)), link(talks, "Events"), link(graduate, self._pick(_GRADUATE)),
             *self._notices()]
        )  # fmt: skip
        label = "cs-department" if is_computing else "department"
        return self._add(f"Department of {name}", body + self._prose(), label)

    def _person(self, is_computing: bool) -> str:
        name = f"{self._pick(_FIRST)} {self._pick(_LAST)}"
        papers = listing(
            f"{self._pick(_ABOUT)} {self._pick(_TOPICS)}, {1990 + self._random.randrange(15)}"
            for _ in "abcde"
        )
        label = "cs-publications" if is_computing else "publications"
        publications = self._add(f"{name}: publications", papers, label)
        other = self._add(f"{name}: teaching", self._prose())
        links = listing([link(publications, self._pick(_PAPERS)), link(other, "Teaching")])
        return link(self._add(name, links + self._prose(), "person"), name)

    def _seminar(self) -> str:
        talks = listing(
            f"{day} 4 pm: {self._pick(_ABOUT)} {self._pick(_TOPICS)}" for day in ("Monday", "Friday")
        )
        return self._add("Seminars of this term", talks, "seminar")

    def _notices(self) -> list[str]:
        return [
            link(self._add(title, self._prose()), title)
            for title in self._random.sample(("Prizes", "Open day", "Rooms", "History", "Jobs", "Forms"), 2)
        ]

    def _degrees(self) -> str:
        def requirements(title: str, label: str) -> str:
            text = "<p>Credits, a language, an examination and a thesis.</p>"
            return link(self._add("Degree requirements", text, label), title)

        return listing(
            [requirements("M.Sc. requirements", ""), requirements(self._pick(_PHD), "phd-requirements"),
             requirements("Certificate: requirements", "")]
        )  # fmt: skip

    def _shop(self) -> str:
        sections = []
        for section, shelves in _GOODS.items():
            lists = [link(self._shelf(shelf, goods), shelf) for shelf, goods in shelves.items()]
            sections.append(link(self._add(section, listing(lists), "section"), section))
        return listing(sections)

    def _shelf(self, shelf: str, goods: Sequence[str]) -> str:
        label = "lamp" if shelf == "Lamps" else "product"
        items = [
            link(self._add("Item", "<p>In stock. Price: 12. Add to the basket.</p>", label), f"No. {number}")
            for number, _ in enumerate(goods, start=1)
        ]
        return self._add(shelf, listing(items), "shelf")


def _html(title: str, body: str) -> str:
    return (
        f"<!doctype html><title>{title}</title><body><h1>{title}</h1>{body}<p><a href='/'>Home</a></p></body>"
    )
