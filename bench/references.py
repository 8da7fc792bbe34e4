"""References of papers: fields by hidden Markov models and CRFs, next to plain features and a peer.

Five-fold cross-validation on the tagged references of the data folder, or `--train FILE --test FILE`. The bar of the
HMM is on words as the seed counts them (McCallum et al. 2000, section 4.3: punctuation alone is no word), those of
the CRF are on all words. Distant labels come from BibTeX and from references with nested tags.

`--peer PYTHON` is an interpreter with refextract (`pip install refextract` in an environment of its own), which then
reads the same references.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.crf_table import CrfTable
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.token_scores import BothCounts, Score, Split, add_split_options, report_progress, splits
from wayhound.papers.distant import DistantWords
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.fields import field_spans, texts_by_field
from wayhound.papers.lexicon import build_lexicon
from wayhound.papers.normalise_fields import NormalisedReference, normalise_reference
from wayhound.papers.tagged import REFERENCE_FIELDS, TaggedText, parse_references
from wayhound.papers.tokens import Labelling, Segment, label_runs
from wayhound.papers.training_data import PaperData

SOURCES = ("L", "L+D", "L*D")
MOST_HMM_ERROR = 10.0
LEAST_CRF = {"words": 95.0, "macro-F1": 90.5, "wholly right": 75.0}
N_FOREIGN = 300  # references of other sciences, for corrections
PEER = Path(__file__).with_name("peers") / "refextract_fields.py"
PERL_PEER = PEER.with_name("citation_parser.pl")

MODELS: dict[str, dict[str, Any]] = {
    "ML": {"merging": "one", "transitions": "ml", "use_gaps": False},
    "V-merged": {"merging": "v", "transitions": "shrunk", "use_gaps": False},
    "One a class, with gaps": {"merging": "one", "transitions": "shrunk"},
    "V-merged, with gaps": {"merging": "v", "transitions": "shrunk"},
}
"""Gaps are the punctuation marks between words, which the seed drops."""


class HmmTable:
    """Hidden Markov models by structure and source of words, over all splits."""

    def __init__(self) -> None:
        self.scores: dict[tuple[str, str], Score] = defaultdict(Score)
        self.both: dict[str, BothCounts] = defaultdict(BothCounts)

    def add(self, split: Split, distant: DistantWords) -> None:
        for name, settings in MODELS.items():
            for source in SOURCES:
                model = FieldHMM("reference", emissions=source, **settings)  # type: ignore[arg-type]
                self._test(name, source, model.fit(split.train, distant), split)

    def _test(self, name: str, source: str, model: FieldHMM, split: Split) -> None:
        texts = [model.read(tagged.lines) for tagged in split.test]
        decoded = model.model_.decode([model.numbers(text) for text in texts])
        for tagged, text, classes in zip(split.test, texts, decoded, strict=True):
            truth = [REFERENCE_FIELDS[n] for n in model.classes(text, tagged.labels)]
            self.scores[name, source].add(truth, [REFERENCE_FIELDS[n] for n in classes])
        if source == "L*D":
            for tagged in split.test:
                self.both[name].add(tagged, model.label(tagged.lines).labels)

    @property
    def best(self) -> str:
        return min(MODELS, key=lambda name: self.scores[name, "L*D"].error)

    def row(self) -> list[Cell]:
        return self.both[self.best].row(f"HMM ({self.best}, L*D)")

    def report(self) -> Report:
        rows: list[list[Cell]] = [
            [name, *(self.scores[name, source].error for source in SOURCES)] for name in MODELS
        ]
        error = self.scores[self.best, "L*D"].error
        bar = Bar(f"word error % of the best HMM ({self.best})", error, most=MOST_HMM_ERROR)
        return Report("Word error %, as the seed counts", ("model", *SOURCES), rows, [bar])


def normalised(text: TaggedText, labels: Sequence[str]) -> NormalisedReference:
    segments = [Segment(name, first, last) for name, first, last in label_runs(labels)]
    spans = field_spans(text.lines, [0] * len(text.lines), Labelling(tuple(labels), tuple(segments)))
    return normalise_reference(texts_by_field(spans))


Getter = Callable[[NormalisedReference], str]
COMPARED: Mapping[str, tuple[Getter, Sequence[str]]] = {
    "first author": (
        lambda reference: reference.authors.names[0].last if reference.authors.names else "",
        ("author",),
    ),
    "title": (lambda reference: reference.title, ("title", "misc")),
    "year": (lambda reference: str(reference.year or ""), ("year", "journal_year")),
    "volume": (lambda reference: reference.volume, ("journal_volume",)),
    "first page": (lambda reference: reference.pages.first, ("journal_page",)),
}
"""Field → how to get ours, and the fields of refextract that may contain it."""


def peer_report(
    name: str, command: Sequence[str], labelled: Sequence[tuple[TaggedText, Sequence[str]]]
) -> Report:
    """Return the share of references with a field in which it was found, also within a longer text.

    A peer has the choice of several fields, and what it could not name (`misc`) may contain anything.
    """
    texts = json.dumps([" ".join(text.words) for text, _ in labelled])
    theirs = json.loads(
        subprocess.run(command, input=texts, capture_output=True, text=True, check=True).stdout
    )
    truths = [normalised(text, text.labels) for text, _ in labelled]
    ours = [normalised(text, guess) for text, guess in labelled]
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for field, (value_of, keys) in COMPARED.items():
        true, mine = ([_bare(value_of(one)) for one in all_of] for all_of in (truths, ours))
        peers = [[_bare(fields.get(key, "")) for key in keys] for fields in theirs]
        present = [n for n, value in enumerate(true) if value]
        right = {
            "peer": [true[n] in "".join(peers[n]) for n in present],
            "ours": [true[n] in mine[n] for n in present],
            "ours, no more": [true[n] == mine[n] for n in present],
        }
        shares = {method: 100 * sum(found) / max(1, len(found)) for method, found in right.items()}
        rows.append([field, len(present), *shares.values()])
        bars.append(Bar(f"{field}: points ahead of {name}", shares["ours"] - shares["peer"], least=0.0))
    header = ("field", "references", f"{name}, contains it", "CRF, contains it", "CRF, and no more")
    return Report("Fields right, %", header, rows, bars)


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, metavar="PYTHON", help="an interpreter with refextract")
    parser.add_argument("--perl", type=Path, metavar="PERL", help="a Perl with Biblio::Citation::Parser")
    add_split_options(parser)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    data = PaperData(arguments.data)
    foreign = random.Random(0).sample(data.nested_references, min(N_FOREIGN, len(data.nested_references)))
    hmms, crfs = HmmTable(), CrfTable("reference", LEAST_CRF, foreign)
    distant, lexicon = data.distant_for_references(), build_lexicon(data.names, data.bibtex)
    for number, split in enumerate(splits(arguments, data.references, parse_references), start=1):
        report_progress(
            f"split {number}: {len(split.train)} references for training, {len(split.test)} for testing"
        )
        hmms.add(split, distant)
        report_progress("  HMMs done")
        crfs.add(split, lexicon)
    peers = {
        "refextract": arguments.peer and [str(arguments.peer), str(PEER)],
        "Biblio::Citation::Parser": arguments.perl and [str(arguments.perl), str(PERL_PEER)],
    }
    compared = [peer_report(name, command, crfs.labelled) for name, command in peers.items() if command]
    return finish([hmms.report(), *crfs.reports([hmms.row()]), *compared], arguments)


if __name__ == "__main__":
    sys.exit(main())
