"""People who do not exist: common names combined at random, each with an e-mail address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Literal

from wayhound.samples.grammar import slug, words

Rank = Literal["faculty", "student", "staff"]
PRONOUNS = {
    "en": (("she", "he"), ("her", "his"), ("her", "him")),
    "de": (("sie", "er"), ("ihre", "seine"), ("sie", "ihn")),
    "fr": (("elle", "il"), ("sa", "son"), ("elle", "lui")),
    "es": (("ella", "él"), ("su", "su"), ("ella", "él")),
}
# Number ranges reserved for fiction.
PHONES = {"en": "555-01{:02}", "de": "030 23125 {:03}", "fr": "01 99 00 17 {:02}", "es": "555-01{:02}"}
DATES = {"en": "{0} {1} {2}", "de": "{0}. {1} {2}", "fr": "{0} {1} {2}", "es": "{0} de {1} de {2}"}


@dataclass(frozen=True, slots=True)
class SampleName:
    first: str
    last: str
    female: bool

    def __str__(self) -> str:
        return f"{self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person on a site. `login` is unique there; `group` is empty for staff."""

    number: int
    first: str
    last: str
    rank: Rank
    position: str
    group: str
    email: str
    phone: str
    room: str
    since: int
    bio: str
    interests: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def slug(self) -> str:
        return slug(self.name)

    @property
    def login(self) -> str:
        return self.email.partition("@")[0]


@dataclass(frozen=True, slots=True)
class Office:
    """The contact data of an office, as printed on a contact page."""

    name: str
    street: str
    town: str
    country: str
    phone: str
    email: str

    @property
    def slug(self) -> str:
        return slug(self.name)


def draw_names(languages: Sequence[str], count: int, rng: Random) -> list[SampleName]:
    """Return `count` names with distinct last names, because URLs are made from these."""
    lists = [words("names")[language] for language in languages]
    chosen: dict[str, SampleName] = {}
    while len(chosen) < count:
        names, female = rng.choice(lists), rng.random() < 0.5
        name = SampleName(
            rng.choice(names["female" if female else "male"]), rng.choice(names["last"]), female
        )
        chosen.setdefault(slug(name.last), name)
    return list(chosen.values())


def pronouns(name: SampleName, language: str) -> dict[str, str]:
    she, her, her_object = (pair[0 if name.female else 1] for pair in PRONOUNS[language])
    return {"she": she, "her": her, "her_object": her_object}


def title_for(position: str, name: SampleName) -> str:
    """Return the form of a position for a person; `Professorin|Professor` has one for women and one for men."""
    female, _, male = position.partition("|")
    return female if name.female or not male else male


def phone(language: str, number: int) -> str:
    return PHONES[language].format(number % 100)


def spell_date(day: date, language: str, months: Sequence[str]) -> str:
    return DATES[language].format(day.day, months[day.month - 1], day.year)
