"""What the benchmarks of headers and references say of CRFs: both counts, the floor, classes and corrections."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from bench.report import Bar, Cell, Report
from bench.token_scores import COUNTS, BothCounts, Labels, Score, Split, plain_crf, say
from trailmark.extract.papers.field_crf import FieldCRF
from trailmark.extract.papers.labelling import Kind
from trailmark.extract.papers.lexicon import Lexicon
from trailmark.extract.papers.tagged import Tagged

N_CORRECTIONS = 10


class CrfTable:
    """Our CRF next to the floor over all splits; `least` are the bars for words, macro-F1 and whole texts."""

    def __init__(self, kind: Kind, least: Mapping[str, float]) -> None:
        self.kind = kind
        self.least = least
        self.ours, self.floor = BothCounts(), BothCounts()
        self.answers: list[tuple[Tagged, Labels]] = []
        self._corrections: list[Report] = []

    def add(self, split: Split, lexicon: Lexicon) -> None:
        for text, guess in zip(split.test, plain_crf(split), strict=True):
            self.floor.add(text, guess)
        say("  plain CRF done")
        model = FieldCRF(self.kind, lexicon).fit(split.train)
        found = [model.label(text.lines).labels for text in split.test]
        for text, guess in zip(split.test, found, strict=True):
            self.ours.add(text, guess)
            self.answers.append((text, guess))
        say("  CRF done")
        self._corrections = self._corrections or [corrections(model, split, found)]

    def reports(self, hmms: Sequence[Sequence[Cell]]) -> list[Report]:
        """With rows for hidden Markov models, if there are any."""
        return [self._both_counts(hmms), self._by_class(), *self._corrections]

    def _both_counts(self, hmms: Sequence[Sequence[Cell]]) -> Report:
        score = self.ours.all_words
        figures = (score.accuracy, score.macro_f1, score.whole)
        bars = [
            Bar(f"CRF, {name} %", figure, least=least)
            for (name, least), figure in zip(self.least.items(), figures, strict=True)
        ]
        rows = [*hmms, self.floor.row("python-crfsuite, plain features"), self.ours.row("CRF")]
        return Report("Over all words, and as the seed counts", COUNTS, rows, bars, {"f1": score.f1})

    def _by_class(self) -> Report:
        ours, floor = self.ours.all_words, self.floor.all_words
        rows: list[list[Cell]] = [
            [name, ours.right[name] + ours.missed[name], floor.f1.get(name), figure]
            for name, figure in ours.f1.items()
        ]
        return Report("F1 by class over all words", ("class", "words", "plain", "CRF"), rows)


def corrections(model: FieldCRF, split: Split, answers: Sequence[Labels]) -> Report:
    """What a model learns from the first wrong texts being put right, and how long that takes."""
    wrong = [n for n, text in enumerate(split.test) if list(text.labels) != list(answers[n])][:N_CORRECTIONS]
    rest = [text for number, text in enumerate(split.test) if number not in wrong]
    began = time.process_time()
    after = model.corrected([split.test[number] for number in wrong])
    seconds = time.process_time() - began
    scores = {"before": Score(), f"after {len(wrong)} corrected texts": Score()}
    for score, one in zip(scores.values(), (model, after), strict=True):
        for text in rest:
            score.add(text.labels, one.label(text.lines).labels)
    rows: list[list[Cell]] = [[name, score.error, score.whole] for name, score in scores.items()]
    rows[0].append(None)
    rows[1].append(seconds)
    header = ("first split, the other texts", "word error %", "wholly right %", "CPU seconds")
    return Report("Learning from corrections", header, rows)
