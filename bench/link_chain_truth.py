"""Recorded sites and their relationships for `bench.link_chains`: source pages, true links, and their derivation.

Truth comes from the page structure, read with CSS selectors by code that shares nothing with the rules, or from the
labels of a site (a URL rule).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.archive.site_folder import SiteFolder
from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.tokens import TokenPage
from wayhound.pages.sniff import decode
from wayhound.url import normalise

MOST_SOURCES = 1_000
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
        nodes = ((target_of(node, base), node) for node in self.steps[step](self.site, url))
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
            same = [node.mem_id for node in tree.css("a[href]") if target_of(node, base) == target]
            places = [anchor for anchor in page.anchors if anchor.target == target]
            anchor = places[min(same.index(wanted.mem_id), len(places) - 1)]
            links.append(ExampleLink(url, target, anchor.pos, anchor.text))
        return ExampleChain(tuple(links), name=f"{chain[0]} → {chain[-1]}")


def target_of(node: LexborNode, base: str) -> str:
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
        target = target_of(link, base)
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
    titles, tropes = tuple(site.labelled("title")), tuple(evenly(site.labelled("trope"), 48))
    actors, where = tuple(site.labelled("actor")), tuple(site.labelled("where"))
    cast = _selected("a[href*='/actors/']")
    cards = _selected("article.card h3 a[href*='/titles/']")
    watch = _selected("section .wrap > a.watch[href]:not([href^='#'])")
    with_cast = [url for url in titles if "/actors/" in (site.text(url) or "")]
    few = tuple(evenly(tropes, 12))
    return [
        Task(site, "ActorOf(title, actor)", _sources(with_cast, titles), (cast,), "URL rule"),
        Task(site, "actor → title", tuple(actors[:MOST_SOURCES]), (cards,), "structure"),
        Task(site, "trope → title", tropes, (cards,), "structure"),
        Task(site, "title → where to watch", tuple(evenly(titles, MOST_SOURCES)), (watch,), "structure"),
        Task(site, "where to watch → title", where[:MOST_SOURCES], (_selected("a[href*='/titles/']"),), "URL rule"),
        Task(site, "title → trope", tuple(evenly(titles, MOST_SOURCES)), (_selected("a.trope"),), "structure"),
        Task(site, "trope → title → actor", few, (cards, cast), "structure, URL rule"),
    ]  # fmt: skip


def _sources(wanted: Sequence[str], everything: Sequence[str]) -> tuple[str, ...]:
    """The pages that have the relationship, and as many others as make up 1,000."""
    known = set(wanted)
    return (
        tuple(wanted)[:MOST_SOURCES]
        + tuple(url for url in everything if url not in known)[: MOST_SOURCES - len(wanted)]
    )


def evenly(items: Sequence[str], most: int) -> list[str]:
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
    "skoyamalab": (("news", "news → year", "p.post-tags a"),),
    "xiangya": (("publication", "publication → DOI", "article.v2-page__content > p:not([class]) > a"),),
    "hirodaisohaken": (("seminar", "seminar → list", "ol.breadcrumbs li:nth-of-type(2) a"),),
    "beeware-es": (("news", "news → author", ".md-profile__description a"),),
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
    return [] if tree is None else [target_of(node, base) for node in tree.css("a[href]")]


def _to_label(label: str, menus: set[str]) -> Step:
    def links(site: RecordedSite, url: str) -> list[LexborNode]:
        tree = site.tree(url)
        if tree is None:
            return []
        first: dict[str, LexborNode] = {}
        base = site.base(url)
        for node in tree.css("a[href]"):
            target = target_of(node, base)
            if target != url and target not in menus and site.folder.labels.get(target) == label:
                first.setdefault(target, node)
        return list(first.values())

    return links


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
