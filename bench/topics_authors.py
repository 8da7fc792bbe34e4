"""Authors as evidence of topics: titles of specialised workshops, placed with and without their authors as words.

    python -m bench.topics_authors --data FOLDER

The labelled sets of `bench.topics` name no authors, so this one is made of the BibTeX in `papers/distant/acl.bib.gz`:
papers of workshops and conferences on one topic, whose name is the truth and is never read. No set has affiliations.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from dataclasses import replace

import numpy as np

from bench.report import Cell, Report, add_data_option, add_output_options, finish
from bench.topics_sets import LabelledSet
from wayhound.papers.distant import BibEntry, parse_bibtex
from wayhound.text.person_names import parse_names
from wayhound.topics.documents import TopicDocument
from wayhound.topics.tree import parse_tree

TREE = """\
Language Processing
  Machine Translation: machine translation, translation, statistical machine translation, bilingual
  Parsing: parsing, parser, dependency parsing, treebank, grammar
  Dialogue: dialogue, dialog, conversation, spoken dialogue, discourse
  Biomedicine: biomedical, clinical, medical, protein, patient, health
  Education: learner, essay, grammatical error, student, readability, educational
  Morphology: morphological, morphology, phonology, inflection, reinflection
  Sentiment: sentiment, opinion, emotion, subjectivity, polarity
  Generation: natural language generation, generation, surface realization, referring expression
  Argument: argument, argumentation, fact checking, claim, stance
  Abuse: hate speech, offensive language, abusive, toxic
"""
VENUES = {
    "Machine Translation": r"Machine Translation|Spoken Language Translation",
    "Parsing": r"Parsing Technologies|Dependency Linguistics|Treebanks",
    "Dialogue": r"Discourse and Dialogue|Semantics and Pragmatics of Dialogue|Conversational AI",
    "Biomedicine": r"Biomedical|BioNLP|Clinical Natural|Medical",
    "Education": r"Educational Applications",
    "Morphology": r"Morphology|SIGMORPHON",
    "Sentiment": r"Sentiment",
    "Generation": r"Natural Language Generation",
    "Argument": r"Argument|Fact Extraction",
    "Abuse": r"Abusive|Hate|Online Harms",
}
AUTHOR_WEIGHTS = (0.0, 0.5, 1.0, 2.0)
DRAWS = 5


def labelled(entry: BibEntry) -> str:
    names = [name for name, words in VENUES.items() if re.search(words, entry.fields.get("booktitle", ""))]
    return names[0] if len(names) == 1 else ""


def with_authors(document: TopicDocument, entry: BibEntry, weight: float) -> TopicDocument:
    """Return the document with a word for each author: last name and first initial."""
    people = parse_names(entry.fields.get("author", ""))
    words = {f"by_{person.last}_{person.first[:1]}".lower(): weight for person in people if person.last}
    return replace(document, bag={**document.bag, **words} if weight else document.bag)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    text = gzip.decompress((arguments.data / "papers" / "distant" / "acl.bib.gz").read_bytes()).decode()
    pairs = [(entry, label) for entry in parse_bibtex(text) if (label := labelled(entry))]
    documents = [
        replace(TopicDocument.from_text(str(n), entry.fields.get("title", "")), label=label)
        for n, (entry, label) in enumerate(pairs)
    ]
    tree = parse_tree(TREE)
    rows: list[list[Cell]] = []
    for weight in AUTHOR_WEIGHTS:
        known = [with_authors(d, entry, weight) for d, (entry, _) in zip(documents, pairs, strict=True)]
        whole = LabelledSet("acl", tree, known)
        parts = [_part(whole, draw) for draw in range(DRAWS)]
        rows.append(
            [
                f"authors at weight {weight:g}" if weight else "titles alone",
                f"{whole.accuracy(whole.train().memberships):.1%}",
                f"{np.mean([part.accuracy(part.train().memberships) for part in parts]):.1%}",
            ]
        )
    title = f"{len(documents):,} titles of ten topics in language processing: best leaf right"
    return finish([Report(title, ["read", "all", "mean of five draws of a quarter"], rows)], arguments)


def _part(whole: LabelledSet, draw: int) -> LabelledSet:
    order = np.random.default_rng(draw).permutation(len(whole.documents))[: len(whole.documents) // 4]
    return LabelledSet(whole.name, whole.tree, [whole.documents[n] for n in order])


if __name__ == "__main__":
    sys.exit(main())
