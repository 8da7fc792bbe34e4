"""Guesses what was meant when little or nothing is found for what was typed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import ClassVar

from trailmark.organise.search.engine import count_of
from trailmark.organise.search.opened import Opened
from trailmark.organise.search.query import Clause, Part, Query, Term, to_text
from trailmark.organise.search.spelling import Spelling

MUCH_COMMONER = 50  # times: a rare word may be a mistake that somebody made in print


@dataclass
class Guesses:
    """Learns the words of the index when first needed, and again when it has grown or shrunk by a tenth."""

    FEW: ClassVar[int] = 3  # hits below which a guess is made

    _spelling: Spelling | None = None
    _learned: tuple[Path, int] = (Path(), 0)
    _lock: Lock = field(default_factory=Lock)

    def learn(self, opened: Opened) -> Spelling:
        with self._lock:
            build, count = self._learned
            grown = abs(opened.searcher.num_docs - count)
            if self._spelling is None or build != opened.build or grown * 10 > count:
                self._spelling = Spelling(opened.searcher.terms_with_prefix("words", ""))
                self._learned = (opened.build, opened.searcher.num_docs)
            return self._spelling

    def better(self, opened: Opened, query: Query) -> str | None:
        """The query with every word that is not known put right; None if there is nothing better."""
        spelling = self.learn(opened)
        guess = Query(tuple(_clause(opened, spelling, clause) for clause in query.clauses))
        if guess == query:
            return None
        found = count_of(opened.searcher.search(opened.ranking.by_bm25(guess, (), every=True), 1))
        return to_text(guess) if found else None


def _clause(opened: Opened, spelling: Spelling, clause: Clause) -> Clause:
    if clause.sign == "-":
        return clause
    return replace(clause, any_of=tuple(_part(opened, spelling, part) for part in clause.any_of))


def _part(opened: Opened, spelling: Spelling, part: Part) -> Part:
    if not isinstance(part, Term) or part.prefix:
        return part
    better = [_word(opened, spelling, word) for word in part.words]
    return part if better == part.words else replace(part, text=" ".join(better))


def _word(opened: Opened, spelling: Spelling, word: str) -> str:
    having = opened.searcher.doc_freq("words", word)
    nearest = spelling.nearest(word)
    return nearest[0] if nearest and nearest[1] > having * MUCH_COMMONER else word
