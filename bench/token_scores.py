"""Shared by the benchmarks of headers and references: splits, scores, and the plain CRF as a baseline."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import Cell
from wayhound.papers.field_crf import TokenCRF
from wayhound.papers.field_hmm import header_word
from wayhound.papers.tagged import TaggedText
from wayhound.papers.token_features import shape
from wayhound.papers.tokens import label_runs
from wayhound.papers.training_data import read_text

FOLDS = 5
WHOLE_BLOCKS = ("abstract", "intro")
Labels = Sequence[str]


@dataclass(frozen=True, slots=True)
class Split:
    train: list[TaggedText]
    test: list[TaggedText]


def add_split_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--train", type=Path, metavar="FILE", help="train on this file instead of cross-validation"
    )
    parser.add_argument("--test", type=Path, metavar="FILE", help="and test on this one")


def splits(arguments: argparse.Namespace, file: Path, read: Callable[[str], list[TaggedText]]) -> list[Split]:
    """Return five folds of `file` in a fixed random order, or the two files of the options."""
    if arguments.train or arguments.test:
        if not (arguments.train and arguments.test):
            raise SystemExit("--train and --test go together")
        return [Split(read(read_text(arguments.train)), read(read_text(arguments.test)))]
    texts = read(read_text(file))
    order = random.Random(0).sample(range(len(texts)), len(texts))
    folds = [set(order[fold::FOLDS]) for fold in range(FOLDS)]
    return [
        Split(
            [text for number, text in enumerate(texts) if number not in fold],
            [text for number, text in enumerate(texts) if number in fold],
        )
        for fold in folds
    ]


@dataclass
class Score:
    """Right and wrong words by class, and texts without an error, summed over splits."""

    right: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    n_texts: int = 0
    n_whole: int = 0

    def add(self, truth: Labels, guess: Labels) -> None:
        self.n_texts += 1
        self.n_whole += list(truth) == list(guess)
        for expected, actual in zip(truth, guess, strict=True):
            if expected == actual:
                self.right[expected] += 1
            else:
                self.missed[expected] += 1
                self.added[actual] += 1

    @property
    def n_words(self) -> int:
        return self.right.total() + self.missed.total()

    @property
    def accuracy(self) -> float:
        return 100 * self.right.total() / max(1, self.n_words)

    @property
    def error(self) -> float:
        return 100 - self.accuracy

    @property
    def whole(self) -> float:
        return 100 * self.n_whole / max(1, self.n_texts)

    @property
    def f1(self) -> dict[str, float]:
        return {
            name: 200 * self.right[name] / (2 * self.right[name] + self.missed[name] + self.added[name])
            for name in sorted(self.right.keys() | self.missed.keys())
        }

    @property
    def macro_f1(self) -> float:
        """The mean over the classes that occur in the truth."""
        return sum(self.f1.values()) / len(self.f1)

    def class_error(self, name: str) -> float | None:
        n_words = self.right[name] + self.missed[name]
        return 100 * self.missed[name] / n_words if n_words else None


@dataclass
class BothCounts:
    """Scores over all words, and as the seed counts."""

    all_words: Score = field(default_factory=Score)
    seed: Score = field(default_factory=Score)

    def add(self, text: TaggedText, guess: Labels) -> None:
        self.all_words.add(text.labels, guess)
        self.seed.add(*seed_counts(text, guess))

    def row(self, name: str) -> list[Cell]:
        score = self.all_words
        return [name, score.accuracy, score.macro_f1, score.whole, self.seed.error]


COUNTS = ("model", "words right %", "macro-F1", "texts wholly right %", "word error % as the seed counts")


def seed_counts(text: TaggedText, guess: Labels) -> tuple[list[str], list[str]]:
    """Return truth and guess as the seed counts words.

    Punctuation does not count; an abstract or introduction is one word, which is right if most of its words are.
    """
    truth, guessed = list[str](), list[str]()
    words = text.words
    for label, first, last in label_runs(text.labels):
        if label in WHOLE_BLOCKS:
            truth.append(label)
            guessed.append(Counter(guess[first:last]).most_common(1)[0][0])
            continue
        counted = [word for word in range(first, last) if header_word(words[word])]
        truth += [label] * len(counted)
        guessed += [guess[word] for word in counted]
    return truth, guessed


def plain_features(text: TaggedText) -> Iterator[list[str]]:
    """Yield the features of the baseline: words and shapes in a window of five, affixes, line ends."""
    words = [
        (word, number, at, len(line))
        for number, line in enumerate(text.lines)
        for at, word in enumerate(line.words)
    ]
    for number, (word, line, at, length) in enumerate(words):
        names = [
            "bias",
            f"w={word.lower()}",
            f"s={shape(word)}",
            f"p={word[:3].lower()}",
            f"x={word[-3:].lower()}",
        ]
        for offset in (-2, -1, 1, 2):
            near = words[number + offset][0] if 0 <= number + offset < len(words) else "#"
            names += [f"{offset}w={near.lower()}", f"{offset}s={shape(near)}"]
        names += ["line-start"] * (at == 0) + ["line-end"] * (at == length - 1) + [f"line={min(line, 10)}"]
        yield names


def plain_crf(split: Split) -> list[Labels]:
    """Return the labels of python-crfsuite with plain features and common settings."""
    crf = TokenCRF(begins=False, max_iterations=150)
    crf.fit((list(plain_features(text)), text.labels) for text in split.train)
    return [crf.label(list(plain_features(text))).labels for text in split.test]


def report_progress(text: str) -> None:
    """Print progress to stderr, apart from the tables."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
