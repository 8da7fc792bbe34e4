"""Tables on CRFs for the benchmarks of headers and references: both counts, a baseline, classes, corrections."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.report import Bar, Cell, Report
from bench.token_scores import COUNTS, BothCounts, Labels, Score, Split, plain_crf, report_progress
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.tagged import TaggedText
from wayhound.papers.tokens import TextKind

N_CORRECTIONS = 10


class CrfTable:
    """Our CRF and the baseline over all splits; `least` are the bars for words, macro-F1 and whole texts.

    `foreign` are texts of another kind than those trained on, to measure what is learned from corrections.
    """

    def __init__(
        self, kind: TextKind, least: Mapping[str, float], foreign: Sequence[TaggedText] = ()
    ) -> None:
        self.kind = kind
        self.least = least
        self.foreign = foreign
        self.ours, self.baseline = BothCounts(), BothCounts()
        self.labelled: list[tuple[TaggedText, Labels]] = []
        self._same, self._other = Corrections("texts of the same kind"), Corrections("texts of another kind")

    def add(self, split: Split, lexicon: Lexicon) -> None:
        for text, guess in zip(split.test, plain_crf(split), strict=True):
            self.baseline.add(text, guess)
        report_progress("  plain CRF done")
        model = FieldCRF(self.kind, lexicon).fit(split.train)
        for text in split.test:
            guess = model.label(text.lines).labels
            self.ours.add(text, guess)
            self.labelled.append((text, guess))
        report_progress("  CRF done")
        self._same.add(model, split.test, split.test)
        if self.foreign:
            self._other.add(model, self.foreign, split.test)

    def reports(self, hmms: Sequence[Sequence[Cell]]) -> list[Report]:
        """Return all tables, with the rows of hidden Markov models."""
        learned = [self._same.report(), *([self._other.report()] if self.foreign else [])]
        return [self._both_counts(hmms), self._by_class(), *learned]

    def _both_counts(self, hmms: Sequence[Sequence[Cell]]) -> Report:
        score = self.ours.all_words
        figures = (score.accuracy, score.macro_f1, score.whole)
        bars = [
            Bar(f"CRF, {name} %", figure, least=least)
            for (name, least), figure in zip(self.least.items(), figures, strict=True)
        ]
        rows = [*hmms, self.baseline.row("python-crfsuite, plain features"), self.ours.row("CRF")]
        return Report("Over all words, and as the seed counts", COUNTS, rows, bars, {"f1": score.f1})

    def _by_class(self) -> Report:
        ours, baseline = self.ours.all_words, self.baseline.all_words
        rows: list[list[Cell]] = [
            [name, ours.right[name] + ours.missed[name], baseline.f1.get(name), figure]
            for name, figure in ours.f1.items()
        ]
        return Report("F1 by class over all words", ("class", "words", "plain", "CRF"), rows)


@dataclass
class Corrections:
    """Scores before and after learning corrections of wrong texts in a first half, tested on the second half.

    The scores are of the corrected texts, of the others, and of texts of the kind that the model was trained on:
    what was learned before should not be lost.
    """

    name: str
    before: tuple[Score, Score, Score] = field(default_factory=lambda: (Score(), Score(), Score()))
    after: tuple[Score, Score, Score] = field(default_factory=lambda: (Score(), Score(), Score()))
    seconds: list[float] = field(default_factory=list)

    def add(self, model: FieldCRF, texts: Sequence[TaggedText], same_kind: Sequence[TaggedText]) -> None:
        half = len(texts) // 2
        wrong = [text for text in texts[:half] if model.label(text.lines).labels != text.labels]
        wrong = wrong[:N_CORRECTIONS]
        started = time.process_time()
        corrected = model.corrected(wrong)
        self.seconds.append(time.process_time() - started)
        for tested, scores in ((model, self.before), (corrected, self.after)):
            for score, group in zip(scores, (wrong, texts[half:], same_kind), strict=True):
                for text in group:
                    score.add(text.labels, tested.label(text.lines).labels)

    def report(self) -> Report:
        rows: list[list[Cell]] = [self._row("before", self.before), self._row("after", self.after)]
        rows[0].append(None)
        rows[1].append(max(self.seconds))
        header = (
            "",
            "corrected texts wholly right %",
            "others: word error %",
            "others: wholly right %",
            "texts as trained on: word error %",
            "CPU seconds, at most",
        )
        title = f"Learning from at most {N_CORRECTIONS} corrected texts: {self.name}"
        return Report(title, header, rows)

    @staticmethod
    def _row(name: str, scores: tuple[Score, Score, Score]) -> list[Cell]:
        corrected, others, same_kind = scores
        return [name, corrected.whole, others.error, others.whole, same_kind.error]
