"""Papers of many venues against their LaTeX sources: title, authors, year, DOI, venue and references.

FOLDER has a folder for each kind of venue, with PDFs and their sources below it (`NAME.pdf`, and `NAME.tex` or
`NAME.Rnw` in the same package), as packages of documentation have them; `--fetch` downloads those of Debian. A file is
`looked at` if the first digit of its digest is even: rules are written by looking at these, and the bars are for the
others. Of theses, books and reports only the references count. The values of papers in `journals` were typed in by
hand (`journal_papers.tsv`, which also says which were looked at).

`--resume FILE` keeps what was measured, so that a call that was interrupted goes on; after a change of the readers or
of the truth all is measured anew.

`--pdftitle PROGRAM` also asks pdftitle (`pip install pdftitle` in an environment of its own) for the title of each.

    python -m bench.papers_venues --files FOLDER --fetch --data FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import wayhound
from bench.latex_gold import PaperGold, gold_of
from bench.pdf import described, plain, unpacked
from bench.report import (
    Bar,
    Cell,
    Report,
    add_data_option,
    add_output_options,
    finish,
)
from bench.venue_packages import fetch_all
from wayhound.app.papers.models import WorkspaceModels
from wayhound.documents.document import Document
from wayhound.documents.reader import DocumentReader
from wayhound.papers.paper import PaperModels, ReadPaper, read_paper

FIELDS = ("title", "authors", "year", "doi", "venue")
PEER = "pdftitle"
HAND_GOLD, BY_HAND = Path(__file__).with_name("journal_papers.tsv"), "journals"
LEAST = {"title": 0.90, "authors": 0.85, "year": 0.90, "doi": 0.95, "venue": 0.80}
LEAST_REFERENCES = {"English": 0.95, "German": 0.92}
LEAST_COUNTS = 0.80
FRONT_PAGES = 2
MIN_REFERENCES = 4
SHORT_NAME = 12  # letters of the name of a venue that may be words of a sentence as well
GERMAN_WORDS, ENGLISH_WORDS = (
    ("der", "die", "und", "das", "mit", "von"),
    ("the", "of", "and", "to", "is", "for"),
)


@dataclass(frozen=True, slots=True)
class VenueFile:
    """A PDF with what its source says."""

    kind: str
    path: Path
    body: bytes
    gold: PaperGold
    split: str = ""  # of a paper in the table; the others are split by their digests

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.path.name}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    @property
    def key(self) -> str:
        """The file and its truth, to find what was measured before."""
        truth = asdict(self.gold) | {"years": sorted(self.gold.years)}
        return hashlib.sha256(f"{self.digest} {truth}".encode()).hexdigest()[:16]

    @property
    def looked_at(self) -> bool:
        return self.split == "looked at" if self.split else int(self.digest[0], 16) % 2 == 0


@dataclass(frozen=True, slots=True)
class ListCounts:
    """Counts of one list of references; `length` is that of the true list, of which `printed` can be compared."""

    language: str
    printed: int
    cut: int
    recalled: int
    precise: int
    length: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was right of one file: the fields that it prints, its references, and notes for people who look at it."""

    is_paper: bool
    fields: dict[str, bool]
    confidence: float | None = None  # of the title
    references: ListCounts | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Outcome:
        counts = values["references"]
        return cls(
            values["is_paper"],
            values["fields"],
            values["confidence"],
            ListCounts(**counts) if counts else None,
            tuple(values["notes"]),
        )


@dataclass
class ListTally:
    """Counts over lists of references."""

    lists: int = 0
    printed: int = 0
    cut: int = 0
    recalled: int = 0
    precise: int = 0
    near: int = 0  # lists whose length is right within one

    def add(self, *, printed: int, cut: int, recalled: int, precise: int, length: int) -> None:
        """Add a list; `length` is that of the true list, of which `printed` entries can be compared."""
        self.lists += 1
        self.printed += printed
        self.cut += cut
        self.recalled += recalled
        self.precise += precise
        self.near += abs(cut - length) <= 1

    @property
    def f1(self) -> float | None:
        if not self.printed or not self.cut:
            return None
        recall, precision = self.recalled / self.printed, self.precise / self.cut
        return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


@dataclass
class Tally:
    """Right and measured of each field, and lists of references by language."""

    right: Counter[str] = field(default_factory=Counter)
    measured: Counter[str] = field(default_factory=Counter)
    files: int = 0
    papers: int = 0
    references: dict[str, ListTally] = field(default_factory=lambda: defaultdict(ListTally))
    confidence: list[tuple[float, bool]] = field(default_factory=list)  # of titles

    def add(self, outcome: Outcome) -> None:
        self.files += 1
        self.papers += outcome.is_paper
        self.measured.update(outcome.fields.keys())
        self.right.update(name for name, right in outcome.fields.items() if right)
        if outcome.confidence is not None and "title" in outcome.fields:
            self.confidence.append((outcome.confidence, outcome.fields["title"]))
        if counts := outcome.references:
            for name in (counts.language, "all"):
                self.references[name].add(
                    printed=counts.printed,
                    cut=counts.cut,
                    recalled=counts.recalled,
                    precise=counts.precise,
                    length=counts.length,
                )

    def share(self, name: str) -> float | None:
        return self.right[name] / self.measured[name] if self.measured[name] else None


def found_by_hand(folder: Path) -> Iterator[VenueFile]:
    """Yield the PDF and PostScript files below a folder whose values people typed in, found by their digests."""
    table = [line.split("\t") for line in HAND_GOLD.read_text().splitlines()[1:]]
    golds = {row[0]: row for row in table}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest = hashlib.sha256(body := unpacked(path.read_bytes())).hexdigest()[:12]
        if row := golds.pop(digest, None):
            _, _, split, title, authors, year, doi, venue = row
            gold = PaperGold(
                title,
                authors=tuple(filter(None, authors.split("; "))),
                years=frozenset(filter(None, year.split("; "))),
                doi=doi,
                venues=tuple(filter(None, venue.split("; "))),
            )
            yield VenueFile(BY_HAND, path, body, gold, split)


def find_files(folder: Path) -> Iterator[VenueFile]:
    """Yield every PDF whose package has a source of the same name, once for each content."""
    yield from found_by_hand(folder / BY_HAND)
    seen: set[str] = set()
    for kind in sorted(path for path in folder.iterdir() if path.is_dir()):
        for package in sorted(kind.iterdir()):
            sources: dict[str, list[Path]] = defaultdict(list)
            for path in sorted(package.rglob("*")):
                if re.search(r"\.(?:tex|rnw)(?:\.gz)?$", path.name, re.IGNORECASE):
                    sources[path.name.split(".")[0].lower()].append(path)
            for path in sorted(package.rglob("*.pdf*")):
                candidates = sources.get(path.name.split(".")[0].lower(), [])
                source = min(candidates, key=lambda other: _distance(other, path), default=None)
                if source is None or _distance(source, path) > 3:
                    continue
                body = unpacked(path.read_bytes())
                digest = hashlib.sha256(body).hexdigest()
                gold = gold_of(source)
                if digest not in seen and (gold.title or gold.references):
                    seen.add(digest)
                    yield VenueFile(kind.name, path, body, gold)


def _peer_title(program: Path, body: bytes) -> str:
    """Return the title that pdftitle finds; empty if it finds none, fails or takes longer than a minute."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as copy:
        copy.write(body)
        copy.flush()
        command = [str(program), "-p", copy.name]
        try:
            run = subprocess.run(
                command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
            )
        except subprocess.TimeoutExpired:
            return ""
    return run.stdout.decode("utf-8", "replace").strip()


def _distance(one: Path, other: Path) -> int:
    shared = sum(left == right for left, right in zip(one.parent.parts, other.parent.parts, strict=False))
    return len(one.parent.parts) + len(other.parent.parts) - 2 * shared


def described_files(data: Path) -> Iterator[VenueFile]:
    """Yield the papers of one conference that have descriptions."""
    for path in sorted((data / "papers" / "pdf" / "aistats2007").glob("*.pdf")):
        truth = described(path.with_suffix(".md").read_text())
        yield VenueFile("aistats", path, path.read_bytes(), PaperGold(truth.title, authors=truth.authors))


def measure(file: VenueFile, document: Document, read: ReadPaper, peer_title: str | None = None) -> Outcome:
    """Compare what was read with the truth; `peer_title` is what pdftitle says, if it was asked."""
    fields = {name: [value.text for value in values] for name, values in read.fields.items()}
    judged = list(_judged(file.gold, fields, _text(document, FRONT_PAGES)))
    right = {name: is_right for name, is_right, _ in judged}
    if "title" in right and peer_title is not None:
        right[PEER] = plain(peer_title) == plain(file.gold.title)
    titles = read.fields.get("title")
    counts = _measure_references(file.gold, document, [reference.text for reference in read.references])
    notes = [f"{name}: {note}" for name, is_right, note in judged if not is_right]
    if counts and (counts.recalled, counts.precise) != (counts.printed, counts.cut):
        notes.append(
            f"references: {counts.recalled} of {counts.printed} found, {counts.precise} of {counts.cut} right"
        )
    confidence = titles[0].confidence if titles else None
    return Outcome(read.kind == "paper", right, confidence, counts, tuple(notes))


def _judged(gold: PaperGold, fields: dict[str, list[str]], front: str) -> Iterator[tuple[str, bool, str]]:
    """Yield each field that the first pages print, True if it was read right, and a note on both."""
    letters = plain(front)
    if gold.title and gold.title_is_sure and plain(gold.title) in letters:
        title = _first(fields, "title")
        yield "title", plain(title) == plain(gold.title), f"{title!r} for {gold.title!r}"
    if gold.authors and all(_last(name) in letters for name in gold.authors):
        names = fields.get("author", [])
        right = sorted(map(_last, names)) == sorted(map(_last, gold.authors))
        yield "authors", right, f"{names} for {list(gold.authors)}"
    if printed := {year for year in gold.years if year in front}:
        year = _first(fields, "year")
        yield "year", year in printed, f"{year!r} for {sorted(printed)}"
    if gold.doi and plain(gold.doi) in letters:
        doi = _first(fields, "doi")
        yield "doi", plain(doi) == plain(gold.doi), f"{doi!r} for {gold.doi!r}"
    if venues := [name for name in gold.venues if _is_named(name, front, letters)]:
        venue = _first(fields, "journal") or _first(fields, "booktitle")
        yield "venue", any(_same_venue(venue, name) for name in venues), f"{venue!r} for {venues}"


def _is_named(venue: str, front: str, letters: str) -> bool:
    """Return True if the pages print a venue; a short name has to have its capitals, as words have none."""
    is_short = len(plain(venue)) < SHORT_NAME
    return len(plain(venue)) > 3 and plain(venue) in letters and (not is_short or venue in front)


def _same_venue(read: str, gold: str) -> bool:
    """Return True if one contains the other, or if one is the initials of the other: JACM, Journal of the ACM."""
    initials = "".join(
        word if word.isupper() else word[0] for word in re.findall(r"\w+", read) if word[0].isupper()
    )
    contained = bool(read) and (plain(gold) in plain(read) or plain(read) in plain(gold))
    return contained or plain(initials) == plain(gold)


def _measure_references(gold: PaperGold, document: Document, cut: list[str]) -> ListCounts | None:
    whole = plain(_text(document, len(document.pages)))
    printed = [
        text
        for text in gold.references
        if len(plain(text)) > 10 and _is_in(text, whole, gold.whole_references)
    ]
    if len(printed) < max(MIN_REFERENCES, 0.9 * len(gold.references)):
        return None  # the PDF was made from another version of the source
    texts = [plain(text) for text in cut]
    if gold.whole_references:
        recalled = sum(any(dice(plain(text), other) >= 0.9 for other in texts) for text in printed)
        precise = sum(any(dice(plain(text), other) >= 0.9 for text in gold.references) for other in texts)
    else:
        recalled = sum(any(_has_title(other, plain(text)) for other in texts) for text in printed)
        precise = sum(any(_has_title(other, plain(text)) for text in gold.references) for other in texts)
    return ListCounts(
        language_of(document), len(printed), len(texts), recalled, precise, len(gold.references)
    )


def _is_in(text: str, whole: str, is_reference: bool) -> bool:
    letters = plain(text)
    return (letters[:30] if is_reference else letters[:200]) in whole


def _has_title(reference: str, title: str) -> bool:
    """Return True if most 4-grams of a title are in a reference: formulas are written in another way in a source."""
    parts = {title[at : at + 4] for at in range(min(len(title), 200) - 3)}
    return bool(parts) and sum(part in reference for part in parts) >= 0.85 * len(parts)


def language_of(document: Document) -> str:
    """Return German for a text with more small words of German than of English, and English for any other."""
    words = Counter(re.findall(r"[a-z]+", _text(document, len(document.pages)).lower()))
    german, english = (sum(words[word] for word in few) for few in (GERMAN_WORDS, ENGLISH_WORDS))
    return "German" if german > english else "English"


def dice(one: str, other: str) -> float:
    left, right = ({text[at : at + 4] for at in range(len(text) - 3)} for text in (one, other))
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def _text(document: Document, pages: int) -> str:
    return " ".join(line.text for page in document.pages[:pages] for line in page.lines)


def _first(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


def _last(name: str) -> str:
    return plain(re.sub(r",?\s+(?:Jr|Sr|II|III)\.?$", "", name).rpartition(" ")[2])


def reliability(pairs: list[tuple[float, bool]]) -> Report:
    """Compare the confidence of titles with the share that is right."""
    rows: list[list[Cell]] = []
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        inside = [(said, right) for said, right in pairs if low <= said < high]
        if inside:
            said = sum(value for value, _ in inside) / len(inside)
            rows.append(
                [
                    f"{low:g} to {min(high, 1):g}",
                    len(inside),
                    said,
                    sum(right for _, right in inside) / len(inside),
                ]
            )
    error = sum(int(str(row[1])) * abs(float(row[2] or 0) - float(row[3] or 0)) for row in rows) / max(
        1, len(pairs)
    )
    return Report(
        "Confidence of titles, files not looked at",
        ["confidence", "titles", "mean", "right"],
        rows,
        details={"expected calibration error": error},
    )


def row_of(name: str, split: str, tally: Tally) -> list[Cell]:
    shares = [_shown(tally.share(part), tally.measured[part]) for part in FIELDS]
    near = tally.references["all"].near, tally.references["all"].lists
    lists = [_shown(tally.references[name].f1, tally.references[name].lists) for name in LEAST_REFERENCES]
    peer = _shown(tally.share(PEER), tally.measured[PEER])
    return [name, split, tally.files, tally.papers, *shares, *lists, f"{near[0]} of {near[1]}", peer]


def _shown(share: float | None, count: int) -> str:
    return "" if share is None else f"{share:.3f} of {count}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser, required=False)
    parser.add_argument(
        "--files", type=Path, required=True, metavar="FOLDER", help="kinds of venue, each a folder"
    )
    parser.add_argument("--fetch", action="store_true", help="first download Debian's packages to FOLDER")
    parser.add_argument("--kinds", nargs="*", default=(), help="only these kinds")
    parser.add_argument(
        "--most", type=int, default=0, metavar="N", help="files of each kind and split; 0 is all"
    )
    parser.add_argument(
        "--only", choices=("looked", "unseen"), help="only files that were looked at, or only others"
    )
    parser.add_argument(
        "--wrong", type=Path, metavar="FILE", help="write what was wrong with files that are looked at"
    )
    parser.add_argument("--pdftitle", type=Path, metavar="PROGRAM", help="compare titles with this pdftitle")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the outcome of each file in FILE")
    add_output_options(parser)
    options = parser.parse_args(arguments)
    if options.fetch:
        fetch_all(options.files)
    tallies, wrong = run(options)
    kinds = sorted({kind for kind, _ in tallies} - {"all"})
    rows = [
        row_of(kind, split, tallies[kind, split])
        for split in ("looked at", "not looked at")
        for kind in (*kinds, "all")
        if (kind, split) in tallies
    ]
    if options.wrong:
        options.wrong.write_text("\n".join(wrong) + "\n")
    unseen = tallies.get(("all", "not looked at"), Tally())
    bars = [
        Bar(f"{part} right, not looked at", unseen.share(part), least=least)
        for part, least in LEAST.items()
        if unseen.measured[part]
    ]
    lists = unseen.references
    bars += [
        Bar(f"references F1, {name}, not looked at", lists[name].f1, least=least)
        for name, least in LEAST_REFERENCES.items()
        if lists[name].lists
    ]
    if lists["all"].lists:
        near = lists["all"].near / lists["all"].lists
        bars.append(Bar("counts within one, not looked at", near, least=LEAST_COUNTS))
    if (theirs := unseen.share(PEER)) is not None:
        ahead = (unseen.share("title") or 0.0) - theirs
        bars.append(Bar(f"title: ahead of {PEER}, not looked at", ahead, least=0.0))
    header = [
        "kind",
        "files",
        "n",
        "papers",
        *FIELDS,
        *(f"F1 {name}" for name in LEAST_REFERENCES),
        "count within one",
        PEER,
    ]
    reports = [Report("Papers by venue, share right", header, rows, bars), reliability(unseen.confidence)]
    return finish(reports, options)


def run(options: argparse.Namespace) -> tuple[dict[tuple[str, str], Tally], list[str]]:
    models: PaperModels = WorkspaceModels(Path()).load()
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    wrong: list[str] = []
    files = [*find_files(options.files), *(described_files(options.data) if options.data else ())]
    known = _measured(options.resume) if options.resume else {}
    with DocumentReader() as reader:
        for file in files:
            split = "looked at" if file.looked_at else "not looked at"
            skipped = (
                (options.kinds and file.kind not in options.kinds)
                or (options.most and tallies[file.kind, split].files >= options.most)
                or (options.only and options.only != ("looked" if file.looked_at else "unseen"))
            )
            if skipped:
                continue
            if file.key not in known:
                known[file.key] = _measure_file(file, reader, models, options.pdftitle)
                if options.resume:
                    _keep(options.resume, file.key, known[file.key])
            if (outcome := known[file.key]) is None:
                continue
            for kind in (file.kind, "all"):
                tallies[kind, split].add(outcome)
            if file.looked_at:
                wrong += [f"{file.name}: {note}" for note in outcome.notes]
    return {key: tally for key, tally in tallies.items() if tally.files}, wrong


def _measure_file(
    file: VenueFile, reader: DocumentReader, models: PaperModels, pdftitle: Path | None
) -> Outcome | None:
    """Return the outcome of a file, or None if it cannot be read."""
    document = reader.read(file.body)
    if not isinstance(document, Document):
        return None
    title = _peer_title(pdftitle, file.body) if pdftitle else None
    return measure(file, document, read_paper(document, models, ""), title)


def _measured(path: Path) -> dict[str, Outcome | None]:
    """Return the outcomes that FILE keeps, as far as the present version measured them."""
    rows = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return {
        row["key"]: Outcome.from_json(row["outcome"]) if row["outcome"] else None
        for row in rows
        if row["version"] == _version()
    }


def _keep(path: Path, key: str, outcome: Outcome | None) -> None:
    row = {"version": _version(), "key": key, "outcome": asdict(outcome) if outcome else None}
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


@cache
def _version() -> str:
    """Return a digest of all but the truth that figures depend on: this file, and the readers with their models."""
    package = Path(wayhound.__file__).parent
    rooms = (sorted((package / room).rglob("*")) for room in ("papers", "documents", "text"))
    paths = [Path(__file__), *(path for room in rooms for path in room)]
    digest = hashlib.sha256()
    for path in paths:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
