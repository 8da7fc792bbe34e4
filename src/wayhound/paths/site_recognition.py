"""The goals among the pages of a site, from the log odds of three weak models and from how the pages belong together.

The log odds, their means over lists and templates, and the distance of a page to the best one of its site are the
features of one logistic model. Its weights are general: they know neither goals nor words. `bench.fit_recogniser`
fits them on tasks "taught on these sites, tested on that one", so that the probabilities hold on sites that were
not taught. A second pass then learns within the site: words and places that likely goals share raise other pages
that have them.

`next_question` asks a person about the page whose answer helps most; `paths.questions` chooses questions for
teaching instead, over many sites:

    answers: dict[str, bool] = {}
    while (page := next_question(recogniser, answers)) is not None:
        answers[page.url] = ask(page.url)
    recogniser.ranked(answers=answers)
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left, insort
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.resources import files
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.logistic import fit_log_odds
from wayhound.learn.odds import log_odds
from wayhound.paths.page_names import NO_MATCH, NameMatch

MAX_LOG_ODDS = 6.0  # beyond this a model is overconfident, and one of three must not decide alone
BEST_CHILDREN = 5
WELL_NAMED = 0.5  # from here on a page is named like the lesson's goals
# From here on a name may tell the only goal of a site; concepts that a lesson has by chance are weaker.
TELLING_NAME = 0.7
MAX_NAMED = 3  # if more pages than this are named like goals, the name does not single out a page
UNNAMED_SHARE = 0.1  # of the probability of other pages, where a name singles one out
MIN_SHARE = 0.3  # of the best page's probability that every reported page has
# From this share of taught sites with one goal on, further pages must be sure or nearly the best.
MANY_SINGLE = 0.6
SURE, NEARLY_BEST = 0.35, 0.85  # a page of this probability is sure; a share of the best page's
MAX_DOUBT = 0.85  # above this probability that a site has no goal, none is reported
MAX_NAMED_DOUBT = 0.75  # the same after a lesson whose goals are named
FEW_SITES = 2  # up to here, names that the taught sites agree on may be chance
MANY_GOALS = 15  # beyond, sites that have goals are doubted more: at .75, 5 to 15 % of them would be silent
MAX_DOUBT_AFTER_MANY = 0.9  # the same after so many goals: at .85, 2 to 8 % would be
NAMED_LESSON = 0.4  # from here on a lesson's goals are named by concepts that its sites agree on
MAX_REFUSED = 3  # after this many refused pages and no confirmed one, no goal is reported
SECOND_PASS_SHARE = 0.5  # of the log odds learned within the site
ANSWER_WEIGHT = 30.0  # of a page that a person answered, in the second pass; any other page has 1
# Log odds of an answered page for those that belong with it: at least this, or at most its negative.
ANSWER_LOG_ODDS = 2.0
MOSTLY_SINGLE = 0.8  # if this share of the taught sites showed one goal, one page of a site is reported
MOST_FITTED_SITES = 5  # of a lesson that `bench.fit_recogniser` fits the weights on
_WORD_SCALE, _TRAIT_SCALE, _PLACE_SCALE = 0.2, 0.3, 0.5
_MAX_SHARE = 0.8  # words of more than this share of the pages tell nothing
FEATURES = (
    "bias", "crf", "small", "wide", "list mean", "template mean", "below best", "best", "median", "start",
    "list size", "template size", "children", "child count", "pages", "one site", "one site, below best", "sites",
    "list best", "contrast", "parent", "parent is goal", "named", "named below best", "named alone",
    "single", "single, list size", "single, below best", "agreement", "crf, agreeing",
    "like goals", "like others", "likeness below best", "trusted likeness", "trusted likeness below best", "trust",
)  # fmt: skip
NONE_FEATURES = (
    "bias", "best", "doubtful best", "doubtful top", "doubtful sum", "doubtful none",
    "contrast", "small", "wide", "pages", "sites", "one goal", "named goals", "named best", "best named", "single",
)  # fmt: skip


Answers = Mapping[str, bool]
"""Answers of a person about pages of a site: True for a goal, by the URL of the page."""
NO_ANSWERS: Answers = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """One page: the log odds of a goal by each model, its name, and the pages that it belongs with."""

    url: str
    parent: str
    region: str
    template: int
    shape: str
    odds: tuple[float, ...]
    twin: str = ""  # shared by the translations of a page
    is_start: bool = False
    named: float = 0.0  # how far its name has the concepts that the lesson's goals have, in [0, 1]
    likeness: NameMatch = NO_MATCH  # how far its name looks like those of the lesson's pages
    words: Sequence[int] = ()
    traits: Sequence[int] = ()
    values: Sequence[float] = ()  # of the traits

    @property
    def groups(self) -> tuple[Hashable, ...]:
        """The list and the template that the page belongs to."""
        return (self.parent, self.region), self.template


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """Facts of a lesson beside its pages: how many sites and goals it shows, and how goals are named.

    With `one_goal`, each of several sites showed one. `single` is the share of sites that did, `named` how well goals
    are named by concepts that the sites agree on, in [0, 1]. With `told_by_name`, at least half of the
    sites showed one, and it could be told from the other pages of its site by its name.
    """

    sites: int
    goals: int = 0
    one_goal: bool = False
    single: float = 0.0
    named: float = 0.0
    told_by_name: bool = False
    name_trust: float = 0.0  # how far names that look alike tell goals from other pages, in [0, 1]

    @property
    def log_sites(self) -> float:
        """The logarithm of the number of taught sites, up to the most that the weights were fitted on.

        Beyond that a weight of it would say what no lesson has shown: after thirty sites, it doubted most sites.
        """
        return math.log(min(self.sites, MOST_FITTED_SITES))

    @property
    def max_doubt(self) -> float:
        """The most probable "no goal" at which goals are still reported.

        Doubts about sites that have goals are smaller after a lesson whose goals are named, and a lower limit silences
        no more of them. Names of one or two sites may be chance. After many goals, doubts are larger again.
        """
        if self.goals > MANY_GOALS:
            return MAX_DOUBT_AFTER_MANY
        is_named = self.named >= NAMED_LESSON and self.sites > FEW_SITES
        return MAX_NAMED_DOUBT if is_named else MAX_DOUBT


@dataclass(frozen=True, slots=True)
class RecogniserWeights:
    """The general weights.

    `pages` and `doubtful` are weights of `FEATURES`: `pages` for a site that has goals, `doubtful` for one that may
    have none. `none` are weights of `NONE_FEATURES`.
    """

    pages: tuple[float, ...]
    doubtful: tuple[float, ...]
    none: tuple[float, ...]


@lru_cache(maxsize=1)
def shipped_weights() -> RecogniserWeights:
    """Return the weights that the package ships, read once."""
    text = files("wayhound.paths").joinpath("data", "recogniser.json").read_text(encoding="utf-8")
    data = json.loads(text)
    pages, doubtful = (tuple(data[part][name] for name in FEATURES) for part in ("pages", "doubtful"))
    return RecogniserWeights(pages, doubtful, tuple(data["none"][name] for name in NONE_FEATURES))


@dataclass(frozen=True, slots=True)
class RankedPages:
    """Pages by number, the likeliest first, with their probabilities.

    The first `goals` of them are goals, the next `likely` are likely ones. `none_probability` is the probability
    that the site has no goal.
    """

    order: tuple[int, ...]
    probabilities: tuple[float, ...]
    goals: int
    likely: int
    none_probability: float


@dataclass
class SiteRecogniser:
    """Recognises the goals of one site, page after page.

    `second_pass` is the share of the log odds learned within the site.
    """

    lesson: LessonFacts
    weights: RecogniserWeights = field(default_factory=shipped_weights)
    second_pass: float = SECOND_PASS_SHARE
    pages: list[PageEvidence] = field(default_factory=list)
    _by_url: dict[str, float] = field(default_factory=dict)
    _sorted: list[float] = field(default_factory=list)
    _groups: dict[Hashable, tuple[float, int, float]] = field(default_factory=dict)
    _children: dict[str, list[float]] = field(default_factory=dict)
    _named: list[float] = field(default_factory=list)
    _best_name: float = -1.0
    _moments: Floats = field(default_factory=lambda: np.zeros(6))  # of `_agreement`, over the pages so far
    _known: dict[tuple[RecogniserWeights, tuple[tuple[str, bool], ...]], Floats] = field(
        default_factory=dict, init=False
    )  # probabilities by answers: a question and the report after it ask for the same ones

    def add(self, page: PageEvidence) -> float:
        """Add a page, and return the probability that it is a goal, given the pages so far."""
        odds = np.clip([page.odds], -MAX_LOG_ODDS, MAX_LOG_ODDS)
        mean = float(odds.mean())
        self._known.clear()
        self.pages.append(page)
        self._by_url[page.url] = mean
        insort(self._sorted, mean)
        insort(self._named, page.named)
        self._best_name = max(self._best_name, page.likeness.contrast)
        self._moments += _moments(odds)
        for group in page.groups:
            total, count, best = self._groups.get(group, (0.0, 0, -MAX_LOG_ODDS))
            self._groups[group] = (total + mean, count + 1, max(best, mean))
        best_children = self._children.setdefault(page.parent, [])
        insort(best_children, mean)
        del best_children[:-BEST_CHILDREN]
        probability = float(sigmoid(self._row(page, mean) @ np.array(self.weights.pages)))
        named = len(self._named) - bisect_left(self._named, TELLING_NAME)
        return probability if page.named >= TELLING_NAME else probability * self._unnamed_share(named)

    def _row(self, page: PageEvidence, mean: float) -> Floats:
        """Return the features of one page among those seen so far, as `rows` has them for all."""
        groups = [self._groups[group] for group in page.groups]
        best, median = self._sorted[-1], self._sorted[len(self._sorted) // 2]
        (total, size, list_best), (template, template_size, _) = groups
        odds = np.clip(page.odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
        children = self._children.get(page.url, ())
        child = sum(children) / len(children) if children else -MAX_LOG_ODDS
        one, single = float(self.lesson.sites == 1), self.lesson.single
        parent = self._by_url.get(page.parent, -MAX_LOG_ODDS)
        is_named = page.named >= WELL_NAMED
        alike = len(self._named) - bisect_left(self._named, WELL_NAMED)
        agreement, trust = _agreement(self._moments), self.lesson.name_trust
        name, below = page.likeness, page.likeness.contrast - self._best_name
        return np.array([
            1.0, *odds, total / size, template / template_size, mean - best, best, median,
            float(page.is_start), np.log(size), np.log(template_size), child - mean, np.log1p(len(children)),
            np.log(len(self.pages)), one, one * (mean - best), self.lesson.log_sites, list_best - mean,
            (best - median) * (mean - median) / MAX_LOG_ODDS, parent, 1 / (1 + np.exp(-parent)),
            page.named, page.named - self._named[-1], is_named / math.sqrt(max(alike, 1)),
            single, single * np.log(size), single * (mean - best), agreement, agreement * odds[0],
            name.goals, name.others, below, trust * name.contrast, trust * below, trust,
        ])  # fmt: skip

    def rows(self, answers: Answers = NO_ANSWERS) -> Floats:
        """Return the features of all pages, (pages, len(FEATURES)).

        Translations of one page have the mean of their log odds. Answers move the features of the pages that belong
        with an answered one, not the best of the site: a page that a person confirmed does not make other pages worse.
        """
        odds = np.clip(np.array([page.odds for page in self.pages]), -MAX_LOG_ODDS, MAX_LOG_ODDS)
        twins = group_numbers([page.twin or page.url for page in self.pages])
        odds = np.stack([group_means(column, twins)[0] for column in odds.T], axis=1)
        mean = odds.mean(axis=1)
        answered = self._with_answers(mean, answers)
        n, best, median = len(mean), mean.max(), np.median(mean)
        lists, templates = (
            group_numbers(groups) for groups in zip(*(p.groups for p in self.pages), strict=True)
        )
        total, size = group_means(answered, lists)
        template, template_size = group_means(answered, templates)
        list_best = np.full(lists.max() + 1, -MAX_LOG_ODDS)
        np.maximum.at(list_best, lists, answered)
        child, count = self._child_means(answered)
        one, single = float(self.lesson.sites == 1), self.lesson.single
        by_url = {page.url: value for page, value in zip(self.pages, answered.tolist(), strict=True)}
        parent = np.array([by_url.get(page.parent, -MAX_LOG_ODDS) for page in self.pages])
        named = np.array([page.named for page in self.pages])
        is_named = (named >= WELL_NAMED).astype(np.float64)
        agreement, trust = _agreement(_moments(odds)), self.lesson.name_trust
        names = np.array([(page.likeness.goals, page.likeness.others) for page in self.pages])
        contrast = names[:, 0] - names[:, 1]
        columns = [
            np.ones(n), *odds.T, total, template, mean - best, best, median,
            np.array([page.is_start for page in self.pages], dtype=np.float64), np.log(size), np.log(template_size),
            child - mean, np.log1p(count), np.log(n), one, one * (mean - best), self.lesson.log_sites,
            list_best[lists] - mean, (best - median) * (mean - median) / MAX_LOG_ODDS, parent, sigmoid(parent),
            named, named - named.max(), is_named / math.sqrt(max(is_named.sum(), 1.0)),
            single, single * np.log(size), single * (mean - best), agreement, agreement * odds[:, 0],
            *names.T, contrast - contrast.max(), trust * contrast, trust * (contrast - contrast.max()), trust,
        ]  # fmt: skip
        return np.stack([np.broadcast_to(column, (n,)) for column in columns], axis=1)

    def _with_answers(self, mean: Floats, answers: Answers) -> Floats:
        """Return the mean log odds of the pages, those of answered ones moved to `ANSWER_LOG_ODDS` or beyond."""
        odds = mean.copy()
        for number, page in enumerate(self.pages):
            if page.url in answers:
                low, high = -ANSWER_LOG_ODDS, ANSWER_LOG_ODDS
                odds[number] = max(mean[number], high) if answers[page.url] else min(mean[number], low)
        return odds

    def _child_means(self, mean: Floats) -> tuple[Floats, Floats]:
        """Return the mean of the best pages that were reached from each page, and the number of all of them."""
        numbers = {page.url: number for number, page in enumerate(self.pages)}
        children: dict[int, list[float]] = {}
        for page, value in zip(self.pages, mean.tolist(), strict=True):
            if page.parent in numbers:
                children.setdefault(numbers[page.parent], []).append(value)
        best, count = np.full(len(mean), -MAX_LOG_ODDS), np.zeros(len(mean))
        for number, values in children.items():
            best[number] = np.mean(sorted(values)[-BEST_CHILDREN:])
            count[number] = len(values)
        return best, count

    def probabilities(self, answers: Answers = NO_ANSWERS) -> Floats:
        """Return the probability that each page is a goal, after the second pass, (pages,)."""
        key = self.weights, tuple(answers.items())
        if key not in self._known:
            self._known[key] = self._probabilities(answers)
        return self._known[key]

    def _probabilities(self, answers: Answers) -> Floats:
        if not self.pages:
            return np.zeros(0)
        odds = self.rows(answers) @ np.array(self.weights.pages)
        truth, counts = sigmoid(odds), np.ones(len(odds))
        asked = [number for number, page in enumerate(self.pages) if page.url in answers]
        truth[asked] = [float(answers[self.pages[number].url]) for number in asked]
        counts[asked] = ANSWER_WEIGHT
        learned = self._second_pass(truth, counts)
        probabilities = sigmoid((1 - self.second_pass) * odds + self.second_pass * learned)
        named = np.array([page.named >= TELLING_NAME for page in self.pages])
        if not any(truth[number] and not named[number] for number in asked):  # then the name does not tell
            probabilities[~named] *= self._unnamed_share(int(named.sum()))
        probabilities[asked] = truth[asked]
        return probabilities

    def _unnamed_share(self, named: int) -> float:
        """Return the share of its probability that a page without the name of a goal keeps, beside so many named ones.

        A lesson may show one contact page here and a list of offices there. A site with a page called "Contact" is of
        the first kind: what resembles the offices, such as pages of people with addresses, is not what was meant.
        """
        return UNNAMED_SHARE if self.lesson.told_by_name and 1 <= named <= MAX_NAMED else 1.0

    def _second_pass(self, truth: Floats, counts: Floats) -> Floats:
        """Return log odds by a model of this site alone, fitted to probabilities that count so much, (pages,)."""
        rows, scales = _site_rows(self.pages)
        bounded = np.clip(truth, 0.01, 0.99)
        if not len(scales):
            return np.asarray(np.log(bounded / (1 - bounded)))
        weights, bias = fit_log_odds(rows, scales, bounded, counts)
        return np.asarray(rows @ weights + bias)

    def none_row(self, probabilities: Floats) -> Floats:
        """Return the features for the probability that the site has no goal, (len(NONE_FEATURES),).

        The probabilities of pages are for a site that has goals; the doubtful ones do not presume that.
        """
        odds = np.clip(np.array([page.odds for page in self.pages]), -MAX_LOG_ODDS, MAX_LOG_ODDS)
        doubtful = sigmoid(self.rows() @ np.array(self.weights.doubtful))
        ordered = np.sort(doubtful)[::-1]
        best, lesson = _log_odds(probabilities.max()), self.lesson
        return np.array([
            1.0, best, _log_odds(ordered[0]), _log_odds(ordered[:3].mean()), np.log1p(doubtful.sum()),
            np.log1p(-np.minimum(doubtful, 0.999)).sum(), best - _log_odds(np.median(probabilities)),
            odds[:, 1].max(), odds[:, 2].max(), np.log(len(probabilities)), lesson.log_sites,
            float(lesson.one_goal), lesson.named, self.pages[int(probabilities.argmax())].named,
            max(page.named for page in self.pages), lesson.single,
        ])  # fmt: skip

    def none_probability(self, answers: Answers = NO_ANSWERS, first: Floats | None = None) -> float:
        """Return the probability that the site has no goal: 0 if a person found one.

        By Bayes' rule every "no" divides the odds of "has goals" by 1 − p, where p is the probability of that page
        on a site with goals, given the answers before it. `first` are the probabilities without answers, if known.
        """
        if any(answers.get(page.url) for page in self.pages):
            return 0.0
        probabilities = self.probabilities() if first is None else first
        if not len(probabilities):
            return 1.0
        total = float(self.none_row(probabilities) @ np.array(self.weights.none))
        numbers = {page.url: number for number, page in enumerate(self.pages)}
        earlier: dict[str, bool] = {}
        for url in answers:
            if url in numbers:
                total -= math.log(1 - min(float(probabilities[numbers[url]]), 0.99))
                earlier[url] = False
                probabilities = self.probabilities(earlier)
        return float(sigmoid(np.array(total)))

    def _least(self, best: float) -> float:
        """Return the least probability of a reported page beside a best one of this probability.

        After "contact" was shown once on two sites and three times on the third, the best page of a site may be at .2
        and ten others at .1. Their sum promises more goals than one, but such a site has one.
        """
        if self.lesson.single < MANY_SINGLE:
            return MIN_SHARE * best
        return max(MIN_SHARE * best, min(SURE, NEARLY_BEST * best))

    def ranked(
        self,
        threshold: float | None = None,
        max_doubt: float | None = None,
        answers: Answers = NO_ANSWERS,
    ) -> RankedPages:
        """Return the pages by the probability that they are goals, cut into two tiers.

        Goals are as many of the likeliest pages as have the best expected F1, all of them at least `MIN_SHARE` as
        likely as the best: the many unlikely pages of a site are wrong together. Where most taught sites showed one
        goal, an unsure page must be nearly as likely as the best. Or those of at least `threshold`; none if the
        probability that the site has none is above `max_doubt` (by default the lesson's), or if a person refused
        `MAX_REFUSED` pages and confirmed none; one at most if nearly every taught site showed one. Likely pages are
        those that would be goals without that doubt, and others at least half as likely as the last of them. Pages
        that a person answered are what the answer says: goals come first, others are in neither tier.
        """
        probabilities = self.probabilities(answers)
        none = self.none_probability(answers, None if answers else probabilities)
        order = np.argsort(-probabilities, kind="stable")
        ordered = probabilities[order]
        confirmed = int((ordered == 1.0).sum())
        if threshold is None:
            best = ordered[confirmed] if confirmed < len(ordered) else 0.0
            count = best_expected_f1(np.where(ordered >= self._least(best), ordered, 0.0))
        else:
            count = int((ordered >= threshold).sum())
        if self.lesson.single >= MOSTLY_SINGLE:
            count = min(count, 1)
        count = min(max(count, confirmed), int((ordered > 0.0).sum()))
        likely = int((ordered >= ordered[count - 1] / 2).sum()) if count else 0
        refused = sum(not answers.get(page.url, True) for page in self.pages)
        limit = self.lesson.max_doubt if max_doubt is None else max_doubt
        is_doubted = none > limit or (refused >= MAX_REFUSED and not confirmed)
        goals = 0 if is_doubted else count
        return RankedPages(tuple(order.tolist()), tuple(ordered.tolist()), goals, likely - goals, none)


_USUAL_AGREEMENT, _USUAL_PAGES = 0.5, 5  # where few pages are known, agreement is taken to be the usual one
_NO_SPREAD = 1e-9  # of models that give every page the same log odds, up to rounding


def _moments(odds: Floats) -> Floats:
    """Return the sums from which `_agreement` is computed; those of several sets of pages can be added.

    `odds` are the log odds by each model, (pages, models): the path learner's, then those of the models of traits.
    """
    path, traits = odds[:, 0], odds[:, 1:].mean(axis=1)
    return np.array([len(odds), path.sum(), traits.sum(), path @ path, traits @ traits, path @ traits])


def _agreement(moments: Floats) -> float:
    """Return how far the path learner and the models of traits agree on the pages of a site, in [0, 1].

    It is their correlation, 0 if negative. On a site of another language or design the path learner knows few of the
    words, and orders the pages in another way than the models of traits, which know concepts and structure: there it
    must count less, and all pages are less sure.
    """
    count, path, traits, path_square, trait_square, product = map(float, moments)
    spread = (count * path_square - path**2) * (count * trait_square - traits**2)
    shared = (count * product - path * traits) / math.sqrt(spread) if spread > _NO_SPREAD else 0.0
    return (count * max(0.0, shared) + _USUAL_PAGES * _USUAL_AGREEMENT) / (count + _USUAL_PAGES)


_SiteTrait = tuple[str | int, ...]
_SITE_SCALES = {"word": _WORD_SCALE, "trait": _TRAIT_SCALE}


def _site_rows(pages: Sequence[PageEvidence]) -> tuple[csr_array, Floats]:
    """Return the traits that some pages of a site share, (pages, traits), and the scale of each, (traits,).

    One page at a time: the traits of a site with many thousand pages, as dictionaries, would take most of the memory.
    """
    numbers: dict[_SiteTrait, int] = {}
    columns, values, ends = array("l"), array("d"), array("l", [0])
    for page in pages:
        traits = _site_traits(page)
        columns.extend(numbers.setdefault(name, len(numbers)) for name in traits)
        values.extend(traits.values())
        ends.append(len(columns))
    rows = csr_array((np.array(values), np.array(columns), np.array(ends)), shape=(len(pages), len(numbers)))
    rows.sort_indices()
    occurrences = np.bincount(rows.indices, minlength=len(numbers))
    kept = np.flatnonzero((occurrences >= 2) & (occurrences <= _MAX_SHARE * len(pages)))
    scales = np.array([_SITE_SCALES.get(str(name[0]), _PLACE_SCALE) for name in numbers])
    return rows[:, kept], scales[kept]


def _site_traits(page: PageEvidence) -> dict[_SiteTrait, float]:
    traits: dict[_SiteTrait, float] = {("word", word): 1.0 for word in page.words}
    traits.update((("trait", number), value) for number, value in zip(page.traits, page.values, strict=True))
    places: tuple[_SiteTrait, ...] = (
        ("list", page.parent, page.region),
        ("template", page.template),
        ("shape", page.shape),
    )
    return traits | dict.fromkeys(places, 1.0)


def group_numbers(names: Sequence[Hashable]) -> Ints:
    """Number the names in order of their first occurrence; equal ones have the same number."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


_log_odds = partial(log_odds, least=1e-4)


def sigmoid(log_odds: Floats) -> Floats:
    """Return probabilities for log odds of any size."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * log_odds)))


def group_means(values: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """Return for every value the mean of its group and the size of its group, both (N,)."""
    counts = np.bincount(groups)
    means = np.bincount(groups, weights=values) / np.maximum(counts, 1)
    return means[groups], counts[groups].astype(np.float64)


def best_expected_f1(probabilities: Floats) -> int:
    """Return how many of the likeliest items to report for the best expected F1; 0 if there are none.

    With n reported, c(n) expected hits among them and t goals expected in all, F1 is about 2 c(n) / (n + t)
    (Lewis 1995).
    """
    if not len(probabilities):
        return 0
    ordered = np.sort(probabilities)[::-1]
    scores = 2 * np.cumsum(ordered) / (np.arange(1, len(ordered) + 1) + ordered.sum())
    return int(scores.argmax()) + 1


QUESTIONS_A_SITE = 3


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A page to ask about, and the probability that it is a goal."""

    url: str
    probability: float


def next_question(
    recogniser: SiteRecogniser, answers: Answers = NO_ANSWERS, most: int = QUESTIONS_A_SITE
) -> PageQuestion | None:
    """Return the page to ask about next, or None if `most` are answered or no page is left.

    Until a goal is confirmed, ask about the likeliest page: a "yes" proves that the site has goals. Then ask about
    the most uncertain page. Where one goal is expected, a confirmed one ends the questions.
    """
    asked = [page.url in answers for page in recogniser.pages]
    found = any(answers.get(page.url) for page in recogniser.pages)
    if sum(asked) >= most or all(asked) or (found and recogniser.lesson.one_goal):
        return None
    probabilities = recogniser.probabilities(answers)
    value = probabilities * (1 - probabilities) if found else probabilities
    number = int(np.where(asked, -1.0, value).argmax())
    return PageQuestion(recogniser.pages[number].url, float(probabilities[number]))
