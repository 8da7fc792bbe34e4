"""Papers from PDF: speed, hostile files, and the accuracy of front matter and references.

Reads `papers/pdf/aistats2007` of the data folder: PDFs with title, authors and abstract in the `.md` of the same
name. Some of these describe another paper: none of their authors, or little of their abstract, is on its first page.
Bars are for the others. References are compared with `reference_counts.tsv`, counted by hand in at least fifteen of
the PDFs.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import resource
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.papers.models import WorkspaceModels
from wayhound.documents.document import Document, Unread
from wayhound.documents.limits import DEFAULT_LIMITS, ReadingLimits
from wayhound.documents.reader import DocumentReader
from wayhound.papers import header_reader
from wayhound.papers.contexts import find_contexts
from wayhound.papers.front_layout import FrontTexts
from wayhound.papers.front_layout import read_front_by_layout as read_front
from wayhound.papers.paper import PaperModels, read_paper
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import find_sections, reference_lines

COUNTS = Path(__file__).with_name("reference_counts.tsv")
LEAST_PAPERS_A_SECOND = 8
PAGES_OF_A_PAPER = 10
ROUNDS = 5
MUTATIONS = 1_000
LEAST = {"title": 0.95, "authors": 0.90, "abstract": 0.85}
LEAST_COUNTS = 0.90
OVERLAP = 0.95
MUTATION_LIMITS = ReadingLimits(wall_seconds=10, cpu_seconds=8)
SLOWEST_MUTATION = 20.0  # wall-clock seconds for the caller
SLOWEST_POSTSCRIPT = 3 * DEFAULT_LIMITS.wall_seconds + 10  # converting, reading, converting to text


@dataclass(frozen=True, slots=True)
class Paper:
    """A PDF of the data and its description."""

    name: str
    body: bytes
    truth: FrontTexts


def papers_below(data: Path) -> list[Paper]:
    folder = data / "papers" / "pdf" / "aistats2007"
    return [
        Paper(path.stem, path.read_bytes(), described(path.with_suffix(".md").read_text()))
        for path in sorted(folder.glob("*.pdf"))
    ]


def described(text: str) -> FrontTexts:
    """Return title, authors and abstract of a description in simple YAML."""
    authors = re.findall(r"^- given: (.*)\n  family: (.*)$", text, re.MULTILINE)
    names = tuple(f"{_unquoted(given)} {_unquoted(family)}" for given, family in authors)
    return FrontTexts(_scalar(text, "title"), names, _scalar(text, "abstract"))


def _scalar(text: str, key: str) -> str:
    match = re.search(rf"^{key}: (.*(?:\n  .*|\n(?=\n  ))*)", text, re.MULTILINE)
    return _unquoted(" ".join(match[1].split())) if match else ""


def _unquoted(value: str) -> str:
    value = value.strip()
    if value[:1] == value[-1:] == "'":
        return value[1:-1].replace("''", "'")
    if value[:1] == value[-1:] == '"':
        return value[1:-1].replace('\\"', '"').encode().decode("unicode_escape")
    return value


def plain(text: str) -> str:
    """Return only letters and digits, without accents, TeX and ligatures, which descriptions lack in part."""
    text = re.sub(r"\\[A-Za-z]+|[${}]", " ", text)
    folded = unicodedata.normalize("NFKD", text).casefold()
    return re.sub(r"f+[il]?", "f", "".join(letter for letter in folded if letter.isalnum()))


def same_authors(names: tuple[str, ...], true: tuple[str, ...]) -> bool:
    """Return True for the same last names: only one of both lists may spell out first names."""
    return sorted(map(_last_name, names)) == sorted(map(_last_name, true))


def _last_name(name: str) -> str:
    return plain(name.rpartition(" ")[2])


def overlap(text: str, true: str) -> float:
    """Return twice the number of common words, in order, over that of all words."""
    return SequenceMatcher(None, _words(text), _words(true), autojunk=False).ratio()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKD", text).casefold())


def describes(truth: FrontTexts, document: Document) -> bool:
    """Return True if an author and most words of the abstract are on the first page."""
    page = " ".join(line.text for line in document.pages[0].lines)
    on_page, letters = set(_words(page)), plain(page)
    long_words = [word for word in _words(truth.abstract) if len(word) > 5]
    some_author = any(_last_name(author) in letters for author in truth.authors)
    return some_author and sum(word in on_page for word in long_words) > 0.5 * len(long_words)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def speed_report(papers: list[Paper], rounds: int) -> Report:
    """Measure reading with the boxes of all lines, and of words where fields are read.

    The start of the reading process is included. The best round counts, because others share the machine.
    """
    rows: list[list[Cell]] = []
    for number in range(1, rounds + 1):
        pages, spent = _read_once(papers)
        rows.append(
            [number, len(papers), pages, spent, 1000 * spent / pages, pages / PAGES_OF_A_PAPER / spent]
        )
    best = max(float(row[-1] or 0) for row in rows)
    header = ["round", "files", "pages", "CPU s", "ms a page", "ten-page papers a CPU s"]
    return Report(
        "Speed", header, rows, [Bar("ten-page papers a CPU second", best, least=LEAST_PAPERS_A_SECOND)]
    )


def _read_once(papers: list[Paper]) -> tuple[int, float]:
    before, pages = cpu_seconds(), 0
    with DocumentReader() as reader:
        for paper in papers:
            outcome = reader.read(paper.body)
            pages += len(outcome.pages) if isinstance(outcome, Document) else outcome.n_pages
    return pages, cpu_seconds() - before


def front_report(documents: dict[str, Document], papers: list[Paper]) -> Report:
    """Measure title, authors and abstract, by layout alone and by the header model."""
    descriptions = {paper.name: paper.truth for paper in papers if paper.name in documents}
    truths = {name: truth for name, truth in descriptions.items() if describes(truth, documents[name])}
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    details: dict[str, list[str]] = {"described wrongly": sorted(descriptions.keys() - truths.keys())}
    for name, read in front_readers().items():
        fronts = {key: read(document) for key, document in documents.items()}
        everywhere, _ = front_shares(fronts, descriptions)
        shares, wrong = front_shares(fronts, truths)
        rows.append([f"{name}, all files", len(descriptions), *everywhere.values()])
        rows.append([name, len(truths), *shares.values()])
        bars = [Bar(f"{part} right, by {name}", shares[part], least=least) for part, least in LEAST.items()]
        details |= {f"{name}: {part} wrong": names for part, names in wrong.items()}
    header = ["by", "papers", "title", "all authors", f"abstract ({OVERLAP:.0%} overlap)"]
    title = f"Front matter, share right ({len(descriptions) - len(truths)} files are described wrongly)"
    return Report(title, header, rows, bars, {"wrong": details})


def front_readers() -> dict[str, Callable[[Document], FrontTexts]]:
    """Return the methods to read front matter; the bars are for the last one."""
    return {"layout": read_front, "model and layout": by_model}


def by_model(document: Document) -> FrontTexts:
    """Read front matter with the shipped header model and the layout, as the product does."""
    matter = header_reader.read_front_matter(document)
    title, abstract = matter.title, matter.abstract
    return FrontTexts(
        title.text if title else "",
        tuple(person.full for person in matter.authors),
        abstract.text if abstract else "",
    )


def front_shares(
    fronts: dict[str, FrontTexts], truths: dict[str, FrontTexts]
) -> tuple[dict[str, float], dict[str, list[str]]]:
    wrong = {
        "title": [key for key, true in truths.items() if plain(fronts[key].title) != plain(true.title)],
        "authors": [
            key for key, true in truths.items() if not same_authors(fronts[key].authors, true.authors)
        ],
        "abstract": [
            key for key, true in truths.items() if overlap(fronts[key].abstract, true.abstract) < OVERLAP
        ],
    }
    return {part: 1 - len(names) / max(1, len(truths)) for part, names in wrong.items()}, wrong


def references_report(documents: dict[str, Document]) -> Report:
    """Compare the references with those counted by hand, and count those with a call-out."""
    counted = dict(line.split("\t") for line in COUNTS.read_text().splitlines()[1:])
    rows: list[list[Cell]] = []
    for name, count in counted.items():
        if name in documents:
            references = cut_references(reference_lines(documents[name]))
            contexts = find_contexts(documents[name], references)
            cited = len({context.reference for context in contexts})
            rows.append([name, int(count), len(references), cited, len(contexts)])
    near = sum(abs(int(row[1] or 0) - int(row[2] or 0)) <= 1 for row in rows)
    bars = [
        Bar("share of PDFs with counts within one", near / len(rows) if rows else None, least=LEAST_COUNTS),
        Bar("PDFs counted by hand", len(rows), least=15),
    ]
    return Report("References", ["PDF", "counted", "cut", "cited", "call-outs"], rows, bars)


def papers_report(outcomes: dict[str, Document | Unread]) -> Report:
    """Count the verdicts and the reasons of files that cannot be read."""
    verdicts = Counter(
        find_sections(outcome).verdict if isinstance(outcome, Document) else outcome.reason
        for outcome in outcomes.values()
    )
    return Report("Verdicts", ["verdict", "files"], [[name, count] for name, count in verdicts.most_common()])


def mutated(bodies: list[bytes], count: int) -> Iterator[tuple[str, bytes]]:
    """Yield real files with random damage: flipped bits, cut ends, spliced chunks, garbage in tables."""
    chance = random.Random(2007)
    kinds: dict[str, Callable[[random.Random, bytes, bytes], bytes]] = {
        "flipped bits": _flipped,
        "cut short": lambda chance, body, _: body[: chance.randrange(1, len(body))],
        "spliced": _spliced,
        "garbage xref": _garbage_xref,
        "wild numbers": _wild_numbers,
    }
    for number in range(count):
        name = list(kinds)[number % len(kinds)]
        yield name, kinds[name](chance, chance.choice(bodies), chance.choice(bodies))


def _flipped(chance: random.Random, body: bytes, _: bytes) -> bytes:
    damaged = bytearray(body)
    for _flip in range(chance.choice((1, 10, 100, 1000))):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _spliced(chance: random.Random, body: bytes, other: bytes) -> bytes:
    at, start = chance.randrange(len(body)), chance.randrange(len(other))
    chunk = other[start : start + chance.randrange(1, 20_000)]
    return body[:at] + chunk + body[at + chance.choice((0, len(chunk))) :]


def _garbage_xref(chance: random.Random, body: bytes, _: bytes) -> bytes:
    at = body.rfind(b"xref")
    at = body.rfind(b"xref", 0, max(0, at - 5)) if body[max(0, at - 5) : at] == b"start" else at
    at = max(0, at)
    length = chance.randrange(20, 2_000)
    return body[:at] + chance.randbytes(length) + body[at + length :]


def _wild_numbers(chance: random.Random, body: bytes, _: bytes) -> bytes:
    """Replace lengths, counts and references by numbers that are too large, negative or circular."""
    wild = (b"2147483647", b"-1", b"0", b"99999999999", b"1")

    def replaced(match: re.Match[bytes]) -> bytes:
        return match[1] + chance.choice(wild) if chance.random() < 0.2 else match[0]

    return re.sub(
        rb"(/(?:Length|Count|Size|Prev|W|Kids|First|N|Width|Height|Parent|Contents)\s*\[?)\d+", replaced, body
    )


def endurance_report(
    title: str, files: Iterable[tuple[str, bytes]], limits: ReadingLimits, most_seconds: float, sound: bytes
) -> Report:
    """Check that every file becomes a record or a reason in time, and that the reader keeps working.

    `files` are kinds and bodies; fields and references are read as well. `sound` is a file that is read at the end.
    """
    outcomes: dict[str, Counter[str]] = {}
    seconds, raised = [0.0], list[str]()
    models = WorkspaceModels(Path()).load()
    with DocumentReader(limits, workers=2) as reader:
        for kind, body in files:
            started = time.monotonic()
            try:
                name = _outcome(reader.read(body), models)
            except Exception as error:  # noqa: BLE001 - counted, and the bar is missed
                name = type(error).__name__
                raised.append(f"{kind}: {error!r}")
            seconds.append(time.monotonic() - started)
            outcomes.setdefault(kind, Counter())[name] += 1
        alive = isinstance(reader.read(sound), Document)
    names = sorted({name for counter in outcomes.values() for name in counter})
    rows: list[list[Cell]] = [[kind, *(counts[name] for name in names)] for kind, counts in outcomes.items()]
    bars = [
        Bar("files that raised an exception or have no reason", len(raised), most=0),
        Bar("slowest file, seconds", max(seconds), most=most_seconds),
        Bar("a sound file is still read afterwards", int(alive), least=1),
    ]
    return Report(f"{len(seconds) - 1} {title}", ["kind", *names], rows, bars, {"raised": raised})


def _outcome(read: Document | Unread, models: PaperModels) -> str:
    if isinstance(read, Document):
        return read_paper(read, models, "").kind
    if not read.detail:
        raise ValueError(f"No sentence explains why the file is {read.reason}.")
    return read.reason


def unpacked(body: bytes) -> bytes:
    """Return the content of a file that may be packed by gzip, as those of documentation are."""
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def postscript_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the PostScript files below a folder with the name of the program that made them, each content once."""
    bodies = dict.fromkeys(path.read_bytes() for path in sorted(folder.rglob("*.ps*")) if path.is_file())
    for body in bodies:
        creator = re.search(rb"%%Creator:\W*([A-Za-z]\w+)", unpacked(body)[:5_000])
        yield creator[1].decode().lower() if creator else "not named", body


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--mutations", type=int, default=MUTATIONS, help="how many damaged files to read")
    parser.add_argument(
        "--postscript", type=Path, metavar="FOLDER", help="also read all PostScript files below this folder"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often to read all files for speed")
    arguments = parser.parse_args()
    papers = papers_below(arguments.data)
    with DocumentReader() as reader:
        outcomes = {paper.name: reader.read(paper.body) for paper in papers}
    documents = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Document)}
    reports = [
        speed_report(papers, arguments.rounds),
        papers_report(outcomes),
        front_report(documents, papers),
        references_report(documents),
        endurance_report(
            "mutations of real PDFs",
            mutated([paper.body for paper in papers], arguments.mutations),
            MUTATION_LIMITS, SLOWEST_MUTATION, papers[0].body,
        ),
    ]  # fmt: skip
    if arguments.postscript:
        files = postscript_files(arguments.postscript)
        reports.append(
            endurance_report("PostScript files", files, DEFAULT_LIMITS, SLOWEST_POSTSCRIPT, papers[0].body)
        )
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())
