"""What a trained model makes of one page and its links: of a page that a run or a trail passed, or a fresh one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wayhound.app.forage import make_fetcher
from wayhound.app.train import load_forage_model
from wayhound.config import Config
from wayhound.errors import ArchiveError, PageUnavailable, UsageError
from wayhound.fetched import Failed, Fetched, Fetcher
from wayhound.forage.explain import Explanation, explain
from wayhound.forage.forager import MAX_REDIRECTS
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_response
from wayhound.site import Site
from wayhound.visit import Visit
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Way:
    """Pages from a start page on, each with the link that led to it, and where they were found."""

    site: Site
    path: tuple[tuple[Link | None, Page], ...]
    source: str


def explain_way(workspace: Workspace, model: str, way: Way) -> Explanation:
    """The last page of the way and its links, as this model of the workspace sees them."""
    loaded = load_forage_model(workspace, model)
    return explain(SCORERS[loaded.strategy](StrategyInput(model=loaded)), way.site, way.path)


def known_way(workspace: Workspace, url: str) -> Way | None:
    """The way by which a run last came to this page, or a trail; None if neither did."""
    return _walked(workspace, url) or _taught(workspace, url)


def _walked(workspace: Workspace, url: str) -> Way | None:
    found = workspace.stores.click_paths.to_url(url)
    if found is None:
        return None
    site, visits = found
    path: list[tuple[Link | None, Page]] = []
    hop: Visit | None = None  # the first of the redirects to the next page
    for visit in visits:
        page = _archived(workspace, visit)
        if page is None:
            hop = hop or visit
        else:
            path.append((_link(path[-1][1], hop or visit) if path else None, page))
            hop = None
    return Way(site, tuple(path), f"as a run reached it ({_clicks(path)})")


def _archived(workspace: Workspace, visit: Visit) -> Page | None:
    try:
        return to_page(workspace.archive.page(visit.archived))
    except ArchiveError as error:
        raise UsageError(f"{visit.url} stands in the archive no more: {error}") from None


def _link(page: Page, visit: Visit) -> Link:
    """The link that was taken, as it stands on its page; what the visit tells of it, if it is there no more."""
    taken = Link(visit.url, visit.link_text, region=visit.link_region, kind=visit.link_kind)
    return next((link for link in page.links if replace(link, before=(), after=()) == taken), taken)


def _taught(workspace: Workspace, url: str) -> Way | None:
    for kept in workspace.stores.trails.iterate():
        for number, step in enumerate(kept.trail.steps):
            if step.page.url == url:
                path = [(step.link, step.page) for step in kept.trail.steps[: number + 1]]
                return Way(Site(kept.trail.site), tuple(path), f"as trail {kept.id} reached it")
    return None


def _clicks(path: Sequence[tuple[Link | None, Page]]) -> str:
    texts = [link.text or "(no text)" for link, _ in path if link is not None]
    return " › ".join(" ".join(text.split()) for text in texts) or "its start page"


def fetched_way(config: Config, urls: Sequence[str]) -> Way:
    """Fetch these pages, the start page first, each with the pause and the checks of a forage."""
    return asyncio.run(_fetch_all(config, urls))


async def _fetch_all(config: Config, urls: Sequence[str]) -> Way:
    async with make_fetcher(config) as fetcher:
        path: list[tuple[Link | None, Page]] = []
        for url in urls:
            if path:
                await asyncio.sleep(config.fetch.delay_seconds)
            page = await _fetch(fetcher, url, config)
            path.append((_link_to(path[-1][1], url) if path else None, page))
    return Way(Site(path[0][1].url), tuple(path), "as it was fetched now" + _as_start(path))


def _as_start(path: Sequence[tuple[Link | None, Page]]) -> str:
    return ", read as a start page" if len(path) == 1 else ""


def _link_to(page: Page, url: str) -> Link:
    return next((link for link in page.links if link.url == url), Link(url))


async def _fetch(fetcher: Fetcher, url: str, config: Config) -> Page:
    return (await _answer(fetcher, url, config))[1]


def fetched_page(config: Config, url: str) -> tuple[Fetched, Way]:
    """Fetch one page as it is now: what came, and the way of a start page to it."""
    return asyncio.run(_fetch_one(config, url))


async def _fetch_one(config: Config, url: str) -> tuple[Fetched, Way]:
    async with make_fetcher(config) as fetcher:
        answer, page = await _answer(fetcher, url, config)
    return answer, Way(Site(page.url), ((None, page),), "as it was fetched now, read as a start page")


async def _answer(fetcher: Fetcher, url: str, config: Config) -> tuple[Fetched, Page]:
    answer: Fetched | Failed = await fetcher.fetch(url)
    for _ in range(MAX_REDIRECTS):
        if not isinstance(answer, Fetched) or not answer.location:
            break
        await asyncio.sleep(config.fetch.delay_seconds)
        answer = await fetcher.fetch(answer.location)
    page = to_page(read_response(answer, config.agent.name))
    if page is not None and isinstance(answer, Fetched):
        return answer, page
    raise PageUnavailable(url, "empty" if answer.outcome == "ok" else answer.outcome)
