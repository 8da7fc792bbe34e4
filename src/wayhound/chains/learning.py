"""Learning the extraction rules of one step of a chain from a few example links (section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wayhound.chains.list_rules import LeafLearner, ListLearner, PathLesson
from wayhound.chains.paths import Label, alike, are_alike, find_label, is_parted, list_path
from wayhound.chains.rules import LeafRule, PageRules, PathRule, choose_pattern
from wayhound.chains.template import MAX_CONTEXT, Template, find_open_tags
from wayhound.chains.tokens import Anchor, TagCutter, TokenPage, names_of

_SHORT_LIST = 24
_MOST_PLACES = 2


@dataclass(frozen=True, slots=True)
class LinkExample:
    """A link on a page that belongs to the relationship, or, if it is not `wanted`, one that does not."""

    page: TokenPage
    anchor: Anchor
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class _Example:
    page: TokenPage
    token: int
    label: Label | None


class StepLearner:
    """Learns `paths_`, the disjunction of path rules for one step.

    `context` are other pages from which the step is taken, without labels. They tell which words belong to the
    template, and show where a rule is too wide: links that it takes together must be alike.
    """

    def __init__(self, context: Sequence[TokenPage] = ()) -> None:
        self.context = tuple(context)

    def fit(self, examples: Sequence[LinkExample]) -> StepLearner:
        """Learn from examples, of which at least one must be wanted."""
        pages = {example.page.url: example.page for example in examples}
        shown = [(example.page, example.anchor.token) for example in examples if example.wanted]
        context = [page for page in self.context if page.url not in pages][:MAX_CONTEXT]
        self._open_tags = tuple(find_open_tags(shown, [*pages.values(), *context]))
        cutter = TagCutter(self._open_tags)
        pages = {url: page.cut(cutter) for url, page in pages.items()}
        self._template = Template(list(pages.values()), [page.cut(cutter) for page in context])
        self._leaf, self._lists = LeafLearner(self._template), ListLearner(self._template)
        self._refused = {
            (example.page.url, example.anchor.token) for example in examples if not example.wanted
        }
        wanted = [replace(example, page=pages[example.page.url]) for example in examples if example.wanted]
        self._wanted = {(example.page.url, example.anchor.token) for example in wanted}
        found = [self._example(example) for example in wanted]
        self.paths_ = tuple(self._widen_target(path) for path in self._cover(found))
        return self

    def _cover(self, examples: list[_Example]) -> list[PathRule]:
        clusters = self._clusters(examples)
        if len(clusters) > _MOST_PLACES and (path := self._by_own_class(examples)):
            return [path]
        paths: list[PathRule] = []
        for cluster in clusters:
            path = self._learn_path(cluster)
            if path not in paths:
                paths.append(path)
        return paths

    def _by_own_class(self, examples: list[_Example]) -> PathRule | None:
        """Return the rule that takes links by a class of their own, which examples in several places may share.

        Links in running text stand after and before anything.
        """
        tags = {example.page.tokens[example.token] for example in examples}
        tag = tags.pop()
        if tags or not names_of(tag):
            return None
        path = PathRule(leaves=(LeafRule((tag,)),), open_tags=self._open_tags)
        rules = PageRules([path])
        pages = {example.page.url: example.page for example in examples}
        taken = {(url, token) for url, page in pages.items() for token in rules.tokens(page)}
        return None if taken & self._refused else path

    def _example(self, example: LinkExample) -> _Example:
        label = find_label(example.page, example.anchor.token)
        if label and not self._template.is_template(example.page, example.anchor.token, label):
            label = None
        return _Example(example.page, example.anchor.token, label)

    def _clusters(self, examples: list[_Example]) -> list[list[_Example]]:
        """Group examples by the path of their list; lists with different labels but one path are one cluster.

        They are kept apart if a refused link would be taken otherwise.
        """
        by_path: dict[tuple[str, ...], list[_Example]] = {}
        for example in examples:
            path = list_path(example.page, example.token, example.label)
            by_path.setdefault(path, []).append(example)
        clusters: list[list[_Example]] = []
        for group in by_path.values():
            by_label: dict[tuple[str, ...], list[_Example]] = {}
            for example in group:
                words = self._template.stable_words(example.label.words) if example.label else ()
                by_label.setdefault(words, []).append(example)
            merged = [replace(example, label=None) for example in group]
            if len(by_label) == 1 or self._takes_refused(merged) or self._takes_others(group, set(by_label)):
                clusters.extend(by_label.values())
            else:
                clusters.append(merged)
        return clusters

    def _takes_others(self, group: list[_Example], known: set[tuple[str, ...]]) -> bool:
        """Return True if one rule for all labels would take lists below further labels, which nobody asked for.

        They are asked for if examples below two labels of one page show that labels do not matter. If each page has
        one, as where a site has two languages, they do.
        """
        shown: dict[str, set[tuple[str, ...]]] = {}
        for example in group:
            words = self._template.stable_words(example.label.words) if example.label else ()
            shown.setdefault(example.page.url, set()).add(words)
        if any(len(labels) > 1 for labels in shown.values()):
            return False
        for lesson in self._lessons([replace(example, label=None) for example in group]):
            for token in lesson.members:
                label = find_label(lesson.page, token)
                if label and self._template.stable_words(label.words) not in known:
                    return True
        return False

    def _takes_refused(self, examples: list[_Example]) -> bool:
        lessons = self._lessons(examples)
        return any(
            (lesson.page.url, token) in self._refused for lesson in lessons for token in lesson.members
        )

    def _lessons(self, examples: list[_Example]) -> list[PathLesson]:
        by_page: dict[str, list[_Example]] = {}
        for example in examples:
            by_page.setdefault(example.page.url, []).append(example)
        return [self._lesson(group) for group in by_page.values()]

    def _lesson(self, examples: list[_Example]) -> PathLesson:
        page, label = examples[0].page, examples[0].label
        begin, end = (label.begin, label.region_end) if label else (0, len(page.tokens))
        shown = {example.token for example in examples}
        members = {token for example in examples for token in alike(page, example.token, begin, end)}
        return PathLesson(page, _without_crumbs(page, sorted(members | shown), shown), label)

    def _learn_path(self, examples: list[_Example]) -> PathRule:
        text = self._constant_text(examples)
        if text:
            lessons = self._only_examples(examples)
        else:
            lessons = [self._without_refused(lesson) for lesson in self._lessons(examples)]
        trials = [lessons]
        if any(lesson.label for lesson in lessons):
            unlabelled = [replace(example, label=None) for example in examples]
            trials.append(self._only_examples(unlabelled) if text else self._lessons(unlabelled))
        best: tuple[tuple[float, ...], PathRule] | None = None
        for trial in trials:
            for path in self._candidates(trial, text):
                key = self._quality(path, trial)
                if best is None or key > best[0]:
                    best = key, path
                if key[:4] == (0, 0, 0, 0):
                    return self._narrow(path, trial, key)
        assert best is not None  # there is at least one candidate: the shortest leaf
        return self._narrow(best[1], lessons, best[0])

    def _narrow(self, path: PathRule, lessons: list[PathLesson], key: tuple[float, ...]) -> PathRule:
        """Lengthen the landmark after a link that stands alone on its pages, as long as that changes nothing.

        Nothing shows where such a rule is too wide, as a list does by its other members: a longer landmark is safer.
        """
        if path.repeats or path.text or path.start.alternatives or len(path.leaves) > 1:
            return path
        leaf = path.leaves[0]
        _, after = self._template.context(
            [(lesson.page, token) for lesson in lessons for token in lesson.members]
        )
        for size in range(len(after), len(leaf.after), -1):
            longer = replace(path, leaves=(replace(leaf, after=after[:size]),))
            if self._quality(longer, lessons) == key:
                return longer
        return path

    def _without_refused(self, lesson: PathLesson) -> PathLesson:
        members = tuple(token for token in lesson.members if (lesson.page.url, token) not in self._refused)
        return replace(lesson, members=members)

    def _only_examples(self, examples: list[_Example]) -> list[PathLesson]:
        return [PathLesson(example.page, (example.token,), example.label) for example in examples]

    def _constant_text(self, examples: list[_Example]) -> str:
        """Return the text of a link that is told from its neighbours by what it says: an entry of a menu.

        In a menu, most entries say the same on most pages, and lead to a page of their own from each; the members of a
        list do not.
        """
        texts = {example.page.anchor(example.token).text for example in examples}
        lessons = self._lessons(examples)
        several = [lesson for lesson in lessons if len(lesson.members) > 1]
        if len(texts) != 1 or not (text := texts.pop()) or not several:
            return ""
        if len(lessons) == 1 and not self._template.others:
            return ""
        path = list_path(examples[0].page, examples[0].token, None)
        if not self._template.has_entry(text, path) or not self._template.leads_apart(text):
            return ""
        entries = [several[0].page.anchor(token).text for token in several[0].members]
        common = [entry for entry in entries if self._template.has_entry(entry, path)]
        return text if text in entries and 2 * len(common) > len(entries) else ""

    def _candidates(self, lessons: list[PathLesson], text: str) -> Iterable[PathRule]:
        """Yield rules from wide to narrow leaves, each with the start and end that it needs."""
        repeats = any(len(lesson.members) > 1 for lesson in lessons)
        labelled = any(lesson.label for lesson in lessons)
        # without a label, links are best told apart by what stands right around them
        lone = None if labelled else self._leaf.best_lone(lessons, text)
        if lone and lone[1]:
            yield PathRule(leaves=(lone[0],), text=text, repeats=repeats, open_tags=self._open_tags)
        for leaves in self._leaf.choices(lessons, text):
            wide = PathRule(leaves=leaves, text=text, repeats=repeats, open_tags=self._open_tags)
            start = self._lists.start(lessons, wide)
            begun = replace(wide, start=start)
            end, close = self._lists.ends(lessons, begun)
            yield replace(begun, end=end, close=close)
        if lone and not lone[1]:
            yield PathRule(leaves=(lone[0],), text=text, repeats=repeats, open_tags=self._open_tags)

    def _quality(self, path: PathRule, lessons: list[PathLesson]) -> tuple[float, ...]:
        """Rank paths: fewest examples missed, links too many or too few, pages with links that are not alike."""
        rules = PageRules([path])
        missed = wrong = 0
        for lesson in lessons:
            taken = set(rules.tokens(lesson.page))
            missed += sum(
                (lesson.page.url, token) in self._wanted and token not in taken for token in lesson.members
            )
            wrong += len(taken ^ set(lesson.members))
        mixed = parted = taken_elsewhere = 0
        told_apart = any(lesson.label or is_parted(lesson.page, lesson.members) for lesson in lessons)
        for page in self._template.others:
            tokens = rules.tokens(page)
            taken_elsewhere += len(tokens)
            mixed += not are_alike(page, tokens)
            parted += not told_apart and is_parted(page, tokens)
        return -missed, -wrong, -mixed, -parted, taken_elsewhere

    def _widen_target(self, path: PathRule) -> PathRule:
        """Choose the target rule from the texts of all links that the landmarks take (Algorithm 4).

        The texts of the examples alone are too few: one actor called "Bob Ray" does not make all of them two words.
        """
        rules = PageRules([path])
        texts = [anchor.text for page in self._template.pages for anchor in rules.take_all(page)]
        return replace(path, target=choose_pattern(texts)) if texts else path


def _without_crumbs(page: TokenPage, members: list[int], shown: set[int]) -> tuple[int, ...]:
    """Drop the first links of a short list that lead up from the page, and a last one to the page itself.

    Such a list is a trail of crumbs.
    """
    first, last = 0, len(members)
    if last <= _SHORT_LIST:
        while members[first] not in shown and _leads_up(page.url, page.target_of(members[first])):
            first += 1
    if first and members[-1] not in shown and page.target_of(members[-1]) == page.url:
        last -= 1
    return tuple(members[first:last])


def _leads_up(url: str, target: str) -> bool:
    """Return True if a link of a page leads to a folder that the page lies in."""
    folder = target.removesuffix("index.html")
    return folder.endswith("/") and len(folder) < len(url) and url.startswith(folder)
