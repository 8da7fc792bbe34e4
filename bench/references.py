"""References of papers: fields by hidden Markov models and CRFs, next to plain features.

Five-fold cross-validation on the tagged references of the data folder, or `--train FILE --test FILE`. The bar of the
HMM is on words as the seed counts them (McCallum et al. 2000, section 4.3: punctuation alone is no word), those of
the CRF are on all words. Distant labels come from BibTeX and from references with nested tags.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from typing import Any

from bench.crf_table import CrfTable
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.token_scores import BothCounts, Score, Split, add_split_options, report_progress, splits
from wayhound.papers.distant import DistantWords
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import build_lexicon
from wayhound.papers.tagged import REFERENCE_FIELDS, parse_references
from wayhound.papers.training_data import PaperData

SOURCES = ("L", "L+D", "L*D")
MOST_HMM_ERROR = 10.0
LEAST_CRF = {"words": 95.0, "macro-F1": 90.5, "wholly right": 75.0}
N_FOREIGN = 300  # references of other sciences, for corrections

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
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
    return finish([hmms.report(), *crfs.reports([hmms.row()])], arguments)


if __name__ == "__main__":
    sys.exit(main())
