"""The rules of one anchor element path: landmarks around its links, and where their list begins and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from wayhound.chains.paths import Label, is_parted, place_of, tag_path
from wayhound.chains.rules import LeafRule, PageRules, PathRule
from wayhound.chains.template import ENOUGH_PAGES, Template, tokens_after, tokens_before
from wayhound.chains.tokens import TokenPage
from wayhound.learn.landmarks import (
    Landmark,
    LandmarkLearner,
    SkipExample,
    SkipRule,
    Term,
    TokenClass,
    bare,
    classes_of,
)

_MEMBERS = frozenset("a li tr article h2 h3 h4 h5 h6 figure".split())
_HOLDERS = frozenset("dd ul ol menu dl table tbody td nav p span section".split())
_MAX_LANDMARK = 8
_MAX_LABEL = 16
_MAX_LEAVES = 12


@dataclass(frozen=True, slots=True)
class PathLesson:
    """One page of a cluster: the links that the rules must take, and the label over them, if any."""

    page: TokenPage
    members: tuple[int, ...]
    label: Label | None
    refused: frozenset[int] = frozenset()


class LeafLearner:
    """Learns the leaf of a path: landmarks that tell its links from others nearby."""

    def __init__(self, template: Template) -> None:
        self.template = template

    def best_lone(self, lessons: list[PathLesson], text: str) -> tuple[LeafRule, bool] | None:
        """Return the leaf that takes just the members from the whole page, and alike links from other pages.

        Of those that do, the one that takes links from most other pages, then the shortest; None if none does. The
        second value is False if it leaves out pages from which another takes a part of a list: then the list is wanted,
        and a single link does not tell it.
        """
        places = [(lesson.page, token) for lesson in lessons for token in lesson.members]
        before, after = self.template.context(places)
        repeats = len(places) > len(lessons)
        members: dict[str, set[int]] = {}
        for lesson in lessons:
            members.setdefault(lesson.page.url, set()).update(lesson.members)
        pages = {lesson.page.url: lesson.page for lesson in lessons}
        fit = _Fit(before, after, text)
        rivals = {size for url, page in pages.items() for size in fit.sizes(page, members[url])}
        others = [fit.sizes(page) for page in self.template.others]
        lists = [] if self._are_parted(lessons) else [fit.lists(page) for page in self.template.others]
        best: tuple[tuple[float, ...], LeafRule] | None = None
        most = 0
        for left in range(len(before)):
            for right in range(len(after) + 1):
                if any(_reaches(size, left, right) for size in rivals):
                    continue
                taken = [_taken(sizes, left, right) for sizes in others]
                mixed = sum(len({tags for tags, _ in links}) > 1 for links in taken)
                parted = sum(_is_parted(sizes, left, right) for page in lists for sizes in page)
                covered = sum(map(bool, taken))
                # a link that leads to one page from wherever it stands relates nothing
                targets = {target for links in taken for _, target in links}
                useless = not repeats and covered >= ENOUGH_PAGES and len(targets) == 1
                # alone on its page, a link is rather told by what follows: the parent of a page comes right before it
                cost = left + 1.5 * right if repeats else 1.3 * left + right
                key = (-mixed, -parted, -useless, covered, -cost - 1.2 * (left == 0))
                most = max(most, 0 if mixed or useless else covered)
                if best is None or key > best[0]:
                    best = key, LeafRule(before[len(before) - 1 - left :], after[:right])
        if best is None or best[0][1]:
            return None
        return best[1], best[0][3] >= most

    def _are_parted(self, lessons: list[PathLesson]) -> bool:
        """Return True if an element holds a member and a like link that is none: links of a list are told apart."""
        return any(is_parted(lesson.page, lesson.members) for lesson in lessons)

    def choices(self, lessons: list[PathLesson], text: str) -> Iterable[tuple[LeafRule, ...]]:
        places = [(lesson.page, token) for lesson in lessons for token in lesson.members]
        others = [
            (lesson.page, token)
            for lesson in lessons
            for token in self._rivals(lesson)
            if not text or lesson.page.anchor(token).text == text
        ]
        before, after = self.template.context(places)
        sizes = sorted(
            ((left, right) for left in range(len(before)) for right in range(len(after) + 1)),
            key=lambda size: (size[0] + 1.5 * size[1] + 1.2 * (size[0] == 0), size[1]),
        )
        yielded = 0
        for left, right in sizes:
            leaf = LeafRule(before[len(before) - 1 - left :], after[:right])
            if not any(_fits(leaf, page, token) for page, token in others):
                yield (leaf,)
                yielded += 1
                if yielded == _MAX_LEAVES:
                    return
        if not yielded:
            yield self._covering_leaves(places, others)
            yield (LeafRule(before, after),)

    def _rivals(self, lesson: PathLesson) -> list[int]:
        """Return the other links of the stretch that the list lies in: the leaf must tell them from the members."""
        label = lesson.label
        if label:
            begin, end = label.begin, label.region_end
        else:
            begin, end = _stretch(lesson)
        members = set(lesson.members)
        return [token for token in lesson.page.link_tokens if begin <= token < end and token not in members]

    def _covering_leaves(
        self, places: Sequence[tuple[TokenPage, int]], others: Sequence[tuple[TokenPage, int]]
    ) -> tuple[LeafRule, ...]:
        """Return a disjunction: the members are grouped by the token before them, and each group has its own leaf."""
        groups: dict[str, list[tuple[TokenPage, int]]] = {}
        for page, token in places:
            groups.setdefault(page.tokens[token - 1] if token else "", []).append((page, token))
        leaves: list[LeafRule] = []
        for group in sorted(groups.values(), key=len, reverse=True):
            before, after = self.template.context(group)
            sizes = sorted(
                ((left, right) for left in range(len(before)) for right in range(len(after) + 1)), key=sum
            )
            choices = (LeafRule(before[len(before) - 1 - left :], after[:right]) for left, right in sizes)
            leaf = next(
                (leaf for leaf in choices if not any(_fits(leaf, page, token) for page, token in others)),
                LeafRule(before, after),
            )
            if leaf not in leaves:
                leaves.append(leaf)
        return tuple(leaves)


class ListLearner:
    """Learns where the list of a path begins and ends, given its leaf."""

    def __init__(self, template: Template) -> None:
        self.template = template

    def start(self, lessons: list[PathLesson], path: PathRule) -> SkipRule:
        rules = PageRules([path])
        examples: list[SkipExample] = []
        needed = False
        for lesson in lessons:
            first = lesson.members[0]
            members = set(lesson.members)
            rivals = [token for token in rules.tokens(lesson.page) if token not in members]
            earlier = max((token for token in rivals if token < first), default=-1)
            needed = needed or earlier >= 0 or lesson.label is not None
            examples += _start_examples(lesson, first, earlier)
        if not needed:
            return SkipRule()
        labelled = any(lesson.label for lesson in lessons)
        if labelled and (landmark := self._label_landmark(lessons, examples)):
            return SkipRule(tuple((run,) for run in (landmark, *self.template.twins(landmark))))
        is_stable = self.template.is_stable if labelled else lambda _word: False
        learner = LandmarkLearner(is_stable, self.template.is_common, late=True).fit(examples)
        return SkipRule(tuple(self._lengthen(rule, examples) for rule in learner.alternatives_))

    def _label_landmark(self, lessons: list[PathLesson], examples: Sequence[SkipExample]) -> Landmark:
        """Return the whole label as a landmark, if it is right on all examples; else an empty one.

        It is the most specific candidate, and what people would name: a part of it is right on few examples, and too
        little on pages that nobody has seen.
        """
        spans = [
            lesson.page.tokens[lesson.label.begin : lesson.label.end] for lesson in lessons if lesson.label
        ]
        choices = {run for span in spans for run in self._stable_runs(span)}
        choices = {run for run in choices if all(_contains(span, run) for span in spans)}
        for run in sorted(choices, key=lambda run: (-_count_words(run), -len(run), run)):
            stops = [(_stop((run,), example), example) for example in examples]
            if all(
                (stop is not None and example.earliest <= stop <= example.latest)
                if example.is_positive
                else stop is None
                for stop, example in stops
            ):
                return run
        return ()

    def _stable_runs(self, span: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the stretches of a label between the words that belong to one page, each with a word of its own."""
        runs: list[list[str]] = [[]]
        for token in span:
            if token[0] == "<" or self.template.is_stable(token):
                runs[-1].append(bare(token))
            elif runs[-1]:
                runs.append([])
        return [tuple(run) for run in runs if 0 < len(run) <= _MAX_LABEL and _count_words(tuple(run))]

    def _lengthen(self, rule: tuple[Landmark, ...], examples: Sequence[SkipExample]) -> tuple[Landmark, ...]:
        """Extend the last landmark over its text and the tags around it, where all examples that it fits agree.

        A single word is enough to be right on the examples, and too little on pages that nobody has seen.
        """
        tokens_of = [
            (example.tokens, stop)
            for example in examples
            if example.is_positive and (stop := _stop(rule, example)) is not None
            and example.earliest <= stop <= example.latest
        ]  # fmt: skip
        landmark = list(rule[-1])
        if not any(isinstance(term, str) and term[0] != "<" for term in landmark):
            return rule
        for step in (-1, 1):
            while len(landmark) < _MAX_LANDMARK:
                width = len(landmark) if step < 0 else 0
                places = [stop - width - 1 if step < 0 else stop for _, stop in tokens_of]
                if not all(
                    0 <= place < len(tokens) for place, (tokens, _) in zip(places, tokens_of, strict=True)
                ):
                    break
                terms = {tokens[place] for place, (tokens, _) in zip(places, tokens_of, strict=True)}
                term = terms.pop() if len(terms) == 1 else None
                if term is None or (term[0] != "<" and not self.template.is_stable(term)):
                    break
                landmark.insert(0 if step < 0 else len(landmark), bare(term))
                if step > 0:
                    tokens_of = [(tokens, stop + 1) for tokens, stop in tokens_of]
                if term[0] == "<":
                    break
        return (*rule[:-1], tuple(landmark))

    def ends(self, lessons: list[PathLesson], path: PathRule) -> tuple[SkipRule, SkipRule]:
        """Return the end rule, which runs from the end of the page (section 3.2), and the one that closes the list.

        The latter runs forward from the start of the list. It is kept as a guard: a part more or less after the list
        moves the last landmark of a page, but not the first one after the list. The rule from the end is left out
        unless enough pages show that it takes the same links.
        """
        rules = PageRules([path])
        spans: list[_Span] = []
        for lesson in lessons:
            region = rules.regions(lesson.page)[0]
            if region is None:
                continue
            members = set(lesson.members)
            rivals = [token for token in rules.tokens(lesson.page) if token not in members]
            last = lesson.members[-1]
            later = min((token for token in rivals if token > last), default=len(lesson.page.tokens))
            spans.append(_Span(lesson, region.start, last, later))
        if not any(span.later < len(span.lesson.page.tokens) or span.lesson.label for span in spans):
            return SkipRule(), SkipRule()
        forward = self._learn_end([example for span in spans for example in span.forward()])
        from_end = self._learn_end(
            [example for span in spans for example in span.from_end()], self._is_label_word
        )
        close = SkipRule(forward or ())
        if forward is None or from_end is None:
            return SkipRule(), close
        reversed_marks = (tuple(mark[::-1] for mark in sequence) for sequence in from_end)
        end = SkipRule(tuple(reversed_marks), from_end=True)
        return end if self._agree(replace(path, close=close), replace(path, end=end)) else SkipRule(), close

    def _learn_end(
        self, examples: Sequence[SkipExample], is_stable: Callable[[str], bool] = lambda _word: False
    ) -> tuple[tuple[Landmark, ...], ...] | None:
        """Return the sequences of an end rule; None if some example is not explained.

        The tags that close a list are near, and enough for a rule that runs forward. One that runs from the end may
        need the words of a later label to get past a part of the page.
        """
        learner = LandmarkLearner(is_stable, self.template.is_common, window=12).fit(examples)
        return None if learner.uncovered_ else learner.alternatives_

    def _is_label_word(self, word: str) -> bool:
        return isinstance(self.template.literal(word), str)

    def _agree(self, *paths: PathRule) -> bool:
        first, second = (PageRules([path]) for path in paths)
        lists = 0
        for page in self.template.pages:
            tokens = first.tokens(page)
            if tokens != second.tokens(page):
                return False
            lists += bool(tokens)
        return lists >= ENOUGH_PAGES


def _count_words(run: Sequence[str]) -> int:
    return sum(token[0] != "<" and token[0].isalnum() for token in run)


def _contains(span: Sequence[str], run: tuple[str, ...]) -> bool:
    bared = tuple(map(bare, span))
    return any(bared[start : start + len(run)] == run for start in range(len(bared) - len(run) + 1))


_Size = tuple[int, int]
"""The numbers of terms of the landmarks before and after a link that fit it, its own tag not counted."""


class _Fit:
    """Measures how much of the longest landmarks fits the links of a page; links that say something else are left out.

    Members of a list have the same tokens around them: what was measured once is remembered.
    """

    def __init__(self, before: Landmark, after: Landmark, text: str) -> None:
        self._before, self._after, self._text = before[::-1], after, text
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], _Size] = {}

    def sizes(self, page: TokenPage, without: Iterable[int] = ()) -> dict[_Size, set[tuple[int, str]]]:
        """Return the sizes that fit some link of a page, with the paths of tags and the targets of those links."""
        sizes: dict[_Size, set[tuple[int, str]]] = {}
        for token in page.link_tokens:
            if token in without or (self._text and page.anchor(token).text != self._text):
                continue
            size = self._size(page, token)
            if size[0] >= 0:
                sizes.setdefault(size, set()).add((tag_path(page, token), page.target_of(token)))
        return sizes

    def lists(self, page: TokenPage) -> set[frozenset[_Size]]:
        """Return the sizes that fit the links of each list of a page: like links in one element."""
        lists: dict[tuple[int, int, bool], set[_Size]] = {}
        for token in page.link_tokens:
            lists.setdefault(place_of(page, token), set()).add(self._size(page, token))
        return {frozenset(sizes) for sizes in lists.values() if len(sizes) > 1}

    def _size(self, page: TokenPage, token: int) -> _Size:
        around = tokens_before(page, token), tokens_after(page, token)
        if around not in self._known:
            left, right = (
                _fit_length(self._before, around[0]) - 1,
                _fit_length(self._after, around[1]),
            )
            self._known[around] = left, right
        return self._known[around]


def _reaches(size: _Size, left: int, right: int) -> bool:
    return size[0] >= left and size[1] >= right


def _taken(sizes: dict[_Size, set[tuple[int, str]]], left: int, right: int) -> set[tuple[int, str]]:
    return {link for size, links in sizes.items() if _reaches(size, left, right) for link in links}


def _is_parted(sizes: Iterable[_Size], left: int, right: int) -> bool:
    return len({_reaches(size, left, right) for size in sizes}) > 1


def _fit_length(terms: Landmark, tokens: Sequence[str]) -> int:
    length = 0
    for term, token in zip(terms, tokens, strict=False):
        if not _matches(term, token):
            break
        length += 1
    return length


def _fits(leaf: LeafRule, page: TokenPage, token: int) -> bool:
    left, right = tokens_before(page, token), tokens_after(page, token)
    before = leaf.before[::-1]
    if len(left) < len(before) or len(right) < len(leaf.after):
        return False
    pairs = (*zip(before, left, strict=False), *zip(leaf.after, right, strict=False))
    return all(_matches(term, item) for term, item in pairs)


def _matches(term: Term, token: str) -> bool:
    if isinstance(term, TokenClass):
        return term in classes_of(token)
    return term in (token, bare(token))


def _stop(rule: tuple[Landmark, ...], example: SkipExample) -> int | None:
    """Return where a sequence stops, by comparing tokens one by one."""
    place = 0
    for landmark in rule:
        width = len(landmark)
        for start in range(place, len(example.tokens) - width + 1):
            if all(_matches(term, example.tokens[start + at]) for at, term in enumerate(landmark)):
                place = start + width
                break
        else:
            return None
    return place


def _start_examples(lesson: PathLesson, first: int, earlier: int) -> list[SkipExample]:
    """Return the positive sequence of a page and its negative one, in which the rule must not match.

    With a label, the start rule must stop on it, and the negative is the page without its list and label. Without, it
    may stop anywhere between the last link that must not be taken and the first that must, and the negative is what
    comes before that.
    """
    tokens, label = lesson.page.tokens, lesson.label
    if label and label.begin >= earlier:
        cut = tokens[: label.begin] + tokens[label.region_end :]
        return [SkipExample(tokens, label.begin + 1, label.end), SkipExample(cut)]
    return [SkipExample(tokens, earlier + 1, first), SkipExample(tokens[: earlier + 1])]


@dataclass(frozen=True, slots=True)
class _Span:
    """A list on its page: the content from `start` on, the last member, and the next link that must not be taken."""

    lesson: PathLesson
    start: int
    last: int
    later: int

    def forward(self) -> list[SkipExample]:
        """Return the sequences for a rule that runs on from the start, and must stop after the list has closed."""
        page = self.lesson.page
        closes = self._close()
        latest = min(max(closes + 3, page.end_of_link(self.last) + 1), self.later, len(page.tokens))
        earliest = max(min(closes + 1, latest) - self.start, 1)
        content = page.tokens[self.start :]
        return [SkipExample(content, earliest, latest - self.start), SkipExample(content[: earliest - 1])]

    def from_end(self) -> list[SkipExample]:
        """Return the sequences for a rule that runs from the end, last token first.

        It may stop anywhere between the list's closing tag and the last member, and must not match in a page that
        ends with the list.
        """
        page = self.lesson.page
        size, after = len(page.tokens), page.end_of_link(self.last) + 1
        before = min(self.later, max(self._close(), after))
        content = page.tokens[self.start :][::-1]
        return [
            SkipExample(content, max(size - before, 1), size - after),
            SkipExample(content[size - after :]),
        ]

    def _close(self) -> int:
        """Return the token that closes the list."""
        page, label, members = self.lesson.page, self.lesson.label, self.lesson.members
        if not label:
            return min(_stretch(self.lesson)[1], len(page.tokens) - 1)
        holder = page.tree.elements[label.member]
        inside = holder.open < members[0] and self.last < holder.close <= label.region_end
        # of a single member, only the tag tells whether its holder is the list or a member of it
        is_list = inside and holder.tag not in _MEMBERS and (len(members) > 1 or holder.tag in _HOLDERS)
        return holder.close if is_list else label.region_end


def _stretch(lesson: PathLesson) -> tuple[int, int]:
    """Return the tokens of the smallest element that holds all members, and more than one if there are more."""
    tree = lesson.page.tree
    first, last = lesson.members[0], lesson.members[-1]
    for element in tree.ancestors(tree.opened[first]):
        node = tree.elements[element]
        if node.open < first and last < node.close:
            return node.open, node.close
    return 0, len(lesson.page.tokens)
