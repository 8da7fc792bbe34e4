"""Papers of another field against the computer-science tree: how many are told to fit nowhere, and how many are lost.

    python -m bench.topics_outside --data FOLDER

FOLDER contains `papers/topics/*.jsonl`, `papers/references/umass` and `papers/distant`. Validation is nested by
field: the words of the tree's field are learned without any document of the field that is tested, and from one half
of the computer-science papers; the other half tells what is lost. Small collections are a field alone, and mixed with
as many papers of computer science. Real papers are those of AISTATS 2007 in `papers/pdf`, as `wayhound papers add`
reads them, alone and mixed with abstracts of the other fields; without these files the table is left out. In
collections, what counts is where `topics train` places a paper: told is a stray that fits nowhere, lost is a paper of
computer science that does.
`--ship` writes the words that come with the tree, learned from everything.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.papers.adding import Intake, find_files, local_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.topics import TopicCorpus, read_corpus
from wayhound.papers.distant import parse_bibtex
from wayhound.papers.training_data import PaperData
from wayhound.topics.documents import CitationLinks, TopicDocument, read_documents
from wayhound.topics.field_words import FieldWords
from wayhound.topics.training import train
from wayhound.topics.tree import parse_tree, shipped_trees
from wayhound.workspace import Workspace

LEAST_TOLD, MOST_LOST = 0.80, 0.10
TREE = "computer-science"
TARGET = Path("src/wayhound/topics/trees") / f"{TREE}.words.gz"
ARCHIVES = (
    "cond-mat",
    "quant-ph",
    "physics",
    "nlin",
)  # eess is as near to computer science as to physics: left out
SMALL, DRAWS = 22, 3  # papers of a small collection, as a person might add
MIXES = (
    (10, 0),
    (10, 20),
    (10, 60),
    (22, 0),
    (22, 22),
    (22, 60),
    (60, 0),
    (60, 20),
    (60, 60),
)  # real papers, and abstracts of another field
REAL = Path("papers") / "pdf" / "aistats2007"


def titles_of_other_sciences(data: Path) -> list[TopicDocument]:
    """Return ten titles of references each, as one document: physics, mathematics, astronomy, economics, …"""
    titles = [
        " ".join(word for word, label in zip(text.words, text.labels, strict=True) if label == "title")
        for text in PaperData(data).nested_references
    ]
    listed = [title for title in titles if len(title) > 20]
    return [TopicDocument.from_text(str(at), *listed[at : at + 5]) for at in range(0, len(listed), 5)]


def titles_of_computer_science(data: Path) -> Iterator[TopicDocument]:
    """Yield titles of information retrieval, one document each."""
    text = (data / "papers" / "distant" / "ir-anthology-sample.bib").read_text()
    for number, entry in enumerate(parse_bibtex(text)):
        if number < 1500 and "title" in entry.fields:
            yield TopicDocument.from_text(entry.key, entry.fields["title"])


class Fields:
    """Documents of computer science, shuffled, and of other fields by name."""

    def __init__(self, data: Path) -> None:
        topics = data / "papers" / "topics"
        arxiv = read_documents(topics / "arxiv.jsonl")
        rng = random.Random(0)
        self.modern = [document for document in arxiv if document.label.startswith("cs.")]
        self.cora = read_documents(topics / "cora70.jsonl")
        self.learning = read_documents(topics / "cora_ml.jsonl")
        self.retrieval = list(titles_of_computer_science(data))
        for part in (self.modern, self.cora, self.learning, self.retrieval):
            rng.shuffle(part)
        self.others = {
            archive: [document for document in arxiv if document.label.split(".")[0] == archive]
            for archive in ARCHIVES
        }
        self.titles = titles_of_other_sciences(data)

    def half(self, number: int) -> list[TopicDocument]:
        """Return every second document of computer science, as many of each kind, in mixed order."""
        parts = (
            self.modern[number::2],
            self.cora[number:1600:2],
            self.learning[number:1600:2],
            self.retrieval[number::2],
        )
        joined = [document for part in parts for document in part]
        random.Random(1).shuffle(joined)
        return joined

    def without(self, archive: str) -> list[Sequence[TopicDocument]]:
        return [*(documents for name, documents in self.others.items() if name != archive), self.titles]


def shares(words: FieldWords, documents: Sequence[TopicDocument]) -> float:
    return float(np.mean([words.outside(document) > 0.5 for document in documents]))


def report(fields: Fields) -> Report:
    rows: list[list[Cell]] = []
    told, lost = [], []
    for archive, documents in fields.others.items():
        words = FieldWords.learn(fields.half(0), fields.without(archive))
        told += [words.outside(document) > 0.5 for document in documents]
        parts = (fields.modern[1::2], fields.cora[1601:3000], fields.learning[1::2])
        lost.append([shares(words, part) for part in parts])
        rows.append([archive, len(documents), shares(words, documents), *lost[-1]])
    means = np.mean(lost, axis=0)
    rows.append(["all", len(told), float(np.mean(told)), *map(float, means)])
    bars = [
        Bar("told outside, fields that were not taught", float(np.mean(told)), least=LEAST_TOLD),
        Bar("lost of arXiv's computer science", float(means[0]), most=MOST_LOST),
        Bar("lost of Cora's titles", float(means[1]), most=MOST_LOST),
        Bar("lost of Cora's machine learning", float(means[2]), most=MOST_LOST),
    ]
    header = [
        "field left out",
        "papers",
        "told outside",
        "lost: arXiv cs",
        "lost: Cora titles",
        "lost: Cora ML",
    ]
    return Report("Words of the field, nested by field", header, rows, bars)


def nowhere(
    words: FieldWords,
    strays: Sequence[TopicDocument],
    inside: Sequence[TopicDocument],
    citations: CitationLinks | None = None,
) -> tuple[list[bool], list[bool]]:
    """Train on a collection; return which of its strays and of its other papers are placed nowhere."""
    tree = parse_tree(shipped_trees()[TREE])
    rng = np.random.default_rng(0)
    training = train(tree, [*strays, *inside], rng, citations=citations, field_words=words)
    answers = [not placed.topic for placed in training.placements]
    return answers[: len(strays)], answers[len(strays) :]


def placed(fields: Fields) -> Report:
    """Place small collections of one field, alone and mixed, with words that do not know the field."""
    rows, all_told, all_lost = list[list[Cell]](), list[bool](), list[bool]()
    for archive, documents in fields.others.items():
        words = FieldWords.learn(fields.half(0), fields.without(archive))
        for name, n_inside in (("alone", 0), ("mixed", SMALL)):
            told, lost = list[bool](), list[bool]()
            for draw in range(DRAWS):
                rng = random.Random(draw)
                strays = rng.sample(documents, SMALL)
                answers = nowhere(words, strays, rng.sample(fields.modern[1::2], n_inside))
                told += answers[0]
                lost += answers[1]
            rows.append([archive, name, share(told), share(lost)])
            all_told += told
            all_lost += lost
    rows.append(["all", "", share(all_told), share(all_lost)])
    return Report(
        f"Collections of {SMALL} papers, `topics train`",
        ["field", "collection", "fits nowhere", "lost"],
        rows,
        [
            Bar("strays of small collections that fit nowhere", share(all_told), least=LEAST_TOLD),
            Bar("lost in small collections", share(all_lost), most=MOST_LOST),
        ],
    )


def share(answers: Sequence[bool]) -> float | None:
    return float(np.mean(answers)) if answers else None


def real_papers(data: Path) -> TopicCorpus:
    """Read the papers as the product does, with their references and the citations among them."""
    with tempfile.TemporaryDirectory() as folder, Workspace.create(Path(folder) / "workspace") as workspace:
        list(Intake(PaperLibrary(workspace), 1).add(local_files(find_files([data / REAL]))))
        return read_corpus(workspace)


def real(fields: Fields, corpus: TopicCorpus) -> Report:
    """Mix real papers with abstracts of one other field after the other, with words that do not know the field."""
    rows, all_told, all_lost = list[list[Cell]](), list[bool](), list[bool]()
    learned = {
        archive: FieldWords.learn(fields.half(0), fields.without(archive)) for archive in fields.others
    }
    worst = 0.0
    for n_real, n_others in MIXES:
        told, lost = list[bool](), list[bool]()
        for draw in range(DRAWS):
            for archive, words in learned.items():
                documents, rng = fields.others[archive], random.Random(f"{archive} {draw}")
                inside = rng.sample(corpus.documents, min(n_real, len(corpus.documents)))
                strays = rng.sample(documents, min(n_others, len(documents)))
                held = {document.id for document in inside}
                links = CitationLinks(tuple(pair for pair in corpus.citations.pairs if pair[0] in held))
                answers = nowhere(words, strays, inside, links)
                told += answers[0]
                lost += answers[1]
        rows.append([min(n_real, len(corpus.documents)), n_others, share(told), share(lost)])
        worst = max(worst, share(lost) or 0.0)
        all_told += told
        all_lost += lost
    rows.append(["all", "", share(all_told), share(all_lost)])
    return Report(
        "Real papers of machine learning among abstracts of other fields, `topics train`",
        ["real papers", "of another field", "fits nowhere", "lost"],
        rows,
        [
            Bar("abstracts among real papers that fit nowhere", share(all_told), least=LEAST_TOLD),
            Bar("lost of real papers, mean", share(all_lost), most=MOST_LOST),
            Bar("lost of real papers, the worst mix", worst, most=MOST_LOST),
        ],
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--ship", action="store_true", help="write the words that come with the tree")
    options = parser.parse_args()
    fields = Fields(options.data)
    if options.ship:
        inside = [*fields.half(0), *fields.half(1)]
        words = FieldWords.learn(inside, [*fields.others.values(), fields.titles])
        TARGET.write_bytes(words.to_bytes())
    reports = [report(fields), placed(fields)]
    if any((options.data / REAL).glob("*.pdf")):
        reports.append(real(fields, real_papers(options.data)))
    else:
        print(f"Real papers are left out: there are no PDF files in {options.data / REAL}.")
    return finish(reports, options)


if __name__ == "__main__":
    sys.exit(main())
