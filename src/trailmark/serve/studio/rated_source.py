"""Pages whose links can be rated: those that a run visited, and any other, fetched when it is asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from starlette.requests import Request

from trailmark.explaining import Way, explain_way, fetched_page
from trailmark.fetched import Fetched
from trailmark.forage.explain import Explanation
from trailmark.review.rating import VisitedPage, explained, visited_page
from trailmark.seeds import site_of
from trailmark.serve.studio.visit_address import VisitAddress
from trailmark.serve.web.errors import BadRequest
from trailmark.store.ways import WayStore
from trailmark.workspace import Workspace

PAGES_KEPT = 20


@dataclass(frozen=True)
class RatedSource:
    """A page, where it came from, and what tells how a model rates its links."""

    url: str
    title: str
    origin: str  # where it was found, in words
    run: int | None
    fields: Mapping[str, object]  # what names it in addresses
    way: tuple[tuple[str, str], ...]  # words of the link to each page on the way, and its ratings
    answer: Fetched
    explain: Callable[[str], Explanation]


class Shelf:
    """The pages that were fetched last for their ratings; they belong to no run, so memory will do."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, tuple[Fetched, Way]] = OrderedDict()
        self._lock = threading.Lock()
        self._count = 0

    def put(self, answer: Fetched, way: Way) -> int:
        with self._lock:
            self._count += 1
            self._pages[self._count] = (answer, way)
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
            return self._count

    def get(self, number: str) -> tuple[Fetched, Way]:
        with self._lock:
            found = self._pages.get(int(number)) if number.isascii() and number.isdecimal() else None
        if found is None:
            raise BadRequest("This page is kept no more. Ask for its ratings again.")
        return found


def source_of(workspace: Workspace, request: Request, shelf: Shelf) -> RatedSource:
    """The page that an address of ours names."""
    if number := request.query_params.get("fetched", ""):
        return _fetched(workspace, number, *shelf.get(number))
    return _visited(workspace, VisitAddress.of(request))


def address_for(workspace: Workspace, asked: str, shelf: Shelf) -> dict[str, object]:
    """What names the page at an address: the last visit of a run to it; else it is fetched now."""
    if not asked:
        raise BadRequest("Name the address of a page.")
    url = site_of(asked, "the address of a page").start
    if visited := _last_visit(workspace, url):
        return visited.fields
    return {"fetched": shelf.put(*fetched_page(workspace.config, url))}


def _last_visit(workspace: Workspace, url: str) -> VisitAddress | None:
    found = WayStore(workspace.database).to(url)
    if found is None:
        return None
    start, number = found[0].start, found[1][-1].number
    for run in workspace.forage_store.runs():
        visit = next(workspace.forage_store.visits_of(run.id, start, number), None)
        if visit is not None and visit.url == url and visit.archived:
            return VisitAddress(run.id, start, number)
    return None


def _fetched(workspace: Workspace, number: str, answer: Fetched, way: Way) -> RatedSource:
    page = way.path[-1][1]
    fields = {"fetched": number}
    return RatedSource(
        page.url, page.title, way.source, None, fields, (), answer,
        lambda model: explain_way(workspace, model, way),
    )  # fmt: skip


def _visited(workspace: Workspace, asked: VisitAddress) -> RatedSource:
    address = _behind_redirects(workspace, asked)
    page = visited_page(workspace, address.run, address.site, address.visit)
    return RatedSource(
        page.visit.url,
        page.visit.title,
        f"visit {address.visit} of {address.site}",
        address.run,
        address.fields,
        _way_here(page, address),
        page.answer,
        lambda model: explained(workspace, page, model),
    )


def _behind_redirects(workspace: Workspace, address: VisitAddress) -> VisitAddress:
    """A start page that only leads on to another address stands for the page behind it."""
    number = address.visit
    for visit in workspace.forage_store.visits_of(address.run, address.site, number):
        if visit.number == number and visit.outcome != "redirect":
            break
        if visit.parent == number and visit.link_kind == "redirect":
            number = visit.number
            if visit.outcome != "redirect":
                break
    return replace(address, visit=number)


def _way_here(page: VisitedPage, address: VisitAddress) -> tuple[tuple[str, str], ...]:
    """The pages that led here, each with the address of its own ratings."""
    words = ("start", *page.links_clicked)
    numbers = page.walked.way(page.visit.number)
    queries = (VisitAddress(address.run, address.site, number).query for number in numbers)
    return tuple(zip(words, (f"/ratings?{query}" for query in queries), strict=True))
