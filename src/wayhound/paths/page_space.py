"""Pages and links as hop models see them: visited pages by number, a latent space with clusters, and keywords.

Section numbers are those of Liu, Milios & Janssen (2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import TeachingError
from wayhound.learn.arrays import Floats, TokenVocabulary, softmax
from wayhound.learn.latent import Clusters, LatentSpace
from wayhound.learn.naive_bayes import NaiveBayes
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, fold_word
from wayhound.paths.q_model import own_tokens, shared_tokens
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.taught_site import WebGraph, hops_to_nearest
from wayhound.text.words import words
from wayhound.url import url_tokens

MAX_KEYWORDS = 40
_BLOCK = 256  # pages compared with all targets at once, so that memory stays bounded


@dataclass
class VisitedPages:
    """All pages of all sites by number, with their links and hops."""

    sites: Sequence[RecordedSite]
    n_states: int  # the last one is everything farther
    pages: list[Page] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        last = self.n_states - 1
        for site in self.sites:
            for url, page in site.pages.items():
                self.numbers[site.name, url] = len(self.pages)
                self.pages.append(page)
                self.names.append(site.name)
            graph = WebGraph({url: tuple(site.targets(url)) for url in site.pages})
            hops = hops_to_nearest(graph, site.goals)
            self.states += [min(hops.get(url, last), last) for url in site.pages]
            self.links += [(self.numbers[site.name, a], self.numbers[site.name, b]) for a, b in graph.edges()]

    def known_links(self, number: int) -> list[Link]:
        """Return the links of a page to other visited pages of its site, each target once."""
        page, site = self.pages[number], self.names[number]
        links = {link.url: link for link in reversed(page.links)}
        return [link for url, link in links.items() if url != page.url and (site, url) in self.numbers]


@dataclass(frozen=True)
class PageSpace:
    """Pages as rows of a latent space with clusters, and the clusters that the words around links lead to.

    `targets` (n, rank) are the useful pages. `link_words` (K, V) and `link_priors` (K,) are a naive Bayes model.
    """

    vocabulary: TokenVocabulary
    space: LatentSpace
    clusters: Clusters
    neighbours: int
    targets: Floats
    link_vocabulary: TokenVocabulary
    link_words: Floats
    link_priors: Floats

    def rows(self, pages: Sequence[Page]) -> Floats:
        return self.space.transform(count_rows(self.vocabulary, [page_words(page) for page in pages]))

    def kinds(self, rows: Floats) -> Floats:
        """Return the cluster of each page as a row with one 1, (n, K)."""
        return np.asarray(np.eye(self.clusters.n_clusters)[self.clusters.predict(rows, self.neighbours)])

    def similarities(self, rows: Floats) -> Floats:
        """Return the largest cosine of each page to a target, (n,): 0 to 1."""
        blocks = [rows[at : at + _BLOCK] @ self.targets.T for at in range(0, len(rows), _BLOCK)]
        return np.concatenate([np.maximum(block, 0.0).max(axis=1, initial=0.0) for block in blocks])

    def predicted_kinds(self, links: Sequence[Link], page: Page, context: PageContext) -> Floats:
        """Return the probability of each cluster behind each link, (n, K), from the words around it."""
        own = self.link_vocabulary.rows([own_tokens(link, context, "link") for link in links])
        shared = self.link_vocabulary.rows([shared_tokens(page, context, "link")])
        return softmax(own @ self.link_words.T + shared @ self.link_words.T + self.link_priors)


def page_words(page: Page) -> list[str]:
    return [fold_word(word) for word in (*words(page.title), *page.tokens)]


def count_rows(vocabulary: TokenVocabulary, texts: Sequence[Sequence[str]]) -> csr_array:
    """Return the counts of the words that have a column, (n, V)."""
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for text in texts:
        counter = Counter(column for word in text if (column := vocabulary.columns_.get(word)) is not None)
        for column in sorted(counter):
            columns.append(column)
            counts.append(counter[column])
        ends.append(len(columns))
    shape = (len(texts), len(vocabulary.columns_))
    return csr_array(
        (np.array(counts, dtype=float), np.array(columns, dtype=np.int64), np.array(ends)), shape=shape
    )


def fit_page_space(
    visited: VisitedPages, space: LatentSpace, clusters: Clusters, neighbours: int, rng: np.random.Generator
) -> tuple[PageSpace, Floats]:
    """Fit the space and its clusters to all visited pages; return also the rows of the pages, (n, rank).

    Raises TeachingError if the pages have no words in common.
    """
    texts = [page_words(page) for page in visited.pages]
    groups = visited.names
    vocabulary = TokenVocabulary(min(2, len(set(groups)))).fit(map(set, texts), groups)
    if not vocabulary.columns_:
        raise TeachingError(
            "The visited pages have no words in common. Browse more pages, or sites in one language."
        )
    counts = count_rows(vocabulary, texts)
    rows = space.fit(counts).transform(counts)
    clusters.fit(rows, rng)
    useful = [number for number, state in enumerate(visited.states) if state == 0]
    link_vocabulary, link_model = _fit_link_model(visited, clusters)
    page_space = PageSpace(
        vocabulary=vocabulary,
        space=space,
        clusters=clusters,
        neighbours=neighbours,
        targets=rows[useful],
        link_vocabulary=link_vocabulary,
        link_words=link_model.log_words_,
        link_priors=link_model.log_priors_,
    )
    return page_space, rows


def _fit_link_model(visited: VisitedPages, clusters: Clusters) -> tuple[TokenVocabulary, NaiveBayes]:
    """Learn which cluster the words around a link lead to, from all links between visited pages."""
    tokens: list[frozenset[str]] = []
    classes: list[int] = []
    groups: list[str] = []
    for number, (page, name) in enumerate(zip(visited.pages, visited.names, strict=True)):
        context = PageContext.from_page(page)
        shared = shared_tokens(page, context, "link")
        for link in visited.known_links(number):
            tokens.append(own_tokens(link, context, "link").union(shared))
            classes.append(int(clusters.labels_[visited.numbers[name, link.url]]))
            groups.append(name)
    vocabulary = TokenVocabulary(min(2, len(set(groups)) or 1)).fit(tokens, groups)
    memberships = np.eye(clusters.n_clusters)[classes].reshape(-1, clusters.n_clusters)
    return vocabulary, NaiveBayes().fit(vocabulary.rows(tokens), memberships)


@dataclass(frozen=True)
class TopicWords:
    """The user's keywords, and words of the titles and meta tags of useful pages (4.2.1)."""

    words: frozenset[str]

    def share(self, text: Collection[str]) -> float:
        """Return the similarity of a text: the share of its words that are keywords."""
        return sum(word in self.words for word in text) / len(text) if text else 0.0

    def of_url(self, url: str) -> float:
        return self.share([fold_word(word) for word in url_tokens(url)])

    def of_anchor(self, link: Link | None) -> float:
        return self.share([fold_word(word) for word in words(link.text)]) if link else 0.0

    def of_head(self, page: Page) -> float:
        return self.share(head_words(page))


def head_words(page: Page) -> list[str]:
    text = " ".join((page.title, *page.keywords, page.description))
    return [fold_word(word) for word in words(text)]


def gather_keywords(sites: Sequence[RecordedSite], given: Iterable[str]) -> TopicWords:
    """Return the given keywords, and the words that useful pages have in their heads more often than others."""
    useful, others = Counter[str](), Counter[str]()
    n_useful = n_others = 0
    for site in sites:
        for url, page in site.pages.items():
            found = set(head_words(page))
            if url in site.goals:
                useful.update(found)
                n_useful += 1
            else:
                others.update(found)
                n_others += 1
    shares = {
        word: count / max(n_useful, 1) - others[word] / max(n_others, 1)
        for word, count in useful.items()
        if count > 1 or n_useful == 1
    }
    best = sorted((word for word in shares if shares[word] > 0), key=lambda word: (-shares[word], word))
    own = [fold_word(word) for keyword in given for word in words(keyword)]
    return TopicWords(frozenset([*own, *best[:MAX_KEYWORDS]]))


N_FEATURES_BESIDE_CLUSTERS = 4
FEATURE_NAMES = ("text like a target", "keywords in URL", "keywords in anchor", "keywords in title")


@dataclass(frozen=True)
class NineFeatures:
    """Clusters 1 to K, similarity to the targets, and keywords in URL, anchor, and title with meta tags.

    Behind a link, clusters are probabilities, the similarity is the mean of the clusters' pages, and the title is
    not known. These estimates have weights of their own, in columns after those of pages.
    """

    space: PageSpace
    keywords: TopicWords
    cluster_similarities: Floats  # (K,), the mean over the taught pages of each cluster
    threshold: float | None = (
        None  # above which a similarity counts as 1, else 0 (4.2.2); None takes it as it is
    )

    @property
    def width(self) -> int:
        """Columns of one view, the last of them constant."""
        return self.space.clusters.n_clusters + N_FEATURES_BESIDE_CLUSTERS + 1

    def of_page(self, page: Page, link: Link | None, row: Floats, kinds: Floats) -> Floats:
        """Return the columns of a page that a link led to, (2 · width,); `row` and `kinds` are its place."""
        beside = [
            float(self.space.similarities(row[None])[0]),
            self.keywords.of_url(page.url),
            self.keywords.of_anchor(link),
            self.keywords.of_head(page),
        ]
        own = np.concatenate([kinds, self._levels(np.array(beside)), [1.0]])
        return np.concatenate([own, np.zeros(self.width)])

    def of_links(self, links: Sequence[Link], kinds: Floats) -> Floats:
        """Return the columns of links, (n, 2 · width); `kinds` (n, K) are predicted."""
        similar = kinds @ self.cluster_similarities
        beside = np.array(
            [[0.0, self.keywords.of_url(link.url), self.keywords.of_anchor(link), 0.0] for link in links]
        )
        beside[:, 0] = similar
        own = np.hstack([kinds, self._levels(beside), np.ones((len(links), 1))])
        return np.hstack([np.zeros((len(links), self.width)), own])

    def _levels(self, similarities: Floats) -> Floats:
        if self.threshold is None:
            return similarities
        return np.asarray((similarities >= self.threshold).astype(float))
