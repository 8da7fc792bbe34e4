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
    """Our CRF next to the floor over all splits; `least` are the bars for words, macro-F1 and whole texts.

    `foreign` are texts of another kind than those trained on, to see what corrections teach.
    """

    def __init__(self, kind: Kind, least: Mapping[str, float], foreign: Sequence[Tagged] = ()) -> None:
        self.kind = kind
        self.least = least
        self.foreign = foreign
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
        if not self._corrections:
            self._corrections = [
                corrections(model, texts, split.test, name) for name, texts in self._to_correct(split).items()
            ]

    def _to_correct(self, split: Split) -> dict[str, Sequence[Tagged]]:
        same: dict[str, Sequence[Tagged]] = {"texts of the same kind": split.test}
        return {**same, "texts of another kind": self.foreign} if self.foreign else same

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


def corrections(model: FieldCRF, texts: Sequence[Tagged], known: Sequence[Tagged], name: str) -> Report:
    """What a model learns from wrong texts of the first half being put right, judged by the second half.

    `known` are texts of the kind that the model was trained on: what was learned before should not be lost.
    """
    half = len(texts) // 2
    wrong = [text for text in texts[:half] if model.label(text.lines).labels != text.labels][:N_CORRECTIONS]
    began = time.process_time()
    after = model.corrected(wrong)
    seconds = time.process_time() - began
    rows: list[list[Cell]] = []
    for one, spent in ((model, None), (after, seconds)):
        scores = [judged(one, group) for group in (wrong, texts[half:], known)]
        rows.append(
            [
                f"after {len(wrong)} corrected texts" if spent is not None else "before",
                scores[0].whole,
                scores[1].error,
                scores[1].whole,
                scores[2].error,
                spent,
            ]
        )
    header = (
        "",
        "the corrected wholly right %",
        f"{len(texts) - half} others: word error %",
        "wholly right %",
        "texts as trained on: word error %",
        "CPU seconds",
    )
    return Report(f"Learning from corrections: {name}", header, rows)


def judged(model: FieldCRF, texts: Sequence[Tagged]) -> Score:
    score = Score()
    for text in texts:
        score.add(text.labels, model.label(text.lines).labels)
    return score
