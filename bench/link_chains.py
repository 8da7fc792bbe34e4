"""Link chains from one to four examples on recorded sites: Table 1 of Naing, Lim and Goh (2003), next to two peers.

Truth comes from the page structure, read with CSS selectors by code that shares nothing with the rules, or from the
labels of a site (a URL rule); each relationship says which. Precision is N_lc / N_le and recall N_lc / N_lr over
chains, each a tuple of addresses. The paper's Eq. 2 has N_le / N_lr for recall, a misprint.

Peers get the same example links: an XPath generalisation (the common path of the examples with indices dropped), and
autoscraper from PyPI, in an environment of its own (`.bench-venvs/`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.archive.site_folder import SiteFolder, find_site_folders
from wayhound.chains.construction import (
    ChainRules,
    ExampleChain,
    ExampleLink,
    Extraction,
    construct_chains,
    learn_chains,
)
from wayhound.chains.tokens import TokenPage
from wayhound.errors import TeachingError
from wayhound.pages.sniff import decode
from wayhound.url import normalise
from wayhound.wording.chains import paths_in_order

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".bench-venvs"
MOST_SOURCES = 1_000
PEER_PAGES, PEER_BYTES, PEER_DRAWS = 100, 5_000_000, 2
# it asks for elements with an empty class, which means "without a class" to Beautiful Soup before 4.13 alone
AUTOSCRAPER = ["autoscraper", "beautifulsoup4<4.13"]
Chain = tuple[str, ...]
Step = Callable[["RecordedSite", str], list[LexborNode]]


@dataclass
class RecordedSite:
    """A site folder with its pages parsed when they are asked for."""

    folder: SiteFolder
    _texts: dict[str, str] = field(default_factory=dict)
    _tree: tuple[str, LexborHTMLParser] | None = None

    def text(self, url: str) -> str | None:
        if url not in self._texts:
            response = self.folder.responses.get(url)
            seen = {url}
            while response is not None and response.is_redirect and response.location not in seen:
                seen.add(response.location)
                response = self.folder.responses.get(response.location)
            if response is None or not response.is_page:
                return None
            fetched = response.load()
            self._texts[url] = decode(fetched.body, fetched.charset)[0]
        return self._texts[url]

    def tree(self, url: str) -> LexborHTMLParser | None:
        if self._tree is None or self._tree[0] != url:
            text = self.text(url)
            if text is None:
                return None
            self._tree = url, LexborHTMLParser(text)
        return self._tree[1]

    def page(self, url: str) -> TokenPage | None:
        text = self.text(url)
        return None if text is None else TokenPage(url, text)

    def base(self, url: str) -> str:
        tree = self.tree(url)
        base = tree.css_first("base[href]") if tree else None
        return urljoin(url, base.attributes.get("href") or "") if base else url

    def labelled(self, *labels: str) -> list[str]:
        return [
            url
            for url, label in self.folder.labels.items()
            if label in labels and url in self.folder.responses
        ]


@dataclass(frozen=True)
class Task:
    """A relationship of a site: its sources, the true links of every step, and how the truth is known."""

    site: RecordedSite
    name: str
    sources: tuple[str, ...]
    steps: tuple[Step, ...]
    truth_by: str
    several: bool = False
    held_out: bool = False

    def links(self, step: int, url: str) -> list[str]:
        """Return the targets of the true links of a page."""
        return [target for target, _ in self.nodes(step, url)]

    def nodes(self, step: int, url: str) -> list[tuple[str, LexborNode]]:
        tree = self.site.tree(url)
        if tree is None:
            return []
        base = self.site.base(url)
        nodes = ((_target(node, base), node) for node in self.steps[step](self.site, url))
        return [(target, node) for target, node in nodes if target]

    def chains(self) -> set[Chain]:
        """Return all true chains."""
        chains: list[Chain] = [(source,) for source in self.sources]
        for step in range(len(self.steps)):
            targets = {url: self.links(step, url) for url in {chain[-1] for chain in chains}}
            chains = [(*chain, target) for chain in chains for target in targets[chain[-1]]]
        return set(chains)

    def example(self, chain: Chain) -> ExampleChain:
        links = []
        for step, (url, target) in enumerate(itertools.pairwise(chain)):
            page, tree = self.site.page(url), self.site.tree(url)
            assert page is not None
            assert tree is not None
            wanted = next(node for other, node in self.nodes(step, url) if other == target)
            base = self.site.base(url)
            same = [node.mem_id for node in tree.css("a[href]") if _target(node, base) == target]
            places = [anchor for anchor in page.anchors if anchor.target == target]
            anchor = places[min(same.index(wanted.mem_id), len(places) - 1)]
            links.append(ExampleLink(url, target, anchor.pos, anchor.text))
        return ExampleChain(tuple(links), name=f"{chain[0]} → {chain[-1]}")


def _target(node: LexborNode, base: str) -> str:
    href = (node.attributes.get("href") or "").strip()
    if not href or href[0] == "#" or href.lower().startswith(("javascript:", "mailto:")):
        return ""
    return normalise(href, base)


# Truth of javadoc


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    return tree.css_first("main") or tree.body


def _by_caption(site: RecordedSite, url: str, wanted: Callable[[str], bool]) -> list[LexborNode]:
    """The first link of each row of the summary tables with a caption, or of the one table of newer versions."""
    tree = site.tree(url)
    assert tree is not None
    links = []
    for table in tree.css("table"):
        caption = table.css_first("caption") or table.css_first("th")
        if caption is None or not wanted(" ".join(caption.text(separator=" ").split())):
            continue
        for row in table.css("tr"):
            cell = row.css_first("th[scope=row], td")
            link = cell.css_first("a[href]") if cell else None
            if link is not None:
                links.append(link)
    newer = "#class-summary .col-first > a[href], #class-summary .colFirst > a[href]"
    return [*links, *tree.css(newer)]


def classes_of_package(site: RecordedSite, url: str) -> list[LexborNode]:
    return _by_caption(site, url, lambda caption: caption.lower().startswith("class"))


_TYPES = ("class", "interface", "enum", "exception", "error", "annotation", "record")


def types_of_package(site: RecordedSite, url: str) -> list[LexborNode]:
    return _by_caption(site, url, lambda caption: caption.lower().startswith(_TYPES))


def packages_of_start(site: RecordedSite, url: str) -> list[LexborNode]:
    tree = site.tree(url)
    assert tree is not None
    main = _main(tree)
    base = site.base(url)
    links = main.css("a[href]") if main else []
    first: dict[str, LexborNode] = {}
    for link in links:
        target = _target(link, base)
        if site.folder.labels.get(target) == "package":
            first.setdefault(target, link)
    return list(first.values())


def _listed(label: str) -> Step:
    def links(site: RecordedSite, url: str) -> list[LexborNode]:
        tree = site.tree(url)
        assert tree is not None
        for term in tree.css("dt"):
            if " ".join(term.text(separator=" ").split()).startswith(label):
                place = term.next
                while place is not None and place.tag not in ("dd", "dt"):
                    place = place.next
                links = place.css("a[href]") if place is not None and place.tag == "dd" else []
                # a link within another type's angle brackets is an argument of that type
                return [link for link in links if not _text_before(link).endswith("<")]
        return []

    return links


def _text_before(node: LexborNode) -> str:
    before, text = node.prev, ""
    while before is not None:
        text = (before.text() or "") + text
        before = before.prev
    return text.strip()


def superclass(site: RecordedSite, url: str) -> list[LexborNode]:
    """The first link of the entry above the class itself in its inheritance tree."""
    tree = site.tree(url)
    assert tree is not None
    levels = tree.css("ul.inheritance, div.inheritance, pre.inheritance")
    if len(levels) < 2:
        return []
    own = levels[-1]
    if own.tag == "div":
        above = own.parent
        links = [child for child in (above.iter() if above else ()) if child.tag == "a"]
        return [link for link in links[:1] if not _text_before(link)]
    entry = own.parent
    before = entry.prev if entry is not None else None
    while before is not None and before.tag != "li":
        before = before.prev
    links = before.css("a[href]") if before is not None else []
    return [link for link in links[:1] if not _text_before(link)]


def javadoc_tasks(site: RecordedSite) -> list[Task]:
    packages = tuple(url for url in site.labelled("package") if url.endswith("package-summary.html"))
    names = ("class-use/", "doc-files/", "allclasses", "package-", "index-")
    classes = tuple(url for url in site.labelled("class") if not any(name in url for name in names))
    start = (site.folder.site.start,)
    subclasses, interfaces = _listed("Direct Known Subclasses"), _listed("All Implemented Interfaces")
    by_structure = "structure"
    return [
        Task(site, "package → class", packages, (classes_of_package,), by_structure),
        Task(site, "package → type", packages, (types_of_package,), by_structure, several=True),
        Task(site, "class → subclass", classes, (subclasses,), by_structure),
        Task(site, "class → superclass", classes, (superclass,), by_structure),
        Task(site, "class → interface", classes, (interfaces,), by_structure),
        Task(site, "start → package → class", start, (packages_of_start, classes_of_package), by_structure),
        Task(site, "package → class → superclass", packages, (classes_of_package, superclass), by_structure),
        Task(site, "package → class → subclass", packages, (classes_of_package, subclasses), by_structure),
        *(
            Task(site, name, classes, (_listed(label),), by_structure, held_out=True)
            for name, label in (
                ("interface → implementing class", "All Known Implementing Classes"),
                ("interface → superinterface", "All Superinterfaces"),
                ("class → enclosing class", "Enclosing class"),
            )
        ),
    ]


# Truth of catalogues


def _selected(selector: str) -> Step:
    def links(site: RecordedSite, url: str) -> list[LexborNode]:
        tree = site.tree(url)
        return [] if tree is None else tree.css(selector)

    return links


def drama_tasks(site: RecordedSite) -> list[Task]:
    titles, tropes = tuple(site.labelled("title")), tuple(_evenly(site.labelled("trope"), 48))
    actors, where = tuple(site.labelled("actor")), tuple(site.labelled("where"))
    cast = _selected("a[href*='/actors/']")
    cards = _selected("article.card h3 a[href*='/titles/']")
    watch = _selected("section .wrap > a.watch[href]:not([href^='#'])")
    with_cast = [url for url in titles if "/actors/" in (site.text(url) or "")]
    few = tuple(_evenly(tropes, 12))
    return [
        Task(site, "ActorOf(title, actor)", _sources(with_cast, titles), (cast,), "URL rule"),
        Task(site, "actor → title", tuple(actors[:MOST_SOURCES]), (cards,), "structure"),
        Task(site, "trope → title", tropes, (cards,), "structure"),
        Task(site, "title → where to watch", tuple(_evenly(titles, MOST_SOURCES)), (watch,), "structure"),
        Task(site, "where to watch → title", where[:MOST_SOURCES], (_selected("a[href*='/titles/']"),), "URL rule"),
        Task(site, "title → trope", tuple(_evenly(titles, MOST_SOURCES)), (_selected("a.trope"),), "structure"),
        Task(site, "trope → title → actor", few, (cards, cast), "structure, URL rule"),
    ]  # fmt: skip


def _sources(wanted: Sequence[str], everything: Sequence[str]) -> tuple[str, ...]:
    """The pages that have the relationship, and as many others as make up 1,000."""
    known = set(wanted)
    return (
        tuple(wanted)[:MOST_SOURCES]
        + tuple(url for url in everything if url not in known)[: MOST_SOURCES - len(wanted)]
    )


def _evenly(items: Sequence[str], most: int) -> list[str]:
    step = max(len(items) / most, 1.0)
    return [items[int(place * step)] for place in range(int(len(items) / step))]


HELD_OUT = {
    "reiskoch": (
        ("recipe", "recipe → category", "article.post header .tag-list a"),
        ("recipe", "recipe → related recipe", ".related-posts a.foto-gallery-item-link"),
        ("category", "category → article", "article.summary-item h2.summary-title a"),
    ),
    "nju-ee": (
        ("publication", "publication → author", ".article-metadata > div > span > a"),
        ("publication", "publication → person with a card", ".author-card h5.card-title a"),
        ("person", "person → publication", "#profile-page .article-widget ul li a"),
    ),
    "boltsparts": (
        (
            "part",
            "part → identical part",
            ".container > table.table td a[href*='/standards/'], "
            ".container > table.table td a[href*='/names/']",
        ),
        (
            "standard",
            "standard → identical part",
            ".container > table.table td a[href*='/standards/'], "
            ".container > table.table td a[href*='/names/']",
        ),
    ),
    "gocon2022": (
        ("talk", "talk → speaker", "ul.speakers a.speaker"),
        ("speaker", "speaker → talk", "ul.talks a.talk"),
    ),
    "libreumbria": (
        ("news-item", "article → tag", ".entry-tags a"),
        ("news-item", "article → category", ".entry-category a"),
    ),
    "agenticlab": (("publication", "publication → author", "section p.tw-mt-4 > a"),),
    "condominios": (
        ("item", "item → town", "nav.crumb a:nth-of-type(2)"),
        ("article", "article → next article", "a.av-next"),
        ("article", "article → guide", "aside.cluster-related nav a"),
    ),
    "caencamp": (
        ("talk", "talk → speaker", ".sc-kAzzGY a"),
        ("speaker", "speaker → talk", ".sc-uJMKN a"),
    ),
    "stokefoil": (
        (
            "product",
            "product → related product",
            "section.related li.product > a.woocommerce-loop-product__link",
        ),
    ),
    "breakpoverty": (("news-item", "article → category", ".post_text_inner > .post_info > a"),),
    "pycolombia": (
        ("event", "event → organiser", 'h2:lexbor-contains("Organizado por") + .row > .col-lg-3 > a'),
    ),
    "casnode": (("guide", "guide → next guide", "a.pagination-nav__link--next"),),
    "wp-ecofiches": (
        ("guide", "guide → persona", "ul.noliststyle > li > ul.ml-8 > li > a"),
        ("guide", "guide → term", ".markdown-content a.tooltip"),
    ),
    "okio": (
        ("api", "type → member", ".tabbedcontent .main-subrow.keyValue > div > span.inline-flex > div > a"),
    ),
}
"""Relationships of other sites, written down from one page of each before any rule was learned there: the label of
the source pages, the name, and the selector of the true links."""


def held_out_tasks(site: RecordedSite) -> list[Task]:
    tasks = []
    for label, name, selector in HELD_OUT[site.folder.name]:
        # a site in two languages has two templates: its pages in the language of its start page are one
        sources = tuple(url for url in site.labelled(label) if "/de/parts/" not in url)[:MOST_SOURCES]
        tasks.append(Task(site, name, sources, (_selected(selector),), "structure", held_out=True))
    return tasks


def label_tasks(site: RecordedSite, least: int = 10) -> list[Task]:
    """Relationships of any site by its labels: all links of pages with one label to pages with another.

    Links that stand on more than half of the site's pages are its menus and do not count; a pair of labels counts
    if at least ten pages have such links.
    """
    everywhere: Counter[str] = Counter()
    pages = [url for url in site.folder.pages if site.tree(url) is not None]
    for url in pages:
        everywhere.update(set(_targets(site, url)))
    menus = {url for url, count in everywhere.items() if count > len(pages) / 2}
    tasks = []
    labels = sorted(set(site.folder.labels.values()))
    for source in labels:
        sources = tuple(site.labelled(source)[:MOST_SOURCES])
        for target in labels:
            step = _to_label(target, menus)
            having = [url for url in sources if step(site, url)]
            if len(having) >= least and source != target:
                tasks.append(Task(site, f"{source} → {target}", sources, (step,), "labels", several=True))
    return tasks


def _targets(site: RecordedSite, url: str) -> list[str]:
    tree = site.tree(url)
    base = site.base(url)
    return [] if tree is None else [_target(node, base) for node in tree.css("a[href]")]


def _to_label(label: str, menus: set[str]) -> Step:
    def links(site: RecordedSite, url: str) -> list[LexborNode]:
        tree = site.tree(url)
        if tree is None:
            return []
        first: dict[str, LexborNode] = {}
        base = site.base(url)
        for node in tree.css("a[href]"):
            target = _target(node, base)
            if target != url and target not in menus and site.folder.labels.get(target) == label:
                first.setdefault(target, node)
        return list(first.values())

    return links


# Running


@dataclass
class Outcome:
    """The result of one task with a number of examples, over several draws."""

    task: Task
    examples: int
    extracted: list[int] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    learn_seconds: float = 0.0
    learn_100_kb: float = 0.0
    read: Reading | None = None

    def add(self, found: set[Chain], truth: set[Chain]) -> None:
        right = len(found & truth)
        self.extracted.append(len(found))
        self.precision.append(right / len(found) if found else 0.0)
        self.recall.append(right / len(truth))

    @property
    def means(self) -> tuple[float, float]:
        return statistics.mean(self.precision), statistics.mean(self.recall)


def shuffled_chains(truth: set[Chain], seed: int) -> list[Chain]:
    chains = sorted(truth)
    random.Random(seed).shuffle(chains)
    return chains


@dataclass(frozen=True)
class Lesson:
    """Examples, the rules learned from them, and the CPU seconds that it took."""

    drawn: tuple[Chain, ...]
    rules: ChainRules
    seconds: float
    mean_kb: float  # of the pages that were read for it

    @property
    def seconds_of_100_kb(self) -> float:
        """CPU seconds, divided by how many times 100 kB its pages have if they have more."""
        return self.seconds / max(self.mean_kb / 100, 1.0)


def lessons(task: Task, truth: set[Chain], most: int, seed: int) -> Iterator[Lesson]:
    """Give examples as a person does who sees what the rules take: the first at random, then what is still missed.

    If nothing is missed on the source pages shown so far, the next example is from another page, at random. Yields a
    lesson for each number of examples. Raises TeachingError if examples cannot be learned from.
    """
    waiting = shuffled_chains(truth, seed)
    drawn = [waiting[0]]
    while True:
        yield (lesson := learn(task, drawn))
        rules = lesson.rules
        if len(drawn) == min(most, len(truth)):
            return
        shown = {chain[0] for chain in drawn}
        found = {chain.urls for chain in construct_chains(rules, shown, task.site.page, Extraction())}
        missed = sorted(chain for chain in truth - found if chain[0] in shown and chain not in drawn)
        others = [chain for chain in waiting if chain[0] not in shown] or [
            c for c in waiting if c not in drawn
        ]
        drawn.append((missed or others)[0])


def xpath_chains(task: Task, drawn: Sequence[Chain]) -> set[Chain]:
    """The baseline: paths of tags from the root to the examples' links, indices dropped, at every step."""
    chains: list[Chain] = [(source,) for source in task.sources]
    for step in range(len(task.steps)):
        paths = {path for chain in drawn for path in _paths_to(task, step, chain[step], chain[step + 1])}
        targets = {url: _at_paths(task.site, url, paths) for url in {chain[-1] for chain in chains}}
        chains = [(*chain, target) for chain in chains for target in targets[chain[-1]]]
    return set(chains)


def _paths_to(task: Task, step: int, url: str, target: str) -> list[tuple[str, ...]]:
    return [_tag_path(node) for other, node in task.nodes(step, url) if other == target][:1]


def _tag_path(node: LexborNode) -> tuple[str, ...]:
    path: list[str] = []
    above: LexborNode | None = node
    while above is not None:
        path.append(above.tag or "")
        above = above.parent
    return tuple(path)


def _at_paths(site: RecordedSite, url: str, paths: set[tuple[str, ...]]) -> list[str]:
    tree = site.tree(url)
    if tree is None:
        return []
    base = site.base(url)
    nodes = [node for node in tree.css("a[href]") if _tag_path(node) in paths]
    return [target for target in dict.fromkeys(_target(node, base) for node in nodes) if target]


def autoscraper_chains(task: Task, drawn: Sequence[Chain]) -> list[set[Chain]]:
    """Run autoscraper on the same example links, step by step; return its chains in both of its modes.

    It learns from the addresses as they stand in the page, and is asked for similar ones without and with the siblings
    of each. Returns nothing where it cannot be installed.
    """
    python = environment("autoscraper", AUTOSCRAPER)
    if python is None:
        return []
    return [_scraped(python, task, drawn, siblings) for siblings in (False, True)]


def _scraped(python: Path, task: Task, drawn: Sequence[Chain], siblings: bool) -> set[Chain]:
    chains: list[Chain] = [(source,) for source in task.sources]
    for step in range(len(task.steps)):
        pages = sorted({chain[-1] for chain in chains})
        examples = [
            {"html": task.site.text(chain[step]), "wanted": _hrefs(task, step, chain[step], chain[step + 1])}
            for chain in drawn
        ]
        request = {
            "examples": examples,
            "pages": [[url, task.site.text(url) or ""] for url in pages],
            "siblings": siblings,
        }
        script = ROOT / "bench" / "peers" / "autoscraper_peer.py"
        done = subprocess.run(
            [python, script], input=json.dumps(request), stdout=subprocess.PIPE, text=True, check=True
        )
        targets = {
            url: [target for href in hrefs if (target := normalise(href, task.site.base(url)))]
            for url, hrefs in json.loads(done.stdout).items()
        }
        chains = [(*chain, target) for chain in chains for target in targets[chain[-1]]]
    return set(chains)


def _hrefs(task: Task, step: int, url: str, target: str) -> list[str]:
    return [node.attributes["href"] or "" for other, node in task.nodes(step, url) if other == target][:1]


def environment(name: str, packages: list[str]) -> Path | None:
    """Return the peer's own Python, installed if need be; None, with the reason said, where it cannot be had."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if (ENVIRONMENTS / name / ".ready").exists():
        return python
    made = subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / name], check=False)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=False)
    if made.returncode or installed.returncode:
        print(f"{name} cannot be installed here and is left out", file=sys.stderr)
        return None
    (ENVIRONMENTS / name / ".ready").touch()
    return python


def learn(task: Task, drawn: Sequence[Chain]) -> Lesson:
    """Learn from examples; the CPU seconds count reading the pages into tokens."""
    examples = [task.example(chain) for chain in drawn]
    context = _evenly(task.sources, 24)
    read: dict[str, int] = {}

    def get_page(url: str) -> TokenPage | None:
        page = task.site.page(url)
        read[url] = len(page.text) if page else 0
        return page

    began = time.process_time()
    rules = learn_chains(examples, get_page, context)
    return Lesson(tuple(drawn), rules, time.process_time() - began, statistics.mean(read.values()) / 1_000)


@dataclass(frozen=True)
class Reading:
    """The chains of an extraction, and what it cost. `mean_kb` is of the pages that were read."""

    chains: set[Chain]
    pages_per_second: float
    mean_kb: float

    @property
    def per_second_of_100_kb(self) -> float:
        """Pages a CPU second; a page of more than 100 kB counts as that many pages of 100 kB."""
        return self.pages_per_second * max(self.mean_kb / 100, 1.0)


def extract(task: Task, rules: ChainRules) -> Reading:
    read: list[int] = []

    def get_page(url: str) -> TokenPage | None:
        page = task.site.page(url)
        read.append(len(page.text) if page else 0)
        return page

    began = time.process_time()
    found = {chain.urls for chain in construct_chains(rules, task.sources, get_page, Extraction())}
    seconds = max(time.process_time() - began, 1e-9)
    return Reading(found, len(read) / seconds, statistics.mean(read) / 1_000)


def run_task(
    task: Task, counts: Sequence[int], draws: int, verbose: bool
) -> tuple[list[Outcome], list[Lesson]]:
    """Return an outcome for each number of examples, and the last lesson of each draw."""
    truth = task.chains()
    if len(truth) < 5:  # too few to tell anything
        return [], []
    outcomes = {count: Outcome(task, count) for count in counts}
    read: dict[str, Reading] = {}
    taught: list[Lesson] = []
    for draw in range(draws):
        try:
            taught.append(_run_draw(task, truth, draw, outcomes, read))
        except TeachingError as error:
            for outcome in outcomes.values():
                outcome.problems.append(str(error))
                outcome.add(set(), truth)
    if verbose:
        for lesson in taught:
            _explain(task, lesson, read[str(lesson.rules)].chains, truth)
    return list(outcomes.values()), taught


def _run_draw(
    task: Task, truth: set[Chain], draw: int, outcomes: dict[int, Outcome], read: dict[str, Reading]
) -> Lesson:
    for lesson in lessons(task, truth, max(outcomes), draw):
        outcome = outcomes.get(len(lesson.drawn))
        if outcome is None:
            continue
        rules = str(lesson.rules)
        if rules not in read:  # most lessons teach the same rules
            read[rules] = extract(task, lesson.rules)
        outcome.learn_seconds = max(outcome.learn_seconds, lesson.seconds)
        outcome.learn_100_kb = max(outcome.learn_100_kb, lesson.seconds_of_100_kb)
        outcome.read = read[rules]
        outcome.add(read[rules].chains, truth)
    return lesson


def _explain(task: Task, lesson: Lesson, found: set[Chain], truth: set[Chain]) -> None:
    if found == truth:
        return
    print(f"\n{task.site.folder.name} {task.name} with {len(lesson.drawn)}: {lesson.drawn}", file=sys.stderr)
    for lead, path in paths_in_order(lesson.rules):
        print("   ", lead, path, file=sys.stderr)
    for name, chains in (("wrong", found - truth), ("missed", truth - found)):
        print(f"  {len(chains)} {name}: {sorted(chains)[:4]}", file=sys.stderr)


def tasks_of(site: RecordedSite, kind: str) -> list[Task]:
    if kind == "javadoc":
        tasks = javadoc_tasks(site)
    elif site.folder.name == "dramaeverafter":
        tasks = drama_tasks(site)
    elif site.folder.name in HELD_OUT:
        tasks = held_out_tasks(site)
    else:
        tasks = label_tasks(site)
    return tasks


def peers_of(task: Task, taught: Sequence[Lesson]) -> dict[str, list[float]]:
    """Return F1 of each peer and of our rules, for each lesson, on at most a hundred source pages.

    Peers get the examples that our own rules asked for, and autoscraper is given the better of its two modes.
    """
    task = replace(task, sources=_within(task, PEER_PAGES, PEER_BYTES))
    truth = task.chains()
    scores: dict[str, list[float]] = {"ours": [], "xpath": [], "autoscraper": []}
    for lesson in taught:
        scores["ours"].append(f1(extract(task, lesson.rules).chains, truth))
        scores["xpath"].append(f1(xpath_chains(task, lesson.drawn), truth))
        modes = autoscraper_chains(task, lesson.drawn)
        scores["autoscraper"] += [max(f1(chains, truth) for chains in modes)] if modes else []
    return scores


def _within(task: Task, pages: int, size: int) -> tuple[str, ...]:
    """Return some of a task's sources, at even distances: peers parse slowly."""
    mean = statistics.mean(len(task.site.text(url) or "") for url in task.sources)
    return tuple(_evenly(task.sources, max(min(pages, int(size / max(mean, 1.0))), 3)))


def f1(found: set[Chain], truth: set[Chain]) -> float:
    return 2 * len(found & truth) / (len(found) + len(truth)) if found or truth else 1.0


def report(outcomes: Sequence[Outcome], peers: dict[str, dict[str, list[float]]]) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for outcome in outcomes:
        task, read = outcome.task, outcome.read
        precision, recall = outcome.means
        name = f"{task.site.folder.name}: {task.name}"
        beside = peers.get(name, {}) if outcome.examples == 4 else {}
        best = {peer: statistics.mean(values) for peer, values in beside.items() if values}
        rows.append([
            task.site.folder.name, task.name, task.truth_by, len(task.sources), outcome.examples,
            round(statistics.mean(outcome.extracted)), round(precision, 4), round(recall, 4),
            round(outcome.learn_seconds, 2), round(read.mean_kb) if read else None,
            round(read.pages_per_second) if read else None, *map(best.get, ("ours", "xpath", "autoscraper")),
        ])  # fmt: skip
        bars += _bars(outcome, name)
        bars += [
            Bar(f"{name}: F1 not behind {peer}", best["ours"] - other, least=0.0)
            for peer, other in best.items()
            if peer != "ours"
        ]
    header = ["site", "relationship", "truth by", "sources", "examples", "chains", "precision", "recall",
              "learn s", "kB a page", "pages / CPU s", "F1 ours", "F1 XPath", "F1 autoscraper"]  # fmt: skip
    return Report("Link chains", header, rows, [*bars, *_speed_bars(outcomes)])


def _bars(outcome: Outcome, name: str) -> list[Bar]:
    """With one example, a relationship of several templates cannot be whole, and has no bar."""
    task = outcome.task
    least = {1: (0.95, 0.90), 4: (1.0, 1.0)}.get(outcome.examples)
    if task.several or task.held_out:
        least = {1: (0.95, 0.90) if task.held_out else None, 4: (0.98, 0.98)}.get(outcome.examples)
    if least is None:
        return []
    return [
        Bar(f"{name}, {outcome.examples} examples, {kind}", value, least=bound)
        for kind, value, bound in zip(("precision", "recall"), outcome.means, least, strict=True)
    ]


def _speed_bars(outcomes: Sequence[Outcome]) -> list[Bar]:
    """The bars are for pages of 100 kB: what larger pages cost is divided by their size."""
    reads = [(outcome, outcome.read) for outcome in outcomes if outcome.read]
    if not reads:
        return []
    learning = max(outcome.learn_100_kb for outcome, _ in reads)
    extraction = min(read.per_second_of_100_kb for _, read in reads)
    return [
        Bar("slowest learning, seconds for 100 kB pages", learning, most=2.0),
        Bar("slowest extraction, 100 kB pages a CPU second", extraction, least=200),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--sets", nargs="+", default=["javadoc", "catalog"], help="folders below DATA/sites")
    parser.add_argument("--site", default="", help="sites whose name contains this")
    parser.add_argument("--only", default="", help="tasks whose site and name contain this")
    parser.add_argument("--examples", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="explain what is wrong or missed")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    peers: dict[str, dict[str, list[float]]] = {}
    for name in arguments.sets:
        for path in find_site_folders(arguments.data / "sites" / name):
            site = RecordedSite(SiteFolder.open(path))
            if arguments.site not in site.folder.name:
                continue
            for task in tasks_of(site, name):
                label = f"{site.folder.name}: {task.name}"
                if arguments.only not in label:
                    continue
                print(label, file=sys.stderr, flush=True)
                made, taught = run_task(task, arguments.examples, arguments.draws, arguments.verbose)
                outcomes += made
                for outcome in made:
                    print("   ", outcome.examples, *outcome.means, file=sys.stderr, flush=True)
                if taught and not arguments.without_peers:
                    peers[label] = peers_of(task, taught[:PEER_DRAWS])
    return finish(report(outcomes, peers), arguments)


if __name__ == "__main__":
    sys.exit(main())
