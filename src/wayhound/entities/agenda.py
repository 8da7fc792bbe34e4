"""The order in which pages are extracted: those expected to add most to the graph first (Huang & Yu, Algorithms 1–2).

The utility of a page is the probability that it is relevant and can be extracted, times the value that the entities
on it would add for the workload (Eq. 4–9). Both are estimated from what is cheap to have: the URL, the title, the size,
and the beginning and the end of the page.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Literal

from wayhound.entities.workload import GraphValue, Values, Workload, query_words
from wayhound.text.words import normalised, plain_words
from wayhound.url import host_of

Strategy = Literal["random", "metadata", "content", "combined"]
STRATEGIES: tuple[Strategy, ...] = ("random", "metadata", "content", "combined")

HEAD_BYTES, TAIL_BYTES = 2_000, 1_000
_MAX_HEAD = 200_000  # before the body begins
_HEADER_WORDS, _HEADING_WORDS, _FOOTER_WORDS = 120, 40, 60
_RECENT = 50  # pages of a host that its rate of success is taken from
_TAGS = re.compile(rb"<[^>]*>|&[#\w]+;")
_SCRIPTS = re.compile(
    rb"<(?:(?:script|style)\b[^<]*+(?:<(?!/(?:script|style)\b)[^<]*+)*+(?:<[^>]*+>?+)?+|!--.*?-->)",
    re.DOTALL | re.IGNORECASE,
)
_UNSEEN = (b"<script", b"<style", b"<!--", b"<SCRIPT", b"<STYLE")
_HEADING = re.compile(rb"<[hH]([12])")
_MAX_HEADING = 400
_MAX_HEADINGS = 8


@dataclass(frozen=True, slots=True)
class LightPage:
    """Knowledge of a page before it is read: from the crawl, and its bytes if they are at hand."""

    key: str
    url: str
    title: str = ""
    size: int = 0
    body: Callable[[], bytes] = bytes


@dataclass(slots=True)
class _Seen:
    """A page that was segmented and tokenised once; its utility may be computed many times."""

    page: LightPage
    host: str
    features: tuple[str, ...]
    metadata: frozenset[str]
    content: frozenset[str] | None = None
    # numbers of the queries that these words cover, which do not change with the graph
    asked: tuple[int, ...] | None = None
    asked_in_content: tuple[int, ...] | None = None
    structure: tuple[str, ...] | None = None


_host_of = lru_cache(maxsize=10_000)(host_of)  # the pages of a host come by the thousand


def split_words(text: str, known: Mapping[str, object] | frozenset[str]) -> list[str]:
    """Split a run of letters into known words: `timberlodgesteakhouse` into timber, lodge and steakhouse.

    The fewest words win; letters that no word covers are left out. Linear in the length times the longest word.
    """
    longest = 20
    best: list[tuple[float, int]] = [(0.0, -1)] + [(math.inf, -1)] * len(text)
    for end in range(1, len(text) + 1):
        best[end] = (best[end - 1][0] + 1.5, end - 1)  # an unknown letter
        for start in range(max(0, end - longest), end - 2):
            if text[start:end] in known and best[start][0] + 1 < best[end][0]:
                best[end] = (best[start][0] + 1, start)
    words, end = [], len(text)
    while end > 0:
        start = best[end][1]
        if end - start > 2:
            words.append(text[start:end])
        end = start
    return words[::-1]


def segment(body: bytes, phrases: bool = False) -> tuple[list[str], list[str]]:
    """Return the words of the header and of the footer of a page, from its first and last bytes alone.

    With `phrases`, only words of noun phrases: they name the things that a page may describe.
    """
    read = _phrase_words if phrases else _plain
    start = body.find(b"<body", 0, _MAX_HEAD)
    start = start if start >= 0 else max(0, body.find(b"<BODY", 0, _MAX_HEAD))
    header = read(body[start : start + HEAD_BYTES])[:_HEADER_WORDS]
    header += read(b" | ".join(_headings(body)))[:_HEADING_WORDS]
    return header, read(body[-TAIL_BYTES:])[-_FOOTER_WORDS:]


def _headings(body: bytes) -> Iterator[bytes]:
    """Yield the content of the first headings, those of the first level before those of the second."""
    starts = list(_HEADING.finditer(body, 0, 10 * HEAD_BYTES))
    for level in (b"1", b"2"):
        for start in [start for start in starts if start[1] == level][:_MAX_HEADINGS]:
            begin = body.find(b">", start.end(), start.end() + _MAX_HEADING) + 1
            end = body.find(b"</", begin, begin + _MAX_HEADING)
            while end > 0 and body[end + 2 : end + 4].lower() != b"h" + level:
                end = body.find(b"</", end + 2, begin + _MAX_HEADING)
            if 0 < begin <= end:
                yield body[begin:end]


def _plain(markup: bytes) -> list[str]:
    """Return the words of a piece of markup in plain letters; others are dropped, which is fast."""
    return plain_words(_plain_text(markup, b" "))


def _plain_text(markup: bytes, between: bytes) -> str:
    if any(mark in markup for mark in _UNSEEN):
        markup = _SCRIPTS.sub(b" ", markup)
    text = _TAGS.sub(between, markup).decode("utf-8", "ignore")
    return text if text.isascii() else normalised("NFKD", text).encode("ascii", "ignore").decode()


_REST = r"[^\W_]*+(?:['.&-]++[^\W_]++)*+"
_LINK = r"(?:of|the|and|de|la|le|du|del|di|da|des|&)"
_PHRASE = re.compile(rf"[A-Z]{_REST}(?:[ \t]++(?:{_LINK}[ \t]++)*+[A-Z0-9]{_REST})*+")


def noun_phrases(text: str) -> list[str]:
    """Return the runs of capitalised words in a text, with small words between: a chunker without a grammar.

    >>> noun_phrases("Welcome to the Bridge of Sighs Cafe in New York, open since 1970")
    ['Welcome', 'Bridge of Sighs Cafe', 'New York']
    """
    return _PHRASE.findall(text)


def _phrase_words(markup: bytes) -> list[str]:
    """Return the words of the noun phrases of a piece of markup; all words where nothing is capitalised."""
    text = _plain_text(markup, b" | ")  # a phrase does not go on into another element
    return plain_words(" ".join(noun_phrases(text)) or text)


# The probability that a page is extracted


class Relevance:
    """Pr(p is relevant), learned online by logistic regression on the metadata of pages (URL, title words, size)."""

    def __init__(self, prior: float = 0.2, rate: float = 0.5) -> None:
        self._weights: dict[str, float] = {}
        self._squares: dict[str, float] = {}
        self._bias = math.log(prior / (1 - prior))
        self._rate = rate

    def probability(self, features: Sequence[str]) -> float:
        weights = self._weights
        score = self._bias + sum([weights[name] for name in features if name in weights])
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))

    def learn(self, features: Sequence[str], relevant: bool) -> None:
        """Take one step of AdaGrad: rare features learn fast, frequent ones settle."""
        gradient = relevant - self.probability(features)
        self._bias += 0.02 * gradient
        step, square = self._rate * gradient / math.sqrt(len(features) or 1), gradient * gradient
        weights, squares = self._weights, self._squares
        for name in features:
            sum_of_squares = squares[name] = squares.get(name, 1e-3) + square
            weights[name] = weights.get(name, 0.0) + step / math.sqrt(sum_of_squares)


class HostSuccess:
    """Pr(p is extracted | p is relevant): the recent rate of success on the host, smoothed towards all hosts."""

    def __init__(self, prior: float = 0.7, strength: float = 2.0) -> None:
        self._prior = prior
        self._strength = strength
        self._recent: dict[str, deque[bool]] = defaultdict(lambda: deque(maxlen=_RECENT))

    def probability(self, host: str) -> float:
        recent = self._recent.get(host, ())
        return (sum(recent) + self._strength * self._prior) / (len(recent) + self._strength)

    def learn(self, host: str, succeeded: bool) -> None:
        self._recent[host].append(succeeded)


_MARKS = (b"itemprop", b"ld+json", b"vcard", b"tel:", b"mailto:", b"<address", b"<table", b"<form", b"<iframe", b"<img",
          b"<li", b"<p", b"<script", b"@", b"+", b"map")  # fmt: skip


def structure_features(body: bytes) -> Iterator[str]:
    """Yield features of the elements and the words of a page, for a regression of extraction success on them.

    Counts are in powers of two: three links more or less make no difference, ten times as many do.
    """
    for mark in _MARKS:
        yield f"{mark.decode()}:{body.count(mark).bit_length()}"
    header, footer = segment(body)
    yield f"words:{len(header).bit_length()}"
    yield from (
        f"w:{word}" for word in dict.fromkeys([*header[-_HEADING_WORDS:], *footer]) if not word.isdigit()
    )


# Utility


@dataclass
class PageScorer:
    """Estimates the utility of pages (Algorithm 2) against a workload and the graph as it is."""

    workload: Workload
    value: GraphValue
    strategy: Strategy = "combined"
    endorsed: Mapping[str, float] = field(default_factory=dict)  # importance of URLs or hosts from outside
    corroboration: float = 0.0  # worth of a second source for an uncertain value, beside that of a new one
    expected_value: float = 3.0  # V(e, q), taken as constant for all entities (Eq. 9)
    relevance: Relevance = field(default_factory=Relevance)
    success: HostSuccess = field(default_factory=HostSuccess)
    structure: Relevance | None = (
        None  # estimates the success in place of the host's rate, by `structure_features`
    )
    _names: dict[str, list[frozenset[str]]] = field(default_factory=lambda: defaultdict(list), init=False)
    _hosts: dict[str, list[str]] = field(default_factory=dict, init=False)
    _doubts: dict[int, float] = field(default_factory=dict, init=False)

    def see(self, page: LightPage) -> _Seen:
        """Segment and tokenise a page (Algorithm 2, lines 1–3)."""
        scheme, _, rest = page.url.partition("://")
        authority, _, folders = rest.partition("/")
        host = _host_of(f"{scheme}://{authority}/")
        path = plain_words(folders[:300])
        title = plain_words(page.title[:300])
        size = f"size:{(page.size + 1).bit_length() - 1}" if page.size else "size:?"
        names = [f"u:{word}" for word in path if not word.isdigit()] + [f"t:{word}" for word in title]
        features = dict.fromkeys([f"host:{host}", size, *names])
        return _Seen(page, host, tuple(features), frozenset([*title, *path, *self._host_words(host)]))

    def _host_words(self, host: str) -> list[str]:
        words = self._hosts.get(host)
        if words is None:
            label = host.removeprefix("www.").rsplit(".", 1)[0]
            parts = re.split(r"[.:-]", label) if self.workload.queries else []
            known = self.workload.vocabulary
            # a part that is no word by itself may be several written as one
            words = self._hosts[host] = [
                word for part in parts for word in ([part] if part in known else split_words(part, known))
            ]
        return words

    def probability(self, seen: _Seen) -> float:
        """Pr(p), the product of relevance and extraction success."""
        relevant = self.relevance.probability(seen.features)
        if self.structure is None:
            return relevant * self.success.probability(seen.host)
        return relevant * self.structure.probability(self._structure(seen))

    def _structure(self, seen: _Seen) -> tuple[str, ...]:
        if seen.structure is None:
            seen.structure = (f"host:{seen.host}", *structure_features(seen.page.body()))
        return seen.structure

    def utility(self, seen: _Seen, *, at_a_glance: bool = False, probability: float | None = None) -> float:
        """U(p) (Eq. 4, 7): probability times the expected gain of what the page seems to describe.

        At a glance the combined strategy takes what the metadata says for all: the content is read only of pages that
        come near the top, which is a third of the cost. `probability` is that of the page, if it is known.
        """
        if probability is None:
            probability = self.probability(seen)
        importance = self.endorsed.get(seen.page.url, 0.0) + self.endorsed.get(seen.host, 0.0)
        if not self.workload.queries:
            return probability * (1 + importance) * self._novelty(seen.metadata)
        gain = 0.0
        if self.strategy in ("metadata", "combined"):
            if seen.asked is None:
                seen.asked = tuple(self.workload.covered(seen.metadata))
            gain += self._gain(seen.asked, seen.metadata)
        if at_a_glance and self.strategy == "combined" and seen.content is None:
            gain *= 2
        elif self.strategy in ("content", "combined") and probability > _HOPELESS:
            content = self._content(seen)
            if seen.asked_in_content is None:
                seen.asked_in_content = tuple(self.workload.covered(content))
            gain += self._gain(seen.asked_in_content, content)
        if self.strategy == "combined":
            gain /= 2  # an equal-weighted sum
        # what no query asks for is still worth a little: it may be asked for tomorrow
        return probability * ((gain + _UNASKED) * (1 + importance))

    def demand(self, words: frozenset[str]) -> float:
        """Return the expected gain of an entity of which these words are known, without the page that has it."""
        return self._gain(tuple(self.workload.covered(words)), words) + _UNASKED

    def words_of(self, url: str, text: str) -> frozenset[str]:
        """Return the words that a URL and a text beside it name: of its path, its host and the text."""
        path = url.partition("://")[2].partition("/")[2][:300]
        return frozenset([*plain_words(f"{text[:300]} {path}"), *self._host_words(host_of(url))])

    def _content(self, seen: _Seen) -> frozenset[str]:
        if seen.content is None:
            header, footer = segment(seen.page.body(), phrases=True)
            seen.content = frozenset([*header, *footer])
        return seen.content

    def _gain(self, asked: Sequence[int], words: frozenset[str]) -> float:
        """Return the expected increase of the graph's value (Eq. 5 and 6) from the queries that words cover."""
        total = 0.0
        novelty: float | None = None
        for number in asked:
            query = self.workload.queries[number]
            matched = self.value.matched(number)
            if not matched:
                total += query.count
            elif query.kind == "category":
                total += query.count * self.value.alpha ** -len(matched)
            else:
                if novelty is None:  # needed only where a query has an answer already
                    novelty = self._novelty(words)
                doubt = (
                    max(self._doubts.get(entity, 1.0) for entity in matched) if self.corroboration else 0.0
                )
                total += query.count * max(novelty, self.corroboration * doubt)
        return total * self.expected_value * self.value.c

    def _novelty(self, words: frozenset[str]) -> float:
        """Return 1 − Pr(e ∈ CG): the similarity of what the page names to names in the graph is that probability."""
        best = 0.0
        for word in words:
            for name in self._names.get(word, ()):
                if name <= words:
                    best = max(best, 0.9)
        return 1 - best

    def learn(self, seen: _Seen, *, relevant: bool, extracted: bool) -> None:
        """Take in the result of an extraction."""
        self.relevance.learn(seen.features, relevant)
        if relevant:
            self.success.learn(seen.host, extracted)
            if self.structure is not None:
                self.structure.learn(self._structure(seen), extracted)

    def take_in(self, changed: Mapping[int, Values], doubts: Mapping[int, float] | None = None) -> None:
        """Take in entities that joined the graph or changed, and how uncertain they are; wholly, if that is unknown."""
        self._doubts.update(doubts or {})
        for entity, values in changed.items():
            self.value.update(entity, values)
            self.know(values)

    def know(self, values: Values) -> None:
        """Take in an entity that is in the graph now: its name, with the words of its place."""
        for name in values.get("name", ()):
            words = frozenset(query_words(name))
            if words:
                rarest = max(words, key=lambda word: (len(word), word))
                if words not in self._names[rarest]:
                    self._names[rarest].append(words)


_HOPELESS = 0.1  # below this the content of a page is not looked at: its metadata has decided
_UNASKED = 0.05


# Scheduling

_CHOICE = 4  # relevant pages to choose from, for each that is extracted; metadata alone is cheap
_RECENCY = 0.01


@dataclass
class Agenda:
    """The working set of Algorithm 1: a priority queue of pages by utility, of which the top is kept up to date."""

    scorer: PageScorer
    sample: int = 400  # s, pages scored in each round, at most
    batch: int = 20  # b, pages extracted in each round
    threshold: float = 0.0  # δ
    rescore: int = 20  # k ≥ b, pages whose utility is updated before a batch, with their content
    choice: float | None = _CHOICE  # None: all of the sample is scored in each round
    capacity: int = (
        20_000  # pages of which words are kept; those worth least wait without, to be scored again
    )
    _heap: list[tuple[float, int, _Seen]] = field(default_factory=list, init=False)
    _count: int = field(default=0, init=False)
    _hope: float = field(default=0.5, init=False)  # mean probability of the pages that were offered of late
    _aside: list[LightPage] = field(default_factory=list, init=False)
    scored: int = field(default=0, init=False)
    discarded: int = field(default=0, init=False)

    @property
    def sample_size(self) -> int:
        """Pages to score in the next round: fewer where most are worth extracting, as there is less to choose."""
        if self.choice is None:
            return self.sample
        return min(self.sample, math.ceil(self.choice * self.batch / max(self._hope, 0.01)))

    def offer(self, page: LightPage) -> None:
        """Score a page and put it into the working set, unless its utility is not above the threshold."""
        seen = self.scorer.see(page)
        probability = self.scorer.probability(seen)
        utility = self.scorer.utility(seen, at_a_glance=True, probability=probability)
        self._hope += _RECENCY * (probability - self._hope)
        self.scored += 1
        if utility > self.threshold:
            self._push(utility, seen)
            if len(self._heap) > self.capacity:
                self._set_aside()
        else:
            self.discarded += 1

    def _set_aside(self) -> None:
        """Keep the better half of the working set, and of the others the pages alone."""
        self._heap.sort()  # a sorted list is a heap
        half = self.capacity // 2
        self._aside += [seen.page for _, _, seen in self._heap[half:]]
        del self._heap[half:]

    def resume_aside(self) -> list[LightPage]:
        """Return the pages that were set aside, to be offered again when no others are left."""
        pages, self._aside = self._aside, []
        return pages

    def take(self) -> list[_Seen]:
        """Remove and return a batch: the pages of the highest utility, after an update of the top k.

        The update (line 13 of Algorithm 1) brings utilities in line with the graph as it is now.
        """
        top = [heapq.heappop(self._heap)[2] for _ in range(min(self.rescore, len(self._heap)))]
        for seen in top:
            self._push(self.scorer.utility(seen), seen)
        return [heapq.heappop(self._heap)[2] for _ in range(min(self.batch, len(self._heap)))]

    def __len__(self) -> int:
        return len(self._heap)

    def _push(self, utility: float, seen: _Seen) -> None:
        self._count += 1
        heapq.heappush(self._heap, (-utility, self._count, seen))


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result of extracting one page: whether it was relevant, and the entities that changed, with their values."""

    relevant: bool
    extracted: bool
    changed: Mapping[int, Values] = field(default_factory=dict)
    doubts: Mapping[int, float] = field(default_factory=dict)


Extract = Callable[[LightPage], PageResult]


def run_agenda(
    corpus: Iterable[LightPage], agenda: Agenda, extract: Extract, rng: Random, most: int | None = None
) -> Iterator[int]:
    """Extract a corpus batch by batch (Algorithm 1); yield the number of pages extracted after each batch.

    The caller may stop at any time: what was extracted until then is a valid result. `random` takes pages as they come.
    """
    waiting = list(corpus)
    rng.shuffle(waiting)
    done = 0
    scorer = agenda.scorer
    while (waiting or len(agenda) or (waiting := agenda.resume_aside())) and (most is None or done < most):
        if scorer.strategy == "random":
            batch = [scorer.see(page) for page in _cut(waiting, agenda.batch)]
        else:
            for page in _cut(waiting, agenda.sample_size):
                agenda.offer(page)
            batch = agenda.take()
        for seen in batch:
            outcome = extract(seen.page)
            done += 1
            scorer.take_in(outcome.changed, outcome.doubts)
            scorer.learn(seen, relevant=outcome.relevant, extracted=outcome.extracted)
        yield done


def _cut(waiting: list[LightPage], count: int) -> list[LightPage]:
    taken = waiting[-count:]
    del waiting[-count:]
    return taken
