"""Headers of papers: the tables of section 4.3 of the seed (McCallum et al. 2000), and CRFs.

Five-fold cross-validation on the tagged headers of the data folder, or `--train FILE --test FILE`. Errors are counted
as the seed does: the abstract, the introduction's heading and the end of the page are one word each, punctuation is
none. CRFs are also tested over all words. Distant labels come from BibTeX, tagged references and lists of names.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bench.baum_welch import baum_welch, mix_by_state, mix_uniformly
from bench.crf_table import CrfTable
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.token_scores import COUNTS, BothCounts, Score, Split, add_split_options, report_progress, splits
from wayhound.learn.hmm import HiddenMarkovModel
from wayhound.learn.hmm_parameters import expected_counts
from wayhound.papers.distant import DistantWords
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import build_lexicon
from wayhound.papers.tagged import HEADER_FIELDS, TaggedText, parse_headers
from wayhound.papers.training_data import PaperData

SOURCES = ("L", "L+D", "L*D")
ONE_A_CLASS = {"full": "Full", "self": "Self", "ml": "ML", "smooth": "Smooth"}
BAUM_WELCH_ROUNDS = 5
MOST_HMM_ERROR = 7.3
LEAST_CRF = {"words": 97.8, "macro-F1": 91.5, "wholly right": 62.0}

MODELS: dict[str, dict[str, Any]] = {
    **{name: {"merging": "one", "transitions": key, "use_gaps": False} for key, name in ONE_A_CLASS.items()},
    "V-merged (to the end)": {"merging": "v", "max_states": 0, "transitions": "ml", "use_gaps": False},
    "V-merged, ML": {"merging": "v", "transitions": "ml", "use_gaps": False},
    "Merge search, ML": {"merging": "search", "transitions": "ml", "use_gaps": False},
    "V-merged": {"merging": "v", "transitions": "shrunk", "use_gaps": False},
    "Merge search": {"merging": "search", "transitions": "shrunk", "use_gaps": False},
    "One a class, with gaps": {"merging": "one", "transitions": "shrunk"},
    "V-merged, with gaps": {"merging": "v", "transitions": "shrunk"},
    "Merge search, with gaps": {"merging": "search", "transitions": "shrunk"},
}
"""The first four are those of Table 3, with the two "ML" rows below them those of Table 4. Gaps are line ends and
commas, which the seed drops."""

OWN_WORDS = ("Merge search, ML", "Merge search, with gaps")
"""Models that are also tried with emissions of their own for each state (section 4.4)."""
OWN_WORDS_PRIORS = (
    30.0,
    100.0,
    300.0,
    1000.0,
    3000.0,
)  # words of the class's emissions that a state begins with


class HmmTables:
    """Tables on hidden Markov models of every structure and source of words, over all splits."""

    def __init__(self) -> None:
        self.scores: dict[tuple[str, str], Score] = defaultdict(Score)
        self.all_words: dict[str, BothCounts] = defaultdict(BothCounts)
        self.sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.weights: list[Any] = []
        self.searches: list[dict[int, float]] = []
        self.right: dict[str, list[bool]] = defaultdict(list)  # of every word, L*D

    def add(self, split: Split, distant: DistantWords) -> None:
        for name, settings in MODELS.items():
            for source in SOURCES:
                model = FieldHMM("header", emissions=source, **settings)  # type: ignore[arg-type]
                model.fit(split.train, distant)
                self._test(name, source, model, split)
                if name in OWN_WORDS and source == "L*D":
                    for prior in OWN_WORDS_PRIORS:
                        self._add(_own_name(name, prior), own_words(model, split.train, prior), model, split)

    def _test(self, name: str, source: str, model: FieldHMM, split: Split) -> None:
        if source != "L*D":
            for truth, guess in seed_labels(model, model.model_, split):
                self.scores[name, source].add(truth, guess)
            return
        self._add(name, model.model_, model, split)
        structure = model.tagger_.structure_
        self.sizes[name].append((structure.n_states, structure.n_transitions))
        for text in split.test:
            self.all_words[name].add(text, model.label(text.lines).labels)
        if name == "ML":
            self.weights.append(model.tagger_.mixture_)
        if name == "Merge search":
            self.searches.append(model.tagger_.search_)

    def _add(self, name: str, chain: HiddenMarkovModel, model: FieldHMM, split: Split) -> None:
        for truth, guess in seed_labels(model, chain, split):
            self.scores[name, "L*D"].add(truth, guess)
            self.right[name] += [left == right for left, right in zip(truth, guess, strict=True)]

    def rows(self) -> list[list[Cell]]:
        """Return the row of the best model over all words, which also has to find the abstract."""
        best = sorted(self.all_words, key=lambda name: self.all_words[name].seed.error)[:1]
        return [self.all_words[name].row(f"HMM ({name}; abstract found by pattern)") for name in best]

    def table_2(self) -> Report:
        mean = np.mean(self.weights, axis=0)
        rows: list[list[Cell]] = [
            [name, float(own), float(other)]
            for name, (own, other) in zip(HEADER_FIELDS, mean, strict=True)
            if other > 0
        ]
        return Report("Table 2: weights of labelled and distant words", ("class", "L", "D"), rows)

    def table_3(self) -> Report:
        return self._errors("Table 3: word error %, one state a class", list(ONE_A_CLASS.values()))

    def table_4(self) -> Report:
        """Return Table 4, with a bar for the best structure."""
        rest = ["ML", *[name for name in MODELS if name not in ONE_A_CLASS.values()]]
        best = min(rest, key=lambda name: self.scores[name, "L*D"].error)
        bar = Bar(
            f"word error % of the best HMM ({best})", self.scores[best, "L*D"].error, most=MOST_HMM_ERROR
        )
        return self._errors("Table 4: word error %, structure from data", rest, [bar])

    def mcnemar(self) -> Report:
        """Compare models on the same words: where one is right and the other wrong, by a two-sided sign test."""
        pairs = [("ML", name) for name in MODELS if name not in ONE_A_CLASS.values()]
        pairs += [(name, _own_name(name, prior)) for name in OWN_WORDS for prior in OWN_WORDS_PRIORS]
        pairs += [("One a class, with gaps", f"{name}, with gaps") for name in ("V-merged", "Merge search")]
        rows: list[list[Cell]] = []
        for one, other in pairs:
            left, right = np.array(self.right[one]), np.array(self.right[other])
            lost, won = int((left & ~right).sum()), int((right & ~left).sum())
            chance = binomtest(won, won + lost).pvalue if won + lost else 1.0
            error = self.scores[other, "L*D"].error
            rows.append([one, other, error, lost, won, f"{chance:.2g}"])
        header = ("model", "against", "its error %", "words lost", "words won", "p")
        return Report("McNemar's test, L*D", header, rows)

    def _errors(self, title: str, names: Sequence[str], bars: Sequence[Bar] = ()) -> Report:
        rows: list[list[Cell]] = []
        for name in names:
            states, transitions = np.mean(self.sizes[name], axis=0)
            errors = [self.scores[name, source].error for source in SOURCES]
            rows.append([name, round(states) + 2, round(transitions), *errors])
        return Report(title, ("model", "states", "transitions", *SOURCES), rows, bars)

    def table_5(self) -> Report:
        names = ["ML", "Merge search", "V-merged", "V-merged, with gaps"]
        header = ["class", "words", *(f"{name} {source}" for name in names for source in ("L", "L*D"))]
        some = self.scores["ML", "L"]
        rows: list[list[Cell]] = [
            [label, some.right[label] + some.missed[label],
             *(self.scores[name, source].class_error(label) for name in names for source in ("L", "L*D"))]
            for label in sorted(HEADER_FIELDS)
        ]  # fmt: skip
        return Report("Table 5: word error % by class", header, rows)

    def figure_9(self) -> Report:
        sizes = sorted(set.intersection(*(set(search) for search in self.searches)))
        rows: list[list[Cell]] = [
            [size, 100 * float(np.mean([search[size] for search in self.searches]))] for size in sizes
        ]
        return Report("Figure 9: held-out word error % as states are merged", ("states", "error %"), rows)


def _own_name(name: str, prior: float) -> str:
    return f"{name}, own words a state ({prior:g} of the class)"


def own_words(model: FieldHMM, train: Sequence[TaggedText], prior: float) -> HiddenMarkovModel:
    """Return the model with emissions of their own for states that share a class, smoothed by those of the class."""
    texts = [model.read(text.lines, text.labels) for text in train]
    classes = [model.classes(text, tagged.labels) for text, tagged in zip(texts, train, strict=True)]
    counts = expected_counts(model.model_, [model.numbers(text) for text in texts], classes).words
    mixed = counts + prior * np.exp(model.model_.emissions)
    with np.errstate(divide="ignore"):
        return replace(model.model_, emissions=np.log(mixed / mixed.sum(axis=1, keepdims=True)))


def seed_labels(model: FieldHMM, chain: HiddenMarkovModel, split: Split) -> list[tuple[list[str], list[str]]]:
    """Return truth and labels of every word as the seed counts; the abstract is taken from the truth."""
    texts = [model.read(tagged.lines, tagged.labels) for tagged in split.test]
    truths = [model.classes(text, tagged.labels) for text, tagged in zip(texts, split.test, strict=True)]
    decoded = chain.decode([model.numbers(text) for text in texts])
    return [
        ([HEADER_FIELDS[n] for n in truth], [HEADER_FIELDS[n] for n in classes])
        for truth, classes in zip(truths, decoded, strict=True)
    ]


class BaumWelchTable:
    """Table 6: every second training header is used without its labels."""

    def __init__(self) -> None:
        self.scores: dict[tuple[str, str], Score] = defaultdict(Score)
        self.log_perplexity: dict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, split: Split, distant: DistantWords) -> None:
        labelled, unlabelled = split.train[::2], split.train[1::2]
        for name, merging in (("ML", "one"), ("Merge search", "search")):
            model = FieldHMM("header", merging=merging, use_gaps=False)  # type: ignore[arg-type]
            model.fit(labelled, distant)
            texts = [model.numbers(model.read(text.lines, text.labels)) for text in unlabelled]
            trained = baum_welch(model.model_, texts, BAUM_WELCH_ROUNDS)
            cut = len(texts) * 9 // 10
            most = baum_welch(model.model_, texts[:cut], BAUM_WELCH_ROUNDS)
            self._test(name, "Initial (L*D)", model, model.model_, split)
            self._test(name, "BW-uniform", model, mix_uniformly(model.model_, trained), split)
            self._test(name, "BW-varied", model, mix_by_state(model.model_, most, texts[cut:]), split)

    def _test(self, name: str, row: str, model: FieldHMM, chain: HiddenMarkovModel, split: Split) -> None:
        for truth, guess in seed_labels(model, chain, split):
            self.scores[name, row].add(truth, guess)
        texts = [model.numbers(model.read(text.lines, text.labels)) for text in split.test]
        self.log_perplexity[name, row].append(np.log(chain.perplexity(texts)))

    def report(self) -> Report:
        rows: list[list[Cell]] = []
        for row in ("Initial (L*D)", "BW-uniform", "BW-varied"):
            cells: list[Cell] = [row]
            for name in ("ML", "Merge search"):
                cells += [
                    self.scores[name, row].error,
                    float(np.exp(np.mean(self.log_perplexity[name, row]))),
                ]
            rows.append(cells)
        header = ("", "ML error %", "ML perplexity", "Merge search error %", "Merge search perplexity")
        return Report("Table 6: Baum-Welch on unlabelled headers", header, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("hmm", "crf"), help="only these models")
    add_split_options(parser)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    data = PaperData(arguments.data)
    hmms, trained, crfs = HmmTables(), BaumWelchTable(), CrfTable("header", LEAST_CRF)
    distant, lexicon = data.distant_for_headers(), build_lexicon(data.names, data.bibtex)
    for number, split in enumerate(splits(arguments, data.headers, parse_headers), start=1):
        report_progress(
            f"split {number}: {len(split.train)} headers for training, {len(split.test)} for testing"
        )
        if arguments.only != "crf":
            hmms.add(split, distant)
            trained.add(split, distant)
            report_progress("  HMMs done")
        if arguments.only != "hmm":
            crfs.add(split, lexicon)
    return finish(list(reports(arguments.only, hmms, trained, crfs)), arguments)


def reports(only: str | None, hmms: HmmTables, trained: BaumWelchTable, crfs: CrfTable) -> list[Report]:
    tables: list[Report] = []
    if only != "crf":
        tables += [
            hmms.table_2(),
            hmms.table_3(),
            hmms.table_4(),
            hmms.mcnemar(),
            hmms.table_5(),
            hmms.figure_9(),
            trained.report(),
        ]
    if only == "hmm":
        tables.append(Report("Over all words, and as the seed counts", COUNTS, hmms.rows()))
    else:
        tables += crfs.reports(hmms.rows())
    return tables


if __name__ == "__main__":
    sys.exit(main())
