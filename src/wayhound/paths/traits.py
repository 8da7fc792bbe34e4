"""Traits of a page and of the link that led to it: concepts by place, structure without words, and words.

They are the features of the small models that recognise goals. Unlike the tokens of the path learner they say
much from few examples: a concept is one trait in thirty languages, and structure needs no words at all.

The first character of a trait is its kind: `@` a concept, `#` structure, `!` something that holds within one site,
and anything else a word. Saved models hold traits, so their spelling must not change.

Keywords that a user gives are matched inside words and URLs, and by their synonyms in many languages. People give
navigation words ("people", "contact"), which are on every page of a site. So a match counts in full, however
frequent the word is, and inside longer words: "faculty" in `/facultylist.html`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from wayhound.page import Link, Page
from wayhound.paths.concepts import named_concepts, page_contents, strip_accents, web_concepts
from wayhound.paths.features import BODY_TOKENS, fold_word, link_words
from wayhound.text.words import words
from wayhound.trail import Trail
from wayhound.url import url_tokens

Traits = Mapping[str, float]
"""Values by name, most of them 0 or 1; a trait that is not named is 0."""

_FILE_WORDS = frozenset({"html", "htm", "index", "php", "asp", "aspx", "jsp", "shtml"})
_REGION_TAGS = (
    "nav", "header", "footer", "aside", "main", "article", "table", "ul", "ol", "dl", "h1", "h2", "h3", "h4",
)  # fmt: skip
_TAG = re.compile(r"(?:^|>)([a-z0-9]+)")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[^\W_]+")
CONTENT_WORDS = 200  # of a page's text outside links, in which contents are looked for
_PHONE_DIGITS = range(7, 15)
_NAME_PARTS = re.compile(r"\s*[|•·»«–—:]\s*|\s+[-/]\s+")  # between the name of a page and that of its site


@dataclass(frozen=True, slots=True)
class SourcePage:
    """Traits shared by the links of a page: its URL, the concepts in its title, and the number of links by region."""

    url: str
    concepts: frozenset[str]
    region_sizes: Mapping[str, int]

    @classmethod
    def from_page(cls, page: Page, *, use_urls: bool = True) -> SourcePage:
        lexicon = web_concepts()
        concepts = lexicon.named_by(
            [word for text in (page.title, *page.headings[:1]) for word in words(text)]
        )
        if use_urls:
            concepts |= lexicon.named_by(url_end_words(page.url))
        targets = {(link.region, link.url) for link in page.links}
        return cls(page.url, concepts, Counter(region for region, _ in targets))


@dataclass(frozen=True, slots=True)
class ReachedPage:
    """A page with the link that led to it, the page that link is on, and the clicks from the start."""

    page: Page
    depth: int = 0
    link: Link | None = None
    source: SourcePage | None = None

    @property
    def list_key(self) -> tuple[str, str]:
        """The list that led here: the URL of the page it is on, and its region."""
        return (self.source.url if self.source else "", self.link.region if self.link else "")

    def traits(self, *, use_urls: bool = True) -> dict[str, float]:
        """Return all traits of the page. Without `use_urls`, none of them comes from a URL."""
        traits = _page_traits(self.page, use_urls=use_urls)
        traits.update(_link_traits(self, use_urls=use_urls))
        return traits


def reached_pages(trail: Trail, *, use_urls: bool = True) -> list[ReachedPage]:
    """Return the pages of a trail, each as it was reached."""
    pages: list[ReachedPage] = []
    for depth, step in enumerate(trail.steps):
        source = SourcePage.from_page(trail.steps[depth - 1].page, use_urls=use_urls) if depth else None
        pages.append(ReachedPage(step.page, depth, step.link, source))
    return pages


@lru_cache(maxsize=1 << 15)
def url_end_words(url: str) -> tuple[str, ...]:
    """Return the words of the last part of a URL's path that has any."""
    path = url.split("//", 1)[-1].partition("/")[2]
    for part in reversed(path.replace("?", "/").split("/")):
        tokens = tuple(word for word in url_tokens(f"http://x/{part}") if word not in _FILE_WORDS)
        if tokens:
            return tokens
    return ()


@lru_cache(maxsize=1 << 15)
def url_shape(url: str) -> str:
    """Return the folder of a URL with all numbers made equal: pages of one shape often share a template.

    With a query, the script and the names of its parameters take the place of the folder: `/person.php?id=3` and
    `/course.php?id=3` are in one folder and have nothing in common.
    """
    path, _, query = url.split("//", 1)[-1].partition("?")
    if query:
        names = sorted({part.partition("=")[0] for part in query.split("&")})
        return f"{_DIGITS.sub('9', path)}?{'&'.join(names)}"
    folder, _, last = path.rstrip("/").rpartition("/")
    ending = last.rpartition(".")[2] if "." in last else ""
    return f"{_DIGITS.sub('9', folder)}/*.{ending}"


_SAME_EVERYWHERE = frozenset({"index", "default", "home", "welcome", "main"})
_MOST_NAME_WORDS = 2


def shared_file_name(url: str) -> str:
    """Return the last part of a URL's path if other folders may have one like it: `vita.html`, `package-tree.html`.

    It is empty for a name that says nothing, such as `index.html`, and for one of a single page: a title, a number.
    """
    name = url.partition("?")[0].rpartition("/")[2].lower()
    stem = name.partition(".")[0]
    if not stem or stem in _SAME_EVERYWHERE or _DIGITS.search(stem):
        return ""
    return name if 0 < len(_PARTS.findall(stem)) <= _MOST_NAME_WORDS else ""


_LANGUAGES = frozenset(
    "ar bg bn ca cn cs cz da de dk el en es et eu fa fi fr ga gl gr he hi hr hu id is it ja jp ka kk ko kr lt lv mk "
    "ms nb nl nn no pl pt ro ru se sk sl sq sr sv th tr tw ua uk ur uz vi zh".split()
)


@lru_cache(maxsize=1 << 15)
def without_language(url: str) -> str:
    """Return a URL without the part of its path that says the language: translations of a page share the rest."""
    scheme, _, rest = url.partition("//")
    parts = [part for part in rest.split("/") if not _is_language(part.lower())]
    return f"{scheme}//{'/'.join(parts)}"


def _is_language(part: str) -> bool:
    """Return True for `de` and `pt-br`, and False for `it-services`."""
    language, _, region = part.partition("-")
    return language in _LANGUAGES and len(region) in (0, 2)


def page_template(page: Page) -> tuple[str, ...]:
    """Return the regions in which a page has links: pages that have the same ones share a template."""
    return tuple(sorted({link.region for link in page.links}))


@lru_cache(maxsize=1 << 12)
def _region_tags(region: str) -> tuple[str, ...]:
    """Return the tags around a region that say what it is for: navigation, lists, headings."""
    tags = set(_TAG.findall(region))
    return tuple(tag for tag in _REGION_TAGS if tag in tags)


def _page_traits(page: Page, *, use_urls: bool) -> dict[str, float]:
    places: dict[str, Sequence[str]] = {
        "title": words(page.title),
        "heading": [word for text in page.headings[:3] for word in words(text)],
    }
    own = words_outside_links(page, CONTENT_WORDS)
    places["body"] = own[:BODY_TOKENS]
    traits: dict[str, float] = {}
    _add_names(traits, "title", [page.title])
    _add_names(traits, "heading", page.headings[:3])
    _add_concepts(traits, "body", places["body"])
    if use_urls:
        places["address"] = url_end_words(page.url)
        _add_names(traits, "address", [" ".join(places["address"])])
        _add_concepts(traits, "folder", url_tokens(page.url))
    for place, text in places.items():
        for word in text:
            traits[f"{place} {fold_word(word)}"] = 1.0
    for content in sorted(page_contents().named_by(own)):
        traits[f"@content {content}"] = 1.0
    traits["#phone"] = min(_phone_numbers(own), 3) / 3
    traits["#own length"] = math.log1p(len(own)) / 6
    _add_structure(traits, page)
    if use_urls:
        _add_url_structure(traits, page)
    return traits


def words_outside_links(page: Page, most: int) -> list[str]:
    """Return the first words of a page's text that are not those of its links.

    On most sites of today the first hundred words are menus, which all pages share.
    """
    linked = dict(Counter(chain.from_iterable(link_words(link.text) for link in page.links)))
    own: list[str] = []
    for word in page.tokens:
        if linked.get(word):
            linked[word] -= 1
        else:
            own.append(word)
            if len(own) == most:
                break
    return own


def _phone_numbers(text: Sequence[str]) -> int:
    """Return how many runs of numbers have as many digits as a telephone number."""
    runs = [0]
    for word in text:
        if word.isdigit():
            runs[-1] += len(word)
        elif runs[-1]:
            runs.append(0)
    return sum(run in _PHONE_DIGITS for run in runs)


def _add_concepts(traits: dict[str, float], place: str, text: Sequence[str]) -> None:
    for concept in sorted(web_concepts().named_by(text)):  # sorted, so that the hash seed does not matter
        traits[f"@{place} {concept}"] = 1.0


def _add_names(traits: dict[str, float], place: str, texts: Sequence[str]) -> None:
    """Add the concepts that name something, each by the shortest part of a text that it is in.

    "Contact | The Firm" is a contact page, "A few words about fish sauce" is not about the firm: in a sentence, a
    concept says less.
    """
    for text in texts:
        for part in name_parts(text):
            concepts = named_concepts(tuple(words(part)))
            share = min(1.0, MENU_WORDS / max(len(part.split()), 1)) ** 2
            for concept in sorted(concepts):
                name = f"@{place} {concept}"
                traits[name] = max(traits.get(name, 0.0), share)


def name_parts(title: str) -> list[str]:
    """Return the parts of a title, each of which may be the name of the page or that of its site."""
    return _NAME_PARTS.split(title)


_NAMING_PLACES = frozenset({"@title", "@heading", "@link", "@address"})


def trait_concept(trait: str) -> str:
    """Return the web concept that a trait is about; "" if it is about none."""
    place, _, concept = trait.partition(" ")
    return concept if place[0] == "@" and place != "@content" else ""


def naming_concepts(traits: Traits) -> list[tuple[str, float]]:
    """Return the concepts that a page is named by, in its title, headings and address, and in the link to it.

    With each is how much of the name it is, in (0, 1].
    """
    parts = ((name.partition(" "), value) for name, value in traits.items() if name[0] == "@")
    return [(concept, value) for (place, _, concept), value in parts if place in _NAMING_PLACES]


def _add_structure(traits: dict[str, float], page: Page) -> None:
    """Add structure without words, every value about 0 to 1."""
    length = len(page.tokens)
    regions = Counter(region for region, _ in {(link.region, link.url) for link in page.links})
    linked = sum(len(link.text.split()) for link in page.links)
    beginning = page.tokens[:300]
    numbers = sum(map(str.isdigit, beginning)) / (1 + len(beginning))
    traits["#length"] = math.log1p(length) / 8
    traits["#links"] = math.log1p(len({link.url for link in page.links})) / 6
    traits["#linked text"] = min(linked / (length + 1), 1.0)
    traits["#longest list"] = math.log1p(max(regions.values(), default=0)) / 5
    traits["#headings"] = math.log1p(len(page.headings)) / 4
    traits["#title length"] = min(len(page.title.split()), 12) / 12
    traits["#numbers"] = min(numbers, 0.3) / 0.3
    traits["#years"] = min(sum(len(word) == 4 and bool(_YEAR.match(word)) for word in beginning), 10) / 10
    if not length:
        traits["#empty"] = 1.0


def _add_url_structure(traits: dict[str, float], page: Page) -> None:
    targets = {link.url for link in page.links}
    folder = page.url.partition("?")[0].rsplit("/", 1)[0] + "/"
    below = sum(url.startswith(folder) and url != page.url for url in targets)
    # a port, or an address in place of a name, says nothing of the page
    last = page.url.split("//", 1)[-1].partition("/")[2].rstrip("/").rpartition("/")[2]
    traits["#below"] = below / (1 + len(targets))
    traits["#folders"] = min(page.url.count("/") - 3, 5) / 5
    traits["#number in address"] = float(any(char.isdigit() for char in last))
    traits["#long address"] = min(len(url_end_words(page.url)), 8) / 8
    if "?" in page.url:
        traits["#query"] = 1.0
    if "~" in page.url:
        traits["#home"] = 1.0


def _link_traits(reached: ReachedPage, *, use_urls: bool) -> dict[str, float]:
    """Return the traits of the link that led to a page, and of the page that the link is on."""
    link, source, page, depth = reached.link, reached.source, reached.page, reached.depth
    traits: dict[str, float] = {"#depth": min(depth, 5) / 5, f"#depth {min(depth, 4)}": 1.0}
    if link is None or source is None:
        traits["#start"] = 1.0
        return traits
    text = link_words(link.text)
    _add_names(traits, "link", [link.text])
    for word in text[:12]:
        traits[f"link {fold_word(word)}"] = 1.0
    for concept in sorted(source.concepts):
        traits[f"@from {concept}"] = 1.0
    for tag in _region_tags(link.region):
        traits[f"#in {tag}"] = 1.0
    alike = source.region_sizes.get(link.region, 1)
    traits["#alike"] = math.log1p(alike) / 6
    traits["#alone"] = float(alike == 1)
    traits["#link length"] = min(len(text), 12) / 12
    traits[f"#looks {_text_shape(link.text)}"] = 1.0
    title = {word for line in (page.title, *page.headings[:2]) for word in words(line)}
    traits["#named so"] = len(set(text) & title) / (len(set(text)) or 1)
    if use_urls:
        folder = source.url.rpartition("/")[0]
        deeper = page.url.startswith(folder) and page.url.count("/") > source.url.count("/")
        traits["#same folder"] = float(page.url.rpartition("/")[0] == folder)
        traits["#deeper"] = float(deeper)
    return traits


def _text_shape(text: str) -> str:
    """Return the shape of a text's first words: a person's name looks unlike a menu entry or a headline."""
    return "".join(map(_word_shape, _PARTS.findall(text)[:4]))


def _word_shape(word: str) -> str:
    if word[0].isdigit():
        return "9"
    if word.isupper() and len(word) > 1:
        return "A"
    return "X" if word[0].isupper() else "x"


_SCALES = {
    "@title": 1.0, "@heading": 0.8, "@address": 1.0, "@folder": 0.5, "@link": 1.2, "@body": 0.8, "@from": 0.6,
    "@content": 0.8,
    "title": 0.3, "heading": 0.3, "address": 0.3, "link": 0.4, "body": 0.5,
}  # fmt: skip
_STRUCTURE_SCALE, _SITE_SCALE = 0.5, 1.0


def prior_scale(trait: str) -> float:
    """Return the standard deviation of the prior on a trait's weight."""
    if trait[0] in "#!":
        return _STRUCTURE_SCALE if trait[0] == "#" else _SITE_SCALE
    return _SCALES[trait.split(" ", 1)[0]]


SYNONYM = 0.8  # of a match by another word, or a word of another language
ON_MATCHING_PAGE = 0.3  # of a link that does not match itself, on a page that does: an entry of its list
MENU_WORDS = 4  # a longer link text is a sentence, in which a match says less about the target
_MAX_CACHED_LINKS = 1 << 13  # a large site has a million links, most of them once
_MIN_INSIDE = 3  # shorter keywords match whole words only: "pi" is inside "shopping"


@dataclass(frozen=True)
class Keywords:
    """Folded keywords, and the concepts that they name. Without `use_urls`, URLs are not looked at."""

    terms: tuple[str, ...]
    concepts: frozenset[str]
    use_urls: bool = True
    _links: dict[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_words(cls, keywords: Sequence[str], *, use_urls: bool = True) -> Keywords:
        """Read keywords as a user types them; a keyword may be several words."""
        split = [words(keyword) for keyword in keywords]
        terms = dict.fromkeys(" ".join(map(strip_accents, own)) for own in split if own)
        concepts = [web_concepts().named_by(own) for own in split]
        return cls(tuple(terms), frozenset().union(*concepts), use_urls)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def in_name(self, page: Page) -> float:
        """Return how well the title and the first headings of a page match, in [0, 1]."""
        return self._match([word for text in (page.title, *page.headings[:2]) for word in words(text)])

    def in_link(self, link: Link, page: float = 0.0) -> float:
        """Return how well a link matches, in [0, 1], on a page whose name matches as given by `in_name`."""
        key = link.text, link.url
        match = self._links.get(key)
        if match is None:  # navigation occurs again on every page
            if len(self._links) >= _MAX_CACHED_LINKS:
                self._links.clear()
            match = self._links[key] = self._link_match(link)
        return max(match, ON_MATCHING_PAGE * page)

    def _link_match(self, link: Link) -> float:
        by_text = self._match(link_words(link.text)) * min(1.0, MENU_WORDS / max(len(link.text.split()), 1))
        if not self.use_urls or by_text == 1.0:
            return by_text
        if self._has_term(url_tokens(link.url)):
            return 1.0
        return max(by_text, SYNONYM * self._has_synonym(url_end_words(link.url)))

    def _match(self, text: Sequence[str]) -> float:
        return 1.0 if self._has_term(text) else SYNONYM * self._has_synonym(text)

    def _has_synonym(self, text: Sequence[str]) -> bool:
        return not self.concepts.isdisjoint(named_concepts(tuple(text)))

    def _has_term(self, text: Sequence[str]) -> bool:
        folded = " ".join(map(strip_accents, text))
        return any(
            term in folded if len(term) >= _MIN_INSIDE else f" {term} " in f" {folded} "
            for term in self.terms
        )
