"""Records as lists and their own pages show them: values with confidence and place, the path to them, citations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.types import Scope

from wayhound.app.chains.records import INSTANCE, RELATION, related_pages
from wayhound.app.goal_records import goal_id
from wayhound.app.papers.works import AS_CITED, CITED_ONLY
from wayhound.pages.prose import shorten
from wayhound.papers.bibliography import to_bibtex
from wayhound.portal.addresses import doi_url, field_query, outside_url, record_url, search_url
from wayhound.portal.citations import (
    CitedReference,
    CitingSentence,
    CitingWork,
    citing_a_paper,
    citing_a_work,
    references_of,
)
from wayhound.portal.exports import (
    CITABLE,
    citation_page,
    citation_urls,
    coins,
    data_block,
    is_citation_format,
    json_ld,
    meta_tags,
)
from wayhound.portal.library import Library, PageMaker
from wayhound.portal.places import PlaceMap
from wayhound.portal.portal import (
    MOST_NAMED,
    Evidence,
    FieldNames,
    HitView,
    Key,
    Kind,
    Portal,
    ShownValue,
    TopicLink,
    certainty,
    evidence,
    readable,
    split_names,
)
from wayhound.portal.search_pages import hit_map, hit_views
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS, FieldSpec, KindSpec
from wayhound.visit import Visit
from wayhound.web.pages import RenderedPage, answer
from wayhound.wording.reasons import format_reason

SIMILAR = 6
_MOST_VALUES = 50
_VENUES = ("journal", "booktitle", "institution", "publisher")
_SEARCHED = {"people": "author", "date": "year"}


# Cards and values


@dataclass(frozen=True, slots=True)
class Card:
    """A record in a list. `summary` is the beginning of its first text."""

    kind: str
    kind_label: str
    id: str
    title: str
    url: str
    people: tuple[str, ...] = ()
    more_people: int = 0
    year: str = ""
    venue: str = ""
    summary: str = ""
    site: str = ""


def card_of(record: Record, spec: KindSpec, summary_chars: int = 240) -> Card:
    people = [value.text for field in spec.with_role("people") for value in record.fields.get(field.name, ())]
    return Card(
        kind=record.kind,
        kind_label=spec.label,
        id=record.id,
        title=(record.first(spec.title) if spec.title else "") or record.id,
        url=record_url(record.kind, record.id),
        people=tuple(people[:MOST_NAMED]),
        more_people=max(0, len(people) - MOST_NAMED),
        year=_first(record, [field.name for field in spec.with_role("date")]),
        venue=_venue(record, spec),
        summary=shorten(_first(record, [field.name for field in spec.with_role("text")]), summary_chars),
        site=record.site if record.kind == "page" else "",
    )


def _venue(record: Record, spec: KindSpec) -> str:
    """Return where a paper appeared; of other kinds the values of their facets. A page says enough by its site."""
    if record.kind in PAPERS_AND_DOCUMENTS:
        return _first(record, _VENUES)
    facets = [record.first(field.name) for field in spec.with_role("facet") if not field.fact]
    return "" if record.kind == "page" else " · ".join(filter(None, facets))


def _first(record: Record, names: Sequence[str]) -> str:
    return next((text for name in names if (text := record.first(name))), "")


@dataclass(frozen=True, slots=True)
class ShownField:
    name: str
    label: str
    role: str
    values: tuple[ShownValue, ...]


def shown_fields(record: Record, spec: KindSpec, has_images: bool) -> tuple[ShownField, ...]:
    """Return the declared fields in their order, then the others."""
    declared = [field.name for field in spec.fields if field.name in record.fields]
    others = [name for name in record.fields if name not in declared]
    return tuple(
        _shown_field(record, spec.field(name), has_images)
        for name in (*declared, *others)
        if record.fields[name]
    )


def _shown_field(record: Record, field: FieldSpec, has_images: bool) -> ShownField:
    values = record.fields[field.name][:_MOST_VALUES]
    shown = tuple(_shown_value(record, field, value, has_images) for value in values)
    return ShownField(field.name, field.shown, field.role, shown)


def _shown_value(record: Record, field: FieldSpec, value: Value, has_images: bool) -> ShownValue:
    away = _address(field, value.text)
    cited = value.source == AS_CITED
    evidence = _evidence(record, value.source, has_images) if value.source and not cited else None
    return ShownValue(
        value.text,
        round(value.confidence, 4),
        away or _search_for(field, value.text),
        leads_away=bool(away),
        evidence=evidence,
        as_cited=cited,
    )


def _address(field: FieldSpec, text: str) -> str:
    """Return the web address that a value is or stands for; empty for other values."""
    if field.role == "link":
        return outside_url(text)
    return doi_url(text) if field.name == "doi" else ""


def _search_for(field: FieldSpec, text: str) -> str:
    """Return a search for all records with the same person, year or facet value."""
    if field.role == "facet" and len(text) < 200:
        return search_url(field_query(field.name, text))
    name = _SEARCHED.get(field.role)
    return search_url(field_query(name, text)) if name and text.strip() else ""


def _evidence(record: Record, span: Span, has_images: bool) -> Evidence | None:
    """Return the place of a value; None if it is no more than the page as a whole."""
    if not (span.page or span.end):
        return None
    image = page_image_url(record, span.page, span.box) if has_images and span.page else ""
    return Evidence(outside_url(span.url), span.page, span.start, span.end, span.box, image)


def page_image_url(record: Record, page: int, box: tuple[float, float, float, float] | None = None) -> str:
    base = f"{record_url(record.kind, record.id)}/pages/{page}.png"
    return f"{base}?{urlencode({'box': ','.join(f'{side:.1f}' for side in box)})}" if box else base


# The page


@dataclass(frozen=True, slots=True)
class PathClick:
    """A click on the way to where the record was found, and the page that it led to."""

    link_text: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """The clicks from the start page of a site to where the record was found."""

    site: str
    url: str
    steps: tuple[PathClick, ...]


@dataclass(frozen=True, slots=True)
class GoalReason:
    """A feature that decided whether a page is a goal; weights above zero spoke for it."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class PlacedTopic:
    """The place of a document in the topic tree, the confidence in it, and the words that decided it.

    `topics` is empty for one that fits nowhere. `perhaps` are the likeliest leaves where none is likely enough.
    """

    topics: tuple[TopicLink, ...]
    confidence: float
    words: tuple[str, ...]
    by_hand: bool
    perhaps: tuple[tuple[TopicLink, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedLink:
    """A related page: its record, and the links that lead from the source page to the target page."""

    title: str
    url: str
    guide: str
    relation_url: str


@dataclass(frozen=True, slots=True)
class RelatedGroup:
    """The related pages of one relationship, read from this page."""

    name: str
    pages: tuple[RelatedLink, ...]


@dataclass(frozen=True, slots=True)
class RecordDetails:
    """All that the page of a record shows."""

    kind: str
    kind_label: str
    id: str
    title: str
    url: str
    card: Card
    fields: tuple[ShownField, ...]
    placed: PlacedTopic | None
    references: tuple[CitedReference, ...]
    cited_by: tuple[CitingWork, ...]
    cited_by_count: int
    similar: tuple[HitView, ...]
    map: PlaceMap | None
    related: tuple[RelatedGroup, ...]
    trails: tuple[FoundPath, ...]
    reasons: tuple[GoalReason, ...]
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


def details_of(library: Library, record: Record) -> RecordDetails:
    is_paper = record.kind == "paper"
    spec = library.spec(record.kind)
    is_of_file = record.kind in PAPERS_AND_DOCUMENTS
    file = library.stores.documents.get(record.id) if is_of_file else None
    clicks = library.click_path(record)
    paths = _found_paths(library, record, clicks)
    stamp = library.stores.catalogue.stamp(record.kind, record.id)
    url = record_url(record.kind, record.id)
    archived_type = file.kind if file else "page" if clicks and clicks[-1].archived else ""
    cited_by, cited_by_count = _cited_by(library, record)
    similar = library.index.similar(record.kind, record.id, SIMILAR)
    return RecordDetails(
        kind=record.kind,
        kind_label=spec.label,
        id=record.id,
        title=library.title(record),
        url=url,
        card=card_of(record, spec),
        fields=shown_fields(record, spec, has_images=file is not None and file.kind == "pdf"),
        placed=_placed(library, record.id) if is_of_file else None,
        references=references_of(library, record.id) if is_paper else (),
        cited_by=cited_by,
        cited_by_count=cited_by_count,
        similar=hit_views(similar, library),
        map=hit_map(library, similar, record) if record.first("coordinates") else None,
        related=_related(library, record),
        trails=paths,
        reasons=tuple(_reasons(record)) if record.kind == "page" else (),
        original_urls=_original_urls(record, paths),
        archived_url=f"{url}/archived" if archived_type else "",
        archived_type=archived_type,
        pages=file.page_count if file and file.kind == "pdf" else 0,
        formats=(citation_urls(url) if record.kind in CITABLE else {}) | {"JSON": f"{url}.json"},
        bibtex=to_bibtex([record]) if record.kind in CITABLE else "",
        added=stamp.added if stamp else None,
        changed=stamp.changed if stamp else None,
    )


def _related(library: Library, record: Record) -> tuple[RelatedGroup, ...]:
    """Return the pages that relationships connect with a page; of a relation, its two ends."""
    if record.kind == RELATION:
        ends = (("From", "source"), ("To", "target"))
        return tuple(RelatedGroup(name, (_end_of(record, field),)) for name, field in ends)
    if record.kind not in (INSTANCE, "page"):
        return ()
    groups: dict[str, list[RelatedLink]] = {}
    for each in related_pages(library.workspace, record.first("url")):
        urls = record_url(INSTANCE, each.record), record_url(RELATION, each.relation)
        groups.setdefault(each.name, []).append(
            RelatedLink(each.title, urls[0], " › ".join(each.guide), urls[1])
        )
    return tuple(RelatedGroup(name, tuple(pages)) for name, pages in groups.items())


def _end_of(record: Record, field: str) -> RelatedLink:
    url = record_url(INSTANCE, goal_id(record.first(f"{field}_url")))
    return RelatedLink(record.first(field), url, "", "")


def _cited_by(library: Library, record: Record) -> tuple[tuple[CitingWork, ...], int]:
    if record.kind == CITED_ONLY:
        return citing_a_work(library, int(record.id))
    return citing_a_paper(library, record.id) if record.kind == "paper" else ((), 0)


def _placed(library: Library, paper: str) -> PlacedTopic | None:
    placement, topics = library.stores.topics.get(paper), library.topics()
    if placement is None:
        return None
    node = topics.by_path(placement.topic) if placement.topic else None
    above = tuple(TopicLink(topic.name, topic.url) for topic in topics.above(node)) if node else ()
    words = tuple(word for word, weight in placement.words if weight > 0)
    leaves = ((topics.by_path(path), share) for path, share in placement.best if not placement.corrected)
    perhaps = tuple((TopicLink(leaf.name, leaf.url), share) for leaf, share in leaves if leaf)
    if not above and not perhaps:
        return None
    return PlacedTopic(above, round(placement.confidence, 4), words, placement.corrected, perhaps)


def _found_paths(library: Library, record: Record, clicks: tuple[Visit, ...]) -> tuple[FoundPath, ...]:
    """Return the paths to the sources of a record's file if it has one, else that to its visit."""
    if record.kind in PAPERS_AND_DOCUMENTS:
        sources = [source for source in library.stores.documents.sources(record.id) if source.site]
        if sources:
            return tuple(
                FoundPath(source.site, outside_url(source.url), tuple(map(PathClick, source.path)))
                for source in sources
            )
    steps = [PathClick(click.link_text, click.title, outside_url(click.url)) for click in clicks[1:]]
    return (FoundPath(record.site, outside_url(clicks[-1].url), tuple(steps)),) if clicks else ()


def _reasons(record: Record) -> Iterator[GoalReason]:
    """Yield what decided that a page is a goal; values are features with their weights: `says contact +1.50`."""
    for value in record.fields.get("why", ()):
        feature, _, weight = value.text.rpartition(" ")
        try:
            yield GoalReason(format_reason(feature), float(weight))
        except ValueError:  # written by another program
            yield GoalReason(value.text, 1.0)


def _original_urls(record: Record, paths: tuple[FoundPath, ...]) -> tuple[str, ...]:
    named = [outside_url(value.text) for value in record.fields.get("url", ())]
    return tuple(dict.fromkeys(filter(None, (*named, *(path.url for path in paths)))))


def record_json(details: RecordDetails, names: list[str]) -> bytes:
    """Return all that the page shows as JSON; with `names`, only those fields of the record."""
    data = asdict(details)
    if names:
        data = {key: data[key] for key in ("kind", "id", "title", "url", "added", "changed")}
        data["fields"] = [asdict(field) for field in details.fields if field.name in names]
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


# Markup of what a page has dozens of: a template takes twice as long for it


_APART = ("why", "path", "around")  # fields that have a place of their own on the page
_MOST_SENTENCES = 5


def drawn_lists(view: RecordDetails) -> dict[str, Markup]:
    """Return the fields, references and citing papers of a record as markup; every text in it is escaped."""
    fields = [field for field in view.fields if field.role != "text" and field.name not in _APART]
    drawn = {
        "fields": [_drawn_field(field, view.archived_url) for field in fields],
        "references": map(_drawn_reference, view.references),
        "cited_by": map(_drawn_citing, view.cited_by),
    }
    return {name: Markup("".join(items)) for name, items in drawn.items()}  # noqa: S704


def _drawn_tags(tags: Iterable[tuple[str, str]]) -> Markup:
    drawn = [f'<meta name="{name}" content="{escape(content)}">\n' for name, content in tags]
    return Markup("".join(drawn))  # noqa: S704


def _drawn_field(field: ShownField, archived_url: str) -> str:
    values = [
        f"<dd>{_drawn_value(value)} {certainty(value)} "
        f"{_AS_CITED_MARK if value.as_cited else ''}{evidence(value, archived_url)}</dd>"
        for value in field.values
    ]
    return f"<dt>{escape(field.label)}</dt>\n{''.join(values)}\n"


_AS_CITED_MARK = '<span class="small quiet">as cited by others</span>'


def _drawn_value(value: ShownValue) -> str:
    if not value.url:
        return escape(readable(value.text))
    away = ' rel="noopener noreferrer nofollow"' if value.leads_away else ""
    return f'<a href="{escape(value.url)}"{away}>{escape(value.text)}</a>'


def _drawn_reference(reference: CitedReference) -> str:
    title = escape(reference.title)
    if reference.id:
        title = f'<a href="{reference.url}"><strong>{title}</strong></a>'
    elif reference.url:
        title = f'<a class="cited-title" href="{reference.url}">{title}</a>'
    else:
        title = f'<span class="cited-title">{title}</span>'
    authors = f' <span class="quiet">{escape(reference.authors)}</span>' if reference.authors else ""
    venue = f' <span class="quiet">· <i>{escape(reference.venue)}</i></span>' if reference.venue else ""
    year = f' <span class="quiet number">({escape(reference.year)})</span>' if reference.year else ""
    times = "once" if len(reference.sentences) == 1 else f"{len(reference.sentences)} times"
    said = f'<details><summary class="small">cited {times}</summary>{_drawn_sentences(reference.sentences)}</details>'
    return f"<li>{title}{authors}{venue}{year}\n{said if reference.sentences else ''}</li>\n"


def _drawn_citing(work: CitingWork) -> str:
    year = f' <span class="quiet number">({escape(work.year)})</span>' if work.year else ""
    title = f'<a href="{work.url}"><strong>{escape(work.title)}</strong></a>'
    return f"<li>{title}{year}{_drawn_sentences(work.sentences)}</li>\n"


def _drawn_sentences(sentences: Sequence[CitingSentence]) -> str:
    return "".join(
        [
            f"<blockquote>{escape(said.before)}<strong>{escape(said.callout)}</strong>{escape(said.after)}"
            f"{_page_mark(said.page)}</blockquote>"
            for said in sentences[:_MOST_SENTENCES]
        ]
    )


def _page_mark(page: int) -> str:
    return f' <span class="small quiet">(page {page})</span>' if page else ""


# They take a few lookups; the path to a page, and what is related to it, may take long.
_QUICK_KINDS = PAPERS_AND_DOCUMENTS


def record_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["records"])

    def page_of(kind: str, key: str, base_url: str) -> PageMaker:
        def rendered(library: Library) -> RenderedPage:
            view, head = _with_head(library, kind, key, base_url)
            values = {"base_url": base_url, "json_url": f"{view.url}.json", **head, **drawn_lists(view)}
            return portal.pages.rendered("record.html", view=view, **values)

        return rendered

    def quick_page(scope: Scope) -> PageMaker | None:
        kind, _, key = scope["path"].removeprefix("/records/").partition("/")
        if kind not in _QUICK_KINDS or scope["query_string"] or "/" in key:
            return None
        key, dot, ending = key.partition(".")
        if is_citation_format(ending):
            return citation_page(kind, key, ending, portal.base_url_of(scope))
        return None if dot else page_of(kind, key, portal.base_url_of(scope))

    portal.quick["records"] = quick_page

    @router.get("/records/{kind}/{key}.json", response_model=RecordDetails)
    async def record_as_json(request: Request, kind: Kind, key: Key, fields: FieldNames = "") -> Response:
        """The record with all that its page shows. `fields` leaves out all but the named fields."""
        run = portal.readers.read if kind in _QUICK_KINDS else portal.readers.run
        details = await run(lambda library: details_of(library, library.at(kind, key)))
        return answer(request, record_json(details, split_names(fields)), "application/json")

    @router.get("/records/{kind}/{key}", response_class=HTMLResponse)
    async def record(request: Request, kind: Kind, key: Key) -> Response:
        make = page_of(kind, key, portal.base_url(request))
        return (await portal.readers.page(request.scope, make, is_quick=kind in _QUICK_KINDS)).answer(request)

    return router


def _with_head(library: Library, kind: str, key: str, base_url: str) -> tuple[RecordDetails, dict[str, Any]]:
    """Return the details of a record, and what the head of its page tells machines."""
    record = library.at(kind, key)
    details = details_of(library, record)
    if record.kind not in PAPERS_AND_DOCUMENTS:
        return details, {"meta_tags": "", "coins": "", "json_ld": ""}
    pdf_url = details.archived_url if details.archived_type == "pdf" else ""
    return details, {
        "meta_tags": _drawn_tags(meta_tags(record, base_url, pdf_url)),
        "coins": coins(record),
        "json_ld": data_block(json_ld(record, base_url)),
    }
