"""Explain how a model rates a page and its links: a page that a run visited, one of a trail, or a fresh one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wayhound.app.forage_worker import make_fetcher
from wayhound.app.order import Order
from wayhound.app.trails import step_page
from wayhound.app.train.models import load_forage_model, scorer_of
from wayhound.app.visited_site import read_path
from wayhound.config import Config
from wayhound.errors import PageUnavailable
from wayhound.fetched import Failed, Fetched, Fetcher
from wayhound.forage.explain import Explanation, explain
from wayhound.forage.forager import MAX_REDIRECTS
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_response
from wayhound.site import Site
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PagePath:
    """A page and how it was reached: the pages from a start page to it, each with the link that led there.

    `source` says where the path is from, in words. `visits` are the visit numbers of the pages if a run made the
    path, and `probability` is that of a goal by all pages of the site together, as the run's model saw them.
    `response` is what the server sent for the last page, if it is archived or was just fetched.
    """

    site: Site
    steps: tuple[tuple[Link | None, Page], ...]
    source: str
    run_id: int | None = None
    visits: tuple[int, ...] = ()
    probability: float | None = None
    response: Fetched | None = None

    @property
    def page(self) -> Page:
        return self.steps[-1][1]

    @property
    def link_texts(self) -> tuple[str, ...]:
        """The text of each link that was clicked, or its URL if it has none."""
        return _link_texts(self.steps)


def explain_page(workspace: Workspace, model: str, path: PagePath) -> Explanation:
    """Return how a model of the workspace rates the last page of a path and its links.

    For a page of a run by this model, the probability of a goal is the run's, which knows the rest of the site.
    """
    loaded = load_forage_model(workspace, model)
    explanation = explain(scorer_of(loaded.strategy, loaded), path.site, path.steps)
    if path.probability is None or not _is_by_model(workspace, path.run_id, model):
        return explanation
    return replace(explanation, goal=path.probability)


def _is_by_model(workspace: Workspace, run_id: int | None, model: str) -> bool:
    if run_id is None:
        return False
    digest = Order.from_identity(workspace.stores.forage.run(run_id).identity).model_digest
    return digest == workspace.forage_models.card(model).digest


def find_path(workspace: Workspace, url: str) -> PagePath | None:
    """Return the path by which a run last came to this page, else a trail; None if neither did."""
    visit = workspace.stores.click_paths.last_copy(url)
    return visited_path(workspace, *visit) if visit else _taught_path(workspace, url)


def visited_path(workspace: Workspace, run_id: int, start: str, number: int) -> PagePath:
    """Return the path to a visit of a run. A redirect stands for the page that it led to.

    Raises UsageError if there is no such visit or its page cannot be read.
    """
    number = _final_visit(workspace, run_id, start, number)
    site = read_path(workspace, run_id, start, number)
    steps, archived = site.steps(number), site.visits[number].archived
    clicks = " › ".join(_link_texts(steps)) or "its start page"
    return PagePath(
        site=site.site,
        steps=steps,
        source=f"as run {run_id} reached it ({clicks})",
        run_id=run_id,
        visits=tuple(site.path(number)),
        probability=site.visits[number].probability,
        response=workspace.archive.read(archived) if archived else None,
    )


def _link_texts(steps: Sequence[tuple[Link | None, Page]]) -> tuple[str, ...]:
    return tuple(" ".join(link.text.split()) or link.url for link, _ in steps if link is not None)


def _final_visit(workspace: Workspace, run_id: int, start: str, number: int) -> int:
    """Return the visit itself, or the one that its redirects led to."""
    for visit in workspace.stores.forage.visits_of(run_id, start, number):
        if visit.parent == number and visit.link_kind == "redirect":
            number = visit.number
        if visit.number == number and visit.outcome != "redirect":
            break
    return number


def _taught_path(workspace: Workspace, url: str) -> PagePath | None:
    for kept in workspace.stores.trails.iterate():
        for number, step in enumerate(kept.trail.steps):
            if step.page.url == url:
                return PagePath(
                    site=Site(kept.trail.site),
                    steps=tuple((step.link, step.page) for step in kept.trail.steps[: number + 1]),
                    source=f"as trail {kept.id} reached it",
                    response=step_page(workspace, kept.id, number),
                )
    return None


def fetch_path(config: Config, urls: Sequence[str]) -> PagePath:
    """Fetch these pages, the start page first, with the delay and the checks of a forage.

    Raises PageUnavailable if one of them cannot be fetched or read.
    """
    return asyncio.run(_fetch_path(config, urls))


async def _fetch_path(config: Config, urls: Sequence[str]) -> PagePath:
    steps: list[tuple[Link | None, Page]] = []
    async with make_fetcher(config) as fetcher:
        for url in urls:
            if steps:
                await asyncio.sleep(config.fetch.delay_seconds)
            response, page = await _fetch_page(fetcher, url, config)
            steps.append((_link_to(steps[-1][1], url) if steps else None, page))
    start = ", read as a start page" if len(steps) == 1 else ""
    return PagePath(Site(steps[0][1].url), tuple(steps), f"as it was just fetched{start}", response=response)


def _link_to(page: Page, url: str) -> Link:
    return next((link for link in page.links if link.url == url), Link(url))


async def _fetch_page(fetcher: Fetcher, url: str, config: Config) -> tuple[Fetched, Page]:
    response: Fetched | Failed = await fetcher.fetch(url)
    for _ in range(MAX_REDIRECTS):
        if not isinstance(response, Fetched) or not response.location:
            break
        await asyncio.sleep(config.fetch.delay_seconds)
        response = await fetcher.fetch(response.location)
    page = to_page(read_response(response, config.agent.name))
    if page is not None and isinstance(response, Fetched):
        return response, page
    raise PageUnavailable(url, "empty" if response.outcome == "ok" else response.outcome)
