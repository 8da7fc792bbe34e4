"""A generated department: consistent people, groups, publications, courses, projects and news."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from wayhound.samples.grammar import Grammar, random_for, slug, words
from wayhound.samples.people import (
    Office,
    Rank,
    SampleName,
    SamplePerson,
    draw_names,
    phone,
    pronouns,
    spell_date,
    title_for,
)

SLUG_WORDS = 6  # of a title, in a URL
RANKS: tuple[Rank, ...] = ("faculty", "student", "staff")


@dataclass(frozen=True, slots=True)
class ResearchGroup:
    area: str
    members: tuple[SamplePerson, ...]

    @property
    def slug(self) -> str:
        return slug(self.area)


@dataclass(frozen=True, slots=True)
class Publication:
    """A paper. `references` are as printed; `cites` are the numbers of those from the same department."""

    number: int
    title: str
    authors: tuple[SamplePerson, ...]
    year: int
    venue: str
    abstract: str
    area: str
    introduction: str
    discussion: str
    references: tuple[str, ...]
    cites: tuple[int, ...]
    has_pdf: bool

    @property
    def slug(self) -> str:
        return "-".join(slug(self.title).split("-")[:SLUG_WORDS])

    @property
    def by(self) -> str:
        return ", ".join(author.name for author in self.authors)

    def reference(self) -> str:
        """Return the paper as one line of a reference list."""
        return f"{self.by}. {self.title}. {self.venue}, {self.year}."


@dataclass(frozen=True, slots=True)
class SampleCourse:
    code: str
    title: str
    teacher: SamplePerson
    text: str
    lectures: tuple[str, ...]
    area: str


@dataclass(frozen=True, slots=True)
class Project:
    acronym: str
    title: str
    members: tuple[SamplePerson, ...]
    text: str
    funder: str
    area: str


@dataclass(frozen=True, slots=True)
class News:
    number: int
    day: date
    dated: str
    title: str
    paragraphs: tuple[str, ...]
    tag: str
    author: SamplePerson

    @property
    def slug(self) -> str:
        return "-".join(slug(self.title).split("-")[:SLUG_WORDS])


@dataclass(frozen=True, slots=True)
class Department:
    name: str
    title: str
    language: str
    office: Office
    welcome: str
    about: str
    months: tuple[str, ...]
    people: tuple[SamplePerson, ...]
    groups: tuple[ResearchGroup, ...]
    publications: tuple[Publication, ...]  # newest first
    courses: tuple[SampleCourse, ...]
    projects: tuple[Project, ...]
    news: tuple[News, ...]  # newest first

    @property
    def short(self) -> str:
        return self.title.partition(",")[0]

    @property
    def university(self) -> str:
        return self.title.rpartition(", ")[2]

    @property
    def years(self) -> list[int]:
        return sorted({publication.year for publication in self.publications}, reverse=True)

    def ranked(self, rank: Rank) -> list[SamplePerson]:
        return sorted((p for p in self.people if p.rank == rank), key=lambda p: slug(p.last))

    def papers_of(self, person: SamplePerson) -> list[Publication]:
        return [paper for paper in self.publications if person in paper.authors]

    def courses_of(self, person: SamplePerson) -> list[SampleCourse]:
        return [course for course in self.courses if course.teacher is person]


def make_department(name: str, seed: int) -> Department:
    return _DepartmentGenerator(name, seed).make()


class _DepartmentGenerator:
    """Generates the parts of one department, in a fixed order from one random generator."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.facts: dict[str, Any] = words("departments")[name]
        self.language: str = self.facts["language"]
        self.rng = random_for(seed, name)
        self.first_year, self.last_year = self.facts["years"]
        self.city: str = self.facts["city"]
        self.grammar = self._grammar(self.language)
        # German computer scientists publish in English.
        self.paper_grammar = self._grammar("fr" if self.language == "fr" else "en")

    def _grammar(self, language: str) -> Grammar:
        return Grammar({**words(f"research.{language}"), **self.facts.get("sentences", {})}, self.rng)

    def make(self) -> Department:
        self.people = tuple(self._people())
        self.groups = tuple(
            ResearchGroup(topic["area"], tuple(p for p in self.people if p.group == topic["area"]))
            for topic in self.facts["topics"]
        )
        grammar = self._about_all()
        founded = str(self.first_year - self.rng.randint(20, 90))
        numbers = {"founded": founded, "people": str(len(self.people)), "groups": str(len(self.groups))}
        return Department(
            name=self.name,
            title=self.facts["title"],
            language=self.language,
            office=self._office(),
            welcome=grammar.generate("welcome", city=self.city, **numbers),
            about=grammar.generate("about", **numbers),
            months=tuple(grammar.rules["months"]),
            people=self.people,
            groups=self.groups,
            publications=tuple(reversed(list(self._publications()))),
            courses=tuple(self._courses()),
            projects=tuple(self._projects()),
            news=tuple(self._news()),
        )

    def _office(self) -> Office:
        street, town = self.facts["address"]
        reach = phone(self.language, 99)
        return Office(self.facts["title"], street, town, "", reach, f"office@{self.name}.example")

    def _about(self, topic: dict[str, Any]) -> Grammar:
        """Return the grammar with a topic's words, in the language of the department's pages."""
        return self.grammar.with_rules(
            {**_word_rules(topic), **topic.get("local", {}), "area": [topic["area"]]}
        )

    def _about_all(self) -> Grammar:
        """Return the grammar with the words of all topics, for texts about the whole department."""
        topics = [{**topic, **topic.get("local", {})} for topic in self.facts["topics"]]
        names = ("thing", "method", "property")
        return self.grammar.with_rules({name: [word for t in topics for word in t[name]] for name in names})

    def _size(self, what: str) -> int:
        return int(self.facts["sizes"][what])

    def _topic(self, area: str) -> dict[str, Any]:
        topics: list[dict[str, Any]] = self.facts["topics"]
        return next((topic for topic in topics if topic["area"] == area), topics[0])

    def _people(self) -> Iterator[SamplePerson]:
        ranks = [rank for rank in RANKS for _ in range(self._size(rank))]
        names = draw_names(self.facts.get("names", [self.language]), len(ranks), self.rng)
        for number, (rank, name) in enumerate(zip(ranks, names, strict=True), start=1):
            yield self._person(number, rank, name)

    def _person(self, number: int, rank: Rank, name: SampleName) -> SamplePerson:
        topic = self.facts["topics"][number % len(self.facts["topics"])]
        grammar = self._about(topic)
        values = {"first": name.first, "last": name.last, "city": self.city, **pronouns(name, self.language)}
        since = self.last_year - 5 if rank == "student" else self.first_year - 12
        joined = self.rng.randint(since, since + 5 if rank == "student" else self.first_year)
        interests = self.rng.sample(grammar.rules["thing"], 3)
        return SamplePerson(
            number=number,
            first=name.first,
            last=name.last,
            rank=rank,
            position=title_for(self.rng.choice(grammar.rules[rank]), name),
            group="" if rank == "staff" else topic["area"],
            email=f"{slug(name.first)[0]}{slug(name.last, '')}@{self.name}.example",
            phone=phone(self.language, number),
            room=f"{self.rng.randint(1, 4)}.{self.rng.randint(1, 40):02}",
            since=joined,
            bio=grammar.generate(f"bio_{rank}", joined=str(joined), **values),
            interests=() if rank == "staff" else tuple(interests),
        )

    def _publications(self) -> Iterator[Publication]:
        """Yield publications, oldest first, so that later ones can cite earlier ones."""
        count, earlier = self._size("publications"), list[Publication]()
        span = self.last_year - self.first_year + 1
        titles: set[str] = set()
        for number in range(1, count + 1):
            year = self.first_year + (number - 1) * span // count
            publication = self._publication(number, year, earlier, titles)
            earlier.append(publication)
            yield publication

    def _publication(
        self, number: int, year: int, earlier: list[Publication], titles: set[str]
    ) -> Publication:
        group = self.groups[number % len(self.groups)]
        topic = self._topic(group.area)
        area = topic.get("area_en", group.area)
        grammar = self.paper_grammar.with_rules({**_word_rules(topic), "area": [area]})
        title = grammar.generate_new("title", titles, SLUG_WORDS)
        leader, *others = self.rng.sample([p for p in group.members if p.rank == "faculty"], 2)
        others += [p for p in group.members if p.rank == "student" and p.since <= year]
        authors = [*self.rng.sample(others, min(len(others), self.rng.randint(0, 2))), leader]
        cited = self.rng.sample(earlier, min(len(earlier), self.rng.randint(1, 3)))
        references = [paper.reference() for paper in cited] + [
            self._outside_reference(grammar, year) for _ in "abc"
        ]
        return Publication(
            number=number,
            title=title,
            authors=tuple(authors),
            year=year,
            venue=grammar.generate("venue"),
            abstract=grammar.generate("abstract"),
            area=group.area,
            introduction=grammar.generate("introduction"),
            discussion=grammar.generate("discussion"),
            references=tuple(sorted(references)),
            cites=tuple(sorted(paper.number for paper in cited)),
            has_pdf=number % 3 != 0,
        )

    def _outside_reference(self, grammar: Grammar, year: int) -> str:
        names = draw_names(["en", "de", "fr"], self.rng.randint(1, 3), self.rng)
        by = ", ".join(str(name) for name in names)
        when = year - self.rng.randint(1, 20)
        return f"{by}. {grammar.generate('title')}. {grammar.generate('venue')}, {when}."

    def _courses(self) -> Iterator[SampleCourse]:
        teachers, titles = [p for p in self.people if p.rank == "faculty"], set[str]()
        for number in range(self._size("courses")):
            teacher = teachers[number % len(teachers)]
            grammar = self._about(self._topic(teacher.group))
            title = grammar.generate_new("course_name", titles, SLUG_WORDS)
            lectures = tuple(grammar.generate("lecture") for _ in range(8))
            code = f"{self.facts['code']}{101 + 100 * (number % 4) + number}"
            yield SampleCourse(code, title, teacher, grammar.generate("course_text"), lectures, teacher.group)

    def _projects(self) -> Iterator[Project]:
        titles = set[str]()
        for number in range(self._size("projects")):
            group = self.groups[number % len(self.groups)]
            grammar = self._about(self._topic(group.area))
            title = grammar.generate_new("project_name", titles, SLUG_WORDS)
            members = tuple(self.rng.sample(group.members, 4))
            acronym = "".join(word[0] for word in slug(title).split("-")).upper() + str(number + 1)
            yield Project(
                acronym,
                title,
                members,
                grammar.generate("project_text"),
                grammar.generate("funder"),
                group.area,
            )

    def _news(self) -> Iterator[News]:
        """Yield news, newest first, a few weeks apart."""
        day, titles = date(self.last_year, 12, 12), set[str]()
        for number in range(self._size("news"), 0, -1):
            group = self.groups[number % len(self.groups)]
            author = self.rng.choice(group.members)
            grammar = self._about(self._topic(group.area))
            title = grammar.generate_new("news_title", titles, SLUG_WORDS, name=author.name)
            paragraphs = tuple(grammar.generate("news_story", name=author.name).split("\n"))
            dated = spell_date(day, self.language, grammar.rules["months"])
            yield News(number, day, dated, title, paragraphs, tag=group.area, author=author)
            day -= timedelta(days=self.rng.randint(12, 40))


def _word_rules(topic: dict[str, Any]) -> dict[str, list[str]]:
    return {name: topic[name] for name in ("thing", "method", "property")}
