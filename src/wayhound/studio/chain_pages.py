"""Relationships: click a source page and its targets, see what the rules take, correct it, extract the rest."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.chains.exports import export_instances
from wayhound.app.chains.relationships import LinkChains
from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.ontology import Ontology, Relationship, check_name
from wayhound.chains.tokens import Anchor, TokenPage
from wayhound.errors import TeachingError, UsageError
from wayhound.store.chains import ChainInstance, KnownRelationship
from wayhound.store.jobs import Job
from wayhound.studio.rendering import rendered_with_buttons
from wayhound.studio.studio import Studio, StudioForm, read_form, to
from wayhound.studio.tables import Paging, requested_page
from wayhound.url import normalise
from wayhound.wording.chains import format_learned, format_rules
from wayhound.workspace import Workspace

JOB = "chains"
ROWS = 50
_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "ttl": "text/turtle"}


@dataclass(frozen=True, slots=True)
class RelationshipRow:
    known: KnownRelationship
    examples: int
    instances: int


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page on which links can be marked. `via` are the links that were followed to it from the source page."""

    url: str
    via: tuple[str, ...]
    body: str
    taken: int
    marked: int


@dataclass(frozen=True, slots=True)
class RelationshipView:
    known: KnownRelationship
    rules: list[str]
    examples: list[ExampleChain]
    page: MarkedPage | None
    problem: str
    job: Job | None
    paging: Paging
    rows: list[ChainInstance]
    titles: dict[str, str]

    @property
    def source(self) -> str:
        """The address of the source page that is shown, or that led to the page shown."""
        if self.page is None:
            return ""
        return self.page.via[0].rpartition(" ")[0] if self.page.via else self.page.url


def relationship_view(
    workspace: Workspace, name: str, page_url: str, via: list[str], number: int
) -> RelationshipView:
    with LinkChains.opened(workspace, online=True) as chains:
        known = chains.store.get(name)
        page, problem = None, ""
        if page_url:
            try:
                page = _marked_page(chains, name, page_url, via)
            except UsageError as error:
                problem = str(error)
        paging = Paging.of(number, chains.store.count(name), ROWS)
        return RelationshipView(
            known=known,
            rules=format_rules(known.rules) if known.rules else [],
            examples=chains.store.examples(name),
            page=page,
            problem=problem,
            job=workspace.stores.jobs.last(JOB),
            paging=paging,
            rows=list(chains.store.instances(name, limit=ROWS, offset=paging.first)),
            titles=chains.store.titles(),
        )


def _marked_page(chains: LinkChains, name: str, url: str, via: list[str]) -> MarkedPage:
    page, taken = chains.preview(name, url, len(via))
    response = chains.pages.response(page.url)
    assert response is not None  # the page was just read
    states = _states(chains, name, page, taken)
    anchors: dict[str, list[Anchor]] = {}
    for anchor in page.anchors:
        anchors.setdefault(anchor.target, []).append(anchor)

    def buttons(target: str, place: int) -> tuple[str, str]:
        same = anchors.get(target, [])
        if not same:
            return "<span>", "</span>"
        anchor = same[min(place, len(same) - 1)]
        state = states.get(anchor.token, "")
        opening = (
            f'<button class="mark {state}" name="link" value="{anchor.pos}" title="{escape(_TITLES[state])}">'
        )
        follow = (
            f'<button class="follow" name="follow" value="{anchor.pos}" title="Follow this link">›</button>'
        )
        return opening, f"</button>{follow}"

    body = rendered_with_buttons(response, buttons)
    marked = sum(state == "example" for state in states.values())
    return MarkedPage(page.url, tuple(via), body, len(taken), marked)


_TITLES = {
    "": "Mark: this link belongs to the relationship",
    "taken": "Taken by the rules. Click if it does not belong",
    "example": "Your example. Click to take it back",
    "refused": "You said that this one does not belong. Click to take that back",
}


def _states(chains: LinkChains, name: str, page: TokenPage, taken: list[Anchor]) -> dict[int, str]:
    states = {anchor.token: "taken" for anchor in taken}
    for example in chains.store.examples(name):
        link = example.links[-1]
        if normalise(link.page) == page.url and (token := page.link_at(link.pos)) is not None:
            states[token] = "example" if example.wanted else "refused"
    return states


def chain_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/chains", response_class=HTMLResponse)
    def relationships(request: Request) -> Response:
        with studio.workspace() as workspace:
            store = workspace.stores.chains
            rows = [
                RelationshipRow(
                    known, len(store.examples(known.relationship.name)), store.count(known.relationship.name)
                )
                for known in store.relationships()
            ]
        return studio.html(request, "chains.html", section="/chains", rows=rows)

    @router.get("/chains/{name}.{ending}")
    def download(name: str, ending: str) -> Response:
        if ending not in _TYPES:
            return Response(status_code=404)
        with studio.workspace() as workspace:
            workspace.stores.chains.get(name)
            file = io.StringIO()
            export_instances(workspace.stores.chains, name, file, "turtle" if ending == "ttl" else ending)
        headers = {
            "content-disposition": f'attachment; filename="{name}.{ending}"',
            "cache-control": "no-store",
        }
        return Response(file.getvalue(), media_type=_TYPES[ending], headers=headers)

    @router.get("/chains/{name}", response_class=HTMLResponse)
    def relationship(request: Request, name: str) -> Response:
        query = request.query_params
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            page_url = normalise(query.get("url", "").strip())
            view = relationship_view(workspace, name, page_url, query.getlist("via"), requested_page(request))
        return studio.html(request, "chain.html", section="/chains", view=view)

    return router


def chain_changes(studio: Studio) -> APIRouter:
    """Return the routes that add relationships and examples, and start extractions."""
    router = APIRouter()

    @router.post("/chains")
    async def add(request: Request) -> Response:
        form = await read_form(studio, request)
        name = await studio.run(lambda workspace: _add(workspace, form))
        return to(f"/chains/{name}", url=form.text("url"))

    @router.post("/chains/{name}/mark")
    async def mark(request: Request, name: str) -> Response:
        form = await read_form(studio, request)
        url, via, notice = await studio.run(lambda workspace: _mark(workspace, name, form))
        query = [("url", url), *(("via", each) for each in via), *([("notice", notice)] if notice else [])]
        return to(f"/chains/{name}?{urlencode(query)}#page")

    @router.post("/chains/{name}/learn")
    async def learn(request: Request, name: str) -> Response:
        await read_form(studio, request)
        notice = await studio.run(lambda workspace: _learn_again(workspace, name))
        return to(f"/chains/{name}", notice=notice)

    @router.post("/chains/{name}/extract")
    async def extract(request: Request, name: str) -> Response:
        form = await read_form(studio, request)
        arguments = {
            "name": name,
            "sources": [url for line in form.text("sources").split() if (url := normalise(line))],
            "from_forage": form.checked("from_forage"),
            "again": True,
        }
        await studio.run(lambda workspace: studio.background.start(workspace, JOB, arguments))
        return to(f"/chains/{name}")

    return router


def _add(workspace: Workspace, form: StudioForm) -> str:
    name, source, target = (check_name(form.text(field), field) for field in ("name", "source", "target"))
    relationship = Relationship(name, source, target, form.text("label"), form.text("inverse"))
    workspace.stores.chains.save_ontology(Ontology({}, {name: relationship}))
    return name


def _mark(workspace: Workspace, name: str, form: StudioForm) -> tuple[str, list[str], str]:
    """Follow a link, or mark it and learn at once; return the page to show, the links that led there, a notice."""
    url, via = form.text("url"), form.texts("via")
    with LinkChains.opened(workspace, online=True) as chains:
        page, taken = chains.preview(name, url, len(via))
        pos = form.whole("follow" if form.text("follow") else "link", 0, 10**9)
        token = page.link_at(pos)
        if token is None:
            raise UsageError("The page has changed since it was shown. Open it again.")
        anchor = page.anchor(token)
        here = f"{page.url} {pos}"
        if form.text("follow"):
            return anchor.target, [*via, here], ""
        links = [_via_link(chains, each) for each in via]
        last = ExampleLink(page.url, anchor.target, anchor.pos, anchor.text)
        state = _states(chains, name, page, taken).get(token, "")
        example = ExampleChain((*links, last), wanted=state != "taken")
        if state in ("example", "refused"):
            chains.store.remove_example(name, example)
        else:
            chains.store.add_examples(name, [example])
        return page.url, via, _learn(chains, name)


def _learn_again(workspace: Workspace, name: str) -> str:
    with LinkChains.opened(workspace, online=True) as chains:
        return _learn(chains, name)


def _learn(chains: LinkChains, name: str) -> str:
    if not any(example.wanted for example in chains.store.examples(name)):
        return "Mark a link that belongs to the relationship."
    try:
        return format_learned(chains.learn(name))
    except TeachingError as error:
        return str(error)


def _via_link(chains: LinkChains, via: str) -> ExampleLink:
    url, _, pos = via.rpartition(" ")
    page = chains.pages.get(url)
    token = page.link_at(int(pos)) if page is not None and pos.isdecimal() else None
    if page is None or token is None:
        raise UsageError(f"The link that led here is no longer on {url}. Begin at the source page again.")
    anchor = page.anchor(token)
    return ExampleLink(page.url, anchor.target, anchor.pos, anchor.text)
