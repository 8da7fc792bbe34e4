"""The page of one record, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from wayhound.app.papers.works import CITED_ONLY
from wayhound.papers.bibliography import to_bibtex
from wayhound.portal.addresses import outside_url, record_url
from wayhound.portal.citation_map import Citing, Reference, citations_of, citations_of_work, references_of
from wayhound.portal.library import Library
from wayhound.portal.record_view import Card, ShownField, card_of, shown_fields
from wayhound.portal.search_pages import HitView, TopicLink, hit_view
from wayhound.record import Record

SIMILAR = 6
CITABLE = ("paper", CITED_ONLY)


@dataclass(frozen=True, slots=True)
class Step:
    """A click on the way to where the record was found."""

    link_text: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Trail:
    """How a record was found: the site, and the clicks from its start page on."""

    site: str
    url: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a paper stands in the topic tree, how sure that is, and the words that decided it."""

    topics: tuple[TopicLink, ...]
    confidence: float
    words: tuple[str, ...]
    by_hand: bool


@dataclass(frozen=True, slots=True)
class Details:
    """All that the page of a record shows."""

    kind: str
    kind_label: str
    id: str
    title: str
    url: str
    card: Card
    fields: tuple[ShownField, ...]
    placed: Placed | None
    references: tuple[Reference, ...]
    cited_by: tuple[Citing, ...]
    cited_by_count: int
    similar: tuple[HitView, ...]
    trails: tuple[Trail, ...]
    original_urls: tuple[str, ...]
    archived_url: str
    archived_type: str
    pages: int
    formats: dict[str, str]
    bibtex: str
    added: float | None
    changed: float | None

    def field(self, name: str) -> ShownField | None:
        return next((field for field in self.fields if field.name == name), None)


def details_of(library: Library, record: Record) -> Details:
    is_paper = record.kind == "paper"
    spec = library.spec(record.kind)
    file = library.files.get(record.id) if record.kind in {"paper", "document"} else None
    trails = _trails(library, record)
    stamp = library.catalogue.stamp(record.kind, record.id)
    url = record_url(record.kind, record.id)
    archived_type = file.kind if file else "page" if _archived_visit(library, record) else ""
    cited_by, cited_by_count = _cited_by(library, record)
    return Details(
        kind=record.kind,
        kind_label=spec.label,
        id=record.id,
        title=library.title(record),
        url=url,
        card=card_of(record, spec),
        fields=shown_fields(record, spec, has_images=file is not None and file.kind == "pdf"),
        placed=_placed(library, record.id) if is_paper else None,
        references=references_of(library, record.id) if is_paper else (),
        cited_by=cited_by,
        cited_by_count=cited_by_count,
        similar=_similar(library, record),
        trails=trails,
        original_urls=_originals(record, trails),
        archived_url=f"{url}/archived" if archived_type else "",
        archived_type=archived_type,
        pages=file.page_count if file and file.kind == "pdf" else 0,
        formats=_formats(url, record.kind in CITABLE),
        bibtex=to_bibtex([record]) if record.kind in CITABLE else "",
        added=stamp.added if stamp else None,
        changed=stamp.changed if stamp else None,
    )


def _cited_by(library: Library, record: Record) -> tuple[tuple[Citing, ...], int]:
    if record.kind == CITED_ONLY:
        return citations_of_work(library, int(record.id))
    return citations_of(library, record.id) if record.kind == "paper" else ((), 0)


def _formats(url: str, can_be_cited: bool) -> dict[str, str]:
    """Other forms of the page, by name."""
    names = {"JSON": ".json"}
    if can_be_cited:
        names = {"BibTeX": ".bib", "RIS": ".ris", "CSL-JSON": ".csl.json", "JSON-LD": ".jsonld", **names}
    return {name: url + ending for name, ending in names.items()}


def _similar(library: Library, record: Record) -> tuple[HitView, ...]:
    topics = library.topics()
    return tuple(hit_view(hit, topics) for hit in library.index.similar(record.kind, record.id, SIMILAR))


def _placed(library: Library, paper: str) -> Placed | None:
    placement = library.placements.get(paper)
    node = library.topics().of(placement.topic) if placement and placement.topic else None
    if placement is None or node is None:
        return None
    above = tuple(TopicLink(each.name, each.url) for each in library.topics().above(node))
    words = tuple(word for word, weight in placement.words if weight > 0)
    return Placed(above, round(placement.confidence, 4), words, placement.corrected)


def _trails(library: Library, record: Record) -> tuple[Trail, ...]:
    """By the sources of its file where it has one, else by the visit that it was read on."""
    if record.kind in {"paper", "document"}:
        found = [source for source in library.files.sources(record.id) if source.site]
        if found:
            return tuple(
                Trail(each.site, outside_url(each.url), tuple(map(Step, each.path))) for each in found
            )
    if record.visit is None:
        return ()
    path = library.workspace.stores.click_paths.to_visit(record.site, record.visit)
    steps = [Step(click.link_text, click.title, outside_url(click.url)) for click in path[1:]]
    return (Trail(record.site, outside_url(path[-1].url), tuple(steps)),) if path else ()


def _archived_visit(library: Library, record: Record) -> bool:
    if record.visit is None:
        return False
    path = library.workspace.stores.click_paths.to_visit(record.site, record.visit)
    return bool(path) and path[-1].archived is not None


def _originals(record: Record, trails: tuple[Trail, ...]) -> tuple[str, ...]:
    named = [outside_url(value.text) for value in record.fields.get("url", ())]
    found = dict.fromkeys(filter(None, (*named, *(trail.url for trail in trails))))
    return tuple(found)
