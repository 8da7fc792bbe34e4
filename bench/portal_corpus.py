"""Generated papers for benchmarks of the portal and the search index.

Titles and abstracts come from a second-order Markov chain over real ones (`papers/topics/arxiv.jsonl` in the data
folder), or over sentences of the sample web's grammar. Authors, venues and sites are invented; a few are frequent
and most are rare, as in real collections. References prefer papers that are cited already.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wayhound.citations.citation import Citation
from wayhound.record import Record, Value
from wayhound.samples.grammar import Grammar, random_for, words
from wayhound.store.papers import StoredCitation, StoredContext
from wayhound.topics.model import TopicPlacement
from wayhound.topics.tree import TREE_NAME, parse_tree, shipped_trees
from wayhound.workspace import Workspace

TREE = "computer-science"
N_PEOPLE, N_VENUES, N_SITES = 20_000, 300, 400
FIRST_YEAR, LAST_YEAR = 1985, 2024
MAX_REFERENCES = 16
N_GRAMMAR_TEXTS = 1_500
SENTENCE = "In this we follow {}, whose results hold here as well."


@dataclass(frozen=True, slots=True)
class GeneratedPaper:
    """A paper, its topic, and the numbers of the earlier papers that it cites."""

    number: int
    record: Record
    topic: tuple[str, ...]
    cites: tuple[int, ...]


def generate(count: int, data: Path | None = None, seed: int = 0) -> Iterator[Record]:
    """Yield the records of `count` papers, the same for the same seed."""
    return (paper.record for paper in papers(count, data, seed))


def papers(count: int, data: Path | None = None, seed: int = 0) -> Iterator[GeneratedPaper]:
    generator = _PaperGenerator(_texts(data, seed), Random(seed))
    return (generator.paper(number) for number in range(count))


def fill(
    workspace: Workspace,
    count: int,
    data: Path | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Add papers with topics, citations, citing sentences and the topic tree to a workspace."""
    (workspace.folder / TREE_NAME).write_text(shipped_trees()[TREE], "utf-8")
    store, topics = workspace.stores.papers, workspace.stores.topics
    generated = list(papers(count, data, seed))
    workspace.stores.records.save(paper.record for paper in generated)
    titles = {paper.record.id: paper.record.first("title") for paper in generated}
    placements = (TopicPlacement(paper.record.id, paper.topic, 0.9, paper.topic) for paper in generated)
    topics.replace_all(placements, titles)
    for paper in generated:
        store.save_paper(paper.record.id, _citations(paper, generated), _contexts(paper, generated))
        progress(paper.number + 1)


def identity(number: int) -> str:
    return f"p{number:06}"


class _PaperGenerator:
    def __init__(self, texts: Sequence[tuple[str, str]], rng: Random) -> None:
        self._rng = rng
        self._titles = _Chain((title for title, _ in texts), rng)
        self._abstracts = _Chain((abstract for _, abstract in texts), rng)
        self._topics = [topic.path for topic in parse_tree(shipped_trees()[TREE]).leaves]
        self._people = _people(rng)
        self._venues = [
            _venue(self._topics[number % len(self._topics)][-1], number) for number in range(N_VENUES)
        ]
        self._cited: list[int] = []

    def paper(self, number: int) -> GeneratedPaper:
        topic = self._topics[self._skewed(len(self._topics))]
        venue = self._venues[self._skewed(N_VENUES)]
        fields = {
            "title": [self._titles.walk(20).rstrip(".")],
            "author": [self._people[self._skewed(N_PEOPLE)] for _ in range(self._rng.randint(1, 4))],
            "journal" if venue.startswith("Journal") else "booktitle": [venue],
            "year": [str(self._year())],
            "abstract": [self._abstracts.walk(220)],
        }
        site = f"http://cs{self._skewed(N_SITES)}.example/"
        values = {name: tuple(map(Value, texts)) for name, texts in fields.items()}
        return GeneratedPaper(
            number, Record("paper", identity(number), values, site), topic, self._cites(number)
        )

    def _year(self) -> int:
        return LAST_YEAR - int(self._rng.betavariate(1, 2) * (LAST_YEAR - FIRST_YEAR + 1))

    def _skewed(self, count: int) -> int:
        """Return a number below `count`, the small ones most often, close to Zipf's law."""
        return min(count - 1, int(count ** self._rng.random()) - 1)

    def _cites(self, number: int) -> tuple[int, ...]:
        """Draw references: half to any earlier paper, half a repeat of an earlier reference."""
        wanted = min(number, int(self._rng.expovariate(1 / 7)), MAX_REFERENCES)
        cites: set[int] = set()
        for _ in range(wanted):
            again = self._cited and self._rng.random() < 0.5
            cites.add(self._rng.choice(self._cited) if again else self._rng.randrange(number))
        self._cited += cites
        return tuple(sorted(cites - {number}))


class _Chain:
    """A second-order Markov chain over the words of some texts."""

    def __init__(self, texts: Iterator[str], rng: Random) -> None:
        self._rng = rng
        self._next: dict[tuple[str, str], list[str]] = {}
        for text in texts:
            before, last = "", ""
            for word in (*text.split(), ""):
                self._next.setdefault((before, last), []).append(word)
                before, last = last, word

    def walk(self, max_words: int) -> str:
        walked: list[str] = []
        before, last = "", ""
        while len(walked) < max_words:
            word = self._rng.choice(self._next[before, last])
            if not word:
                break
            walked.append(word)
            before, last = last, word
        return " ".join(walked)


def _texts(data: Path | None, seed: int) -> list[tuple[str, str]]:
    """Return titles with their abstracts."""
    if data is None:
        return [_grammar_text(number, seed) for number in range(N_GRAMMAR_TEXTS)]
    lines = (data / "papers" / "topics" / "arxiv.jsonl").read_text("utf-8").splitlines()
    return [(paper["title"], paper["abstract"]) for paper in map(json.loads, lines)]


def _grammar_text(number: int, seed: int) -> tuple[str, str]:
    rng = random_for(seed, "portal", str(number))
    departments = [facts for facts in words("departments").values() if facts["language"] == "en"]
    topic = rng.choice(rng.choice(departments)["topics"])
    rules = {name: topic[name] for name in ("thing", "method", "property")}
    grammar = Grammar({**words("research.en"), **rules}, rng)
    return grammar.generate("title"), grammar.generate("abstract")


def _people(rng: Random) -> list[str]:
    names = words("names")["en"]
    first = names["female"] + names["male"]
    letters = "ABCDEFGHJKLMNPRSTVW"
    return [
        f"{rng.choice(first)} {rng.choice(letters)}. {rng.choice(names['last'])}" for _ in range(N_PEOPLE)
    ]


def _venue(subject: str, number: int) -> str:
    form = ("Journal of {}", "Proceedings of the Conference on {}", "Workshop on {}", "Symposium on {}")[
        number % 4
    ]
    return form.format(subject) + ("" if number < 140 else f" {number // 70}")


def _citations(paper: GeneratedPaper, generated: Sequence[GeneratedPaper]) -> list[StoredCitation]:
    """Return the paper itself and what it cites; the group of a paper is its own number plus one."""
    itself = StoredCitation(paper.record.id, 0, paper.number + 1, _citation(paper.record))
    return [
        itself,
        *(
            StoredCitation(
                paper.record.id, place, cited + 1, _citation(generated[cited].record), f"[{place}]"
            )
            for place, cited in enumerate(paper.cites, 1)
        ),
    ]


def _citation(record: Record) -> Citation:
    authors = ", ".join(value.text for value in record.fields["author"])
    return Citation(record.first("title"), authors, record.first("journal"), record.first("year"))


def _contexts(paper: GeneratedPaper, generated: Sequence[GeneratedPaper]) -> list[StoredContext]:
    return [
        StoredContext(
            paper.record.id, place, _sentence(generated[cited].record, place), 18, 18 + len(f"[{place}]")
        )
        for place, cited in enumerate(paper.cites, 1)
    ]


def _sentence(cited: Record, place: int) -> str:
    return SENTENCE.format(f"[{place}] and {cited.first('author')}")
