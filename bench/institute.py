"""A large institute on which a forage can get stuck: five sibling lists of people, and long personal sub-sites.

It is not part of the sample web, because it is made in any size. The first list stands in the text of the start page;
the others are behind a directory, one click further. Each person has a profile (the goal) and a home page with as many
pages as wanted, which say "I" and link to each other, so that whoever follows links near a goal walks through all of
them first.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from wayhound.samples.builder import SiteBuilder
from wayhound.samples.grammar import random_for, slug
from wayhound.samples.markup import link, listing
from wayhound.samples.people import SampleName, draw_names

HOST = "institute.localhost"
UNITS = ("Tidal Systems", "River Chemistry", "Dune Ecology", "Marsh Archaeology", "Harbour Engineering")
_TOPICS = ("sediment", "currents", "salt", "reeds", "silt", "tides", "shells", "dikes", "ferries", "storms")
_NOTES = (
    "Journal",
    "Travel",
    "Photographs",
    "Recipes",
    "Reading list",
    "Garden",
    "Sailing",
    "Old talks",
    "Links",
)
_RANKS = ("Professor", "Senior researcher", "Researcher", "Lecturer", "Doctoral student")
_NAMES_AT_ONCE = 150  # last names are distinct among so many


def build_institute(people_per_list: int, own_pages: int, seed: int = 7) -> SiteBuilder:
    """Return the site: `5 · people_per_list` profiles labelled person, each with `own_pages` pages of its own."""
    site = SiteBuilder(HOST)
    lists = {unit: _people(unit, people_per_list, seed) for unit in UNITS}
    menu = [("/about/", "About"), ("/news/", "News"), ("/directory/", "Directory"), ("/visit/", "Visit")]
    lists_of = [(f"/units/{slug(unit)}/", unit) for unit in UNITS]
    site.page(
        "/", _frame("Institute of the Coast", menu, f"<p>Welcome. See {link(*lists_of[0])}.</p>"), "home"
    )
    for path, title in menu:
        if path != "/directory/":
            site.page(path, _frame(title, menu, f"<p>{title} of the institute.</p>"))
    site.page("/directory/", _frame("Directory", menu, listing(link(*unit) for unit in lists_of)), "people")
    for (path, unit), people in zip(lists_of, lists.values(), strict=True):
        entries = listing(link(f"/profiles/{login}", str(name)) for login, name in people)
        site.page(path, _frame(unit, menu, f"<h2>Members</h2>{entries}"), "people")
        rng = random_for(seed, "profiles", unit)
        for login, name in people:
            site.page(f"/profiles/{login}", _profile(login, name, unit, menu, rng), "person")
            for at, text in _home(login, name, own_pages, rng):
                site.page(f"/~{login}/{at}", text)
    return site


def _people(unit: str, count: int, seed: int) -> list[tuple[str, SampleName]]:
    """Return people with a login each, which carries a number where names would repeat."""
    people: list[tuple[str, SampleName]] = []
    for start in range(0, count, _NAMES_AT_ONCE):
        rng = random_for(seed, "institute", unit, str(start))
        names = draw_names(["en", "de", "fr"], min(_NAMES_AT_ONCE, count - start), rng)
        people += [(f"{slug(name.last)}{UNITS.index(unit)}{start // _NAMES_AT_ONCE}", name) for name in names]
    return people


def _profile(login: str, name: SampleName, unit: str, menu: list[tuple[str, str]], rng: Random) -> str:
    topics = " and ".join(rng.sample(_TOPICS, 2))
    body = (
        f"<p>{rng.choice(_RANKS)}, {unit}. Works on {topics}.</p>"
        f"<p>E-mail {login}@{HOST}, telephone 555-01{rng.randrange(100):02}, room {rng.randrange(100, 400)}.</p>"
        f"<p>{link(f'/~{login}/', f'Home page of {name}')}</p>"
    )
    return _frame(str(name), menu, body)


def _home(login: str, name: SampleName, pages: int, rng: Random) -> Iterator[tuple[str, str]]:
    """Yield the file names and texts of a personal sub-site."""
    titles = [f"{_NOTES[at % len(_NOTES)]} {at // len(_NOTES) + 1}" for at in range(1, pages)]
    links = [(f"/~{login}/{slug(title)}.html", title) for title in titles]
    profile = link(f"/profiles/{login}", "My profile")
    if pages:
        hello = f"<p>Hello, I am {name}. {profile}.</p>"
        yield "", f"<title>{name}</title><h1>{name}</h1>{hello}{listing(link(*page) for page in links)}"
    for at, (path, title) in enumerate(links):
        onward = link(*links[(at + 1) % len(links)])
        text = (
            f"<p>My notes on {rng.choice(_TOPICS)} and {rng.choice(_TOPICS)}. Next: {onward}. {profile}.</p>"
        )
        yield path.rpartition("/")[2], f"<title>{title}</title><h1>{title}</h1>{text}"


def _frame(title: str, menu: list[tuple[str, str]], body: str) -> str:
    entries = listing(link(*entry) for entry in menu)
    return f"<title>{title}</title><nav>{entries}</nav><main><h1>{title}</h1>{body}</main>"
