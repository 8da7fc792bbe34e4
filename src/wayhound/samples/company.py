"""A generated company: consistent products, news, team and offices, from which its pages are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from wayhound.samples.department import News
from wayhound.samples.grammar import Grammar, random_for, slug, words
from wayhound.samples.people import (
    Office,
    SampleName,
    SamplePerson,
    draw_names,
    phone,
    pronouns,
    spell_date,
    title_for,
)


@dataclass(frozen=True, slots=True)
class Product:
    number: int
    name: str
    category: str
    price: int
    text: str
    material: str

    @property
    def slug(self) -> str:
        return slug(self.name)


@dataclass(frozen=True, slots=True)
class Company:
    name: str
    title: str
    language: str
    tagline: str
    founded: int
    about: tuple[str, ...]
    months: tuple[str, ...]
    categories: tuple[str, ...]
    products: tuple[Product, ...]
    news: tuple[News, ...]  # newest first
    team: tuple[SamplePerson, ...]
    offices: tuple[Office, ...]
    extras: tuple[tuple[str, str], ...]  # title and text of small pages such as terms and jobs

    def products_in(self, category: str) -> list[Product]:
        return [product for product in self.products if product.category == category]


def make_company(name: str, seed: int) -> Company:
    return _CompanyGenerator(name, seed).make()


class _CompanyGenerator:
    """Generates the parts of one company, in a fixed order from one random generator."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.facts: dict[str, Any] = words("companies")[name]
        self.language: str = self.facts["language"]
        self.rng = random_for(seed, name)
        self.first_year, self.last_year = self.facts["years"]
        self.categories: list[dict[str, Any]] = self.facts["categories"]
        own = {rule: self.facts[rule] for rule in ("prefix", "material", "use")}
        own["noun"] = [noun for category in self.categories for noun in category["noun"]]
        rules = {**words(f"business.{self.language}"), **own, **self.facts.get("sentences", {})}
        self.grammar = Grammar({**rules, "month": rules["months"], "title": [self.facts["title"]]}, self.rng)

    def make(self) -> Company:
        self.team = tuple(self._team())
        self.products = tuple(self._products())
        numbers = {"founded": str(self.facts["founded"]), "people": str(len(self.team) * 3)}
        return Company(
            name=self.name,
            title=self.facts["title"],
            language=self.language,
            tagline=self.facts["tagline"],
            founded=self.facts["founded"],
            about=(
                self.grammar.generate("about", **numbers),
                self.grammar.generate("news_text", worker=self.team[0].name),
            ),
            months=tuple(self.grammar.rules["months"]),
            categories=tuple(category["name"] for category in self.categories),
            products=self.products,
            news=tuple(self._news()),
            team=self.team,
            offices=tuple(self._offices()),
            extras=tuple(
                (title, self.grammar.generate("extra_text")) for title in self.grammar.rules["extra_title"]
            ),
        )

    def _team(self) -> Iterator[SamplePerson]:
        names = draw_names([self.language], self.facts["sizes"]["team"], self.rng)
        positions = self.grammar.rules["staff"]
        for number, name in enumerate(names, start=1):
            yield self._person(number, name, title_for(positions[(number - 1) % len(positions)], name))

    def _person(self, number: int, name: SampleName, position: str) -> SamplePerson:
        values = {"first": name.first, "last": name.last, **pronouns(name, self.language)}
        since = self.rng.randint(max(self.facts["founded"], self.first_year - 15), self.first_year)
        bio = self.grammar.generate("bio_staff", joined=str(since), **values)
        return SamplePerson(
            number=number,
            first=name.first,
            last=name.last,
            rank="staff",
            position=position,
            group="",
            email=f"{slug(str(name), '.')}@{self.name}.example",
            phone=phone(self.language, number),
            room="",
            since=since,
            bio=bio,
        )

    def _products(self) -> Iterator[Product]:
        names = [self._names_in(category) for category in self.categories]
        for number in range(1, self.facts["sizes"]["products"] + 1):
            which = number % len(self.categories)
            prefix, noun = names[which].pop()
            # German pumps have model numbers, other products have unique names.
            name = f"{noun} {prefix} {number}0" if self.language == "de" else f"{prefix} {noun}"
            yield self._product(number, name, noun, self.categories[which])

    def _names_in(self, category: dict[str, Any]) -> list[tuple[str, str]]:
        names = [(prefix, noun) for prefix in self.facts["prefix"] for noun in category["noun"]]
        self.rng.shuffle(names)
        return names * 2 if self.language == "de" else names

    def _product(self, number: int, name: str, noun: str, category: dict[str, Any]) -> Product:
        material = self.rng.choice(category.get("material", self.facts["material"]))
        text = self.grammar.generate("product_text", name=name, noun=noun, material=material)
        return Product(number, name, category["name"], self.rng.randint(3, 240), text, material)

    def _news(self) -> Iterator[News]:
        """Yield news, newest first, a few weeks apart."""
        day, titles = date(self.last_year, 11, 28), set[str]()
        for number in range(self.facts["sizes"]["news"], 0, -1):
            author = self.rng.choice(self.team)
            name = self.rng.choice(self.products).name
            title = self.grammar.generate_new("news_title", titles, name=name)
            paragraphs = tuple(self.grammar.generate("news_story", worker=author.name).split("\n"))
            tag = self.categories[number % len(self.categories)]["name"]
            dated = spell_date(day, self.language, self.grammar.rules["months"])
            yield News(number, day, dated, title, paragraphs, tag=tag, author=author)
            day -= timedelta(days=self.rng.randint(10, 50))

    def _offices(self) -> Iterator[Office]:
        for number, (name, street, town, country) in enumerate(self.facts["offices"], start=90):
            box = "info" if number == 90 else slug(name).rpartition("-")[2]
            reach = phone(self.language, number)
            yield Office(name, street, town, country, reach, f"{box}@{self.name}.example")
