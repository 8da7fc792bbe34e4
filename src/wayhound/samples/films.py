"""Lantern Reel: an invented film catalogue, built like the one of the link chain paper (its Fig. 1 and 3).

A film's page leads to its cast page by an entry of a menu; the cast page has four lists that look alike, told apart by
their labels alone: Starring, Director, Producer, Screenwriter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from wayhound.samples.builder import SamplePage, SiteBuilder
from wayhound.samples.grammar import random_for, slug
from wayhound.samples.markup import link, listing
from wayhound.samples.people import draw_names

HOST = "films.localhost"
FILMS, PEOPLE = 36, 60
ROLES = ("Starring", "Director", "Producer", "Screenwriter")
_MOST = {"Starring": 7, "Director": 1, "Producer": 3, "Screenwriter": 2}
_FIRST = (
    "The Last,A Quiet,Beyond the,Seven,Under the,The Glass,Northern,Letters from the,Paper,The Winter".split(
        ","
    )
)
_SECOND = (
    "Harbour,Signal,Orchard,Lighthouse,River,Lantern,Tide,Meadow,Station,Garden,Bridge,Cartographer".split(
        ","
    )
)
_MENU = ("Film Main Page", "Showtimes", "Reviews", "Cast and Credits")
_GENRES = ("Comedy", "Drama", "Mystery", "Romance")
STYLE = (
    "body{font:16px/1.5 Georgia,serif;max-width:46em;margin:1em auto}nav li{display:inline;margin-right:1em}"
)


@dataclass(frozen=True, slots=True)
class Film:
    """A film with the people of each role; few films have all roles."""

    title: str
    year: int
    genre: str
    people: Mapping[str, tuple[str, ...]]

    @property
    def path(self) -> str:
        return f"/film/{slug(self.title)}/"

    @property
    def cast_path(self) -> str:
        return f"{self.path}cast.html"


def person_path(name: str) -> str:
    return f"/people/{slug(name)}.html"


def make_films(seed: int) -> list[Film]:
    rng = random_for(seed, "films")
    names = [str(name) for name in draw_names(["en", "fr", "es", "de"], PEOPLE, rng)]
    titles = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    return [_film(title, names, rng) for title in rng.sample(titles, FILMS)]


def _film(title: str, names: Sequence[str], rng: Random) -> Film:
    free = rng.sample(names, 16)
    people: dict[str, tuple[str, ...]] = {}
    for role in ROLES:
        least = 1 if role in ("Starring", "Director") else 0
        size = rng.randint(least, _MOST[role])
        if size:
            people[role] = tuple(free[:size])
            free = free[size:]
    return Film(title, rng.randint(1991, 2024), rng.choice(_GENRES), people)


class FilmSite:
    """The catalogue as a site of the sample web."""

    name, kind, host, start = "films", "catalogue", HOST, "/"
    title, language = "Lantern Reel", "en"
    special = "like-looking lists told apart by their labels"

    def __init__(self, seed: int) -> None:
        self.films = make_films(seed)

    @property
    def pages(self) -> Mapping[str, SamplePage]:
        return self._built.pages

    def respond(self, path: str) -> SamplePage:
        """Return the response to a path; a page that does not exist has status 404."""
        return self._built.pages.get(path.partition("#")[0]) or self._built.not_found

    def labels(self) -> dict[str, str]:
        """Return the concept of every page that has one, by path."""
        people = {
            person_path(name) for film in self.films for names in film.people.values() for name in names
        }
        films = {film.path: "film" for film in self.films} | {film.cast_path: "cast" for film in self.films}
        return films | dict.fromkeys(sorted(people), "person")

    def chains(self, role: str) -> set[tuple[str, str, str]]:
        """Return the chains of a role: paths of the film, its cast page and the person."""
        return {
            (film.path, film.cast_path, person_path(name))
            for film in self.films
            for name in film.people.get(role, ())
        }

    @cached_property
    def _built(self) -> SiteBuilder:
        site = SiteBuilder(HOST)
        years = sorted(self.films, key=lambda film: (-film.year, film.title))
        films = listing(f"{link(film.path, film.title)} ({film.year})" for film in years)
        site.page("/", _frame(self.title, f"<h1>{self.title}</h1><h2>All films</h2>{films}"), "home")
        for film in self.films:
            site.page(film.path, _frame(film.title, self._film_page(film)))
            site.page(film.cast_path, _frame(f"{film.title}: cast", self._cast_page(film)))
            for entry in _MENU[1:3]:
                path = f"{film.path}{slug(entry)}.html"
                site.page(path, _frame(f"{film.title}: {entry}", f"{_head(film)}<p>Nothing to show yet.</p>"))
        names = {name for film in self.films for names in film.people.values() for name in names}
        for name in sorted(names):
            site.page(person_path(name), _frame(name, self._person_page(name)), "person")
        site.missing(_frame("Not found", "<p>This reel is missing.</p>"))
        return site

    def _film_page(self, film: Film) -> str:
        same = [other for other in self.films if other.genre == film.genre and other != film][:4]
        return f"""{_head(film)}<p>{film.genre}</p><p>A {film.genre.lower()} of {film.year}.</p>
<h3>More like this</h3>{listing(link(other.path, other.title) for other in same)}"""

    def _cast_page(self, film: Film) -> str:
        return _head(film) + "".join(
            _role_table(role, film.people[role]) for role in ROLES if role in film.people
        )

    def _person_page(self, name: str) -> str:
        films = [film for film in self.films if any(name in names for names in film.people.values())]
        items = (f"{link(film.path, film.title)} ({film.year})" for film in films)
        return f"<h1>{name}</h1><h3>Filmography</h3>{listing(items)}"


def _head(film: Film) -> str:
    paths = [film.path, *(f"{film.path}{slug(entry)}.html" for entry in _MENU[1:3]), film.cast_path]
    entries = listing(link(path, entry) for path, entry in zip(paths, _MENU, strict=True))
    return f"<h1>{film.title} ({film.year})</h1><nav>{entries}</nav>"


def _role_table(role: str, names: Sequence[str]) -> str:
    """Write a list as the paper's Fig. 3 shows it: two people a row, below a label in bold."""
    cells = [f"<td><font>\n{link(person_path(name), name)}</font></td>" for name in names]
    pairs = (cells[place : place + 2] for place in range(0, len(cells), 2))
    body = "".join(f"<tr>{'<td>&nbsp;</td>'.join(pair)}</tr>\n" for pair in pairs)
    return f"<table><tr><td><font><b>{role}:</b></font></td></tr>\n{body}</table>\n"


def _frame(title: str, body: str) -> str:
    menu = listing([link("/", "Lantern Reel"), link("/about.html", "About")])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} – Lantern Reel</title><style>{STYLE}</style></head>
<body><header>{menu}</header>{body}<footer><p>Lantern Reel is invented.</p></footer></body></html>
"""
