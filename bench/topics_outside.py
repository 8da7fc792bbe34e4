"""Papers of another field against the computer-science tree: how many are told to fit nowhere, and how many are lost.

    python -m bench.topics_outside --data FOLDER

FOLDER contains `papers/topics/*.jsonl`, `papers/references/umass` and `papers/distant`. Validation is nested by
field: the words of the tree's field are learned without any document of the field that is tested, and from one half
of the computer-science papers; the other half tells what is lost. Small collections are a field alone, and mixed with
as many papers of computer science.
`--ship` writes the words that come with the tree, learned from everything.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.papers.distant import parse_bibtex
from wayhound.papers.training_data import PaperData
from wayhound.topics.documents import TopicDocument, read_documents
from wayhound.topics.field_words import FieldWords
from wayhound.topics.training import train
from wayhound.topics.tree import parse_tree, shipped_trees

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


def placed(fields: Fields) -> Report:
    """Place small collections of one field, alone and mixed, with words that do not know the field."""
    tree, rows = parse_tree(shipped_trees()[TREE]), list[list[Cell]]()
    for archive, documents in fields.others.items():
        words = FieldWords.learn(fields.half(0), fields.without(archive))
        for name, n_inside in (("alone", 0), ("mixed", SMALL)):
            told, lost = [], []
            for draw in range(DRAWS):
                rng = random.Random(draw)
                strays = rng.sample(documents, SMALL)
                inside = rng.sample(fields.modern[1::2], n_inside)
                training = train(tree, [*strays, *inside], np.random.default_rng(0), field_words=words)
                told += [not placed.topic for placed in training.placements[:SMALL]]
                lost += [words.outside(document) > 0.5 for document in inside]
            rows.append([archive, name, float(np.mean(told)), float(np.mean(lost)) if lost else None])
    return Report(
        f"Collections of {SMALL} papers, `topics train`",
        ["field", "collection", "fits nowhere", "lost by it"],
        rows,
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
    return finish([report(fields), placed(fields)], options)


if __name__ == "__main__":
    sys.exit(main())
