"""The pages of a worker: fetched, shown to a browser where they need one, archived, and read again after a crash."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from wayhound.archive.reader import ArchiveReader, CachedPage, Revalidator
from wayhound.archive.writer import ArchiveWriter
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched, Fetcher
from wayhound.forage.forager import Content
from wayhound.forage.frontier import QueuedLink
from wayhound.forage.rendering import RenderMemory, shows_more
from wayhound.page import Page
from wayhound.pages.aside import AsideReader, belongs_aside
from wayhound.pages.feeds import SITEMAP, read_feed
from wayhound.pages.reader import read_response
from wayhound.pages.scripted import browser_need, is_challenge
from wayhound.visit import ArchiveRef, Rendering, Visit

LOOK_AGAIN_SECONDS = 0.5  # at a location where a segment is missing


class Renderer(Protocol):
    """Shows a response to a browser, under a URL that may have a route, and returns the document."""

    async def render(self, response: Fetched, url: str) -> Fetched | Failed: ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of a fetch: the response as it was read, its page, and where it is archived."""

    response: Fetched | Failed
    page: Content
    rendering: Rendering
    at: float  # seconds since the epoch
    archived: ArchiveRef | None
    not_modified: bool  # the server confirmed the copy that the archive has


@dataclass
class PageSource:
    """Gets pages for links. Large ones are read in a process of their own, those made by scripts in a browser."""

    fetcher: Fetcher
    writer: ArchiveWriter
    reader: ArchiveReader
    revalidator: Revalidator | None = None  # for pages that were fetched before
    renderer: Renderer | None = None  # for pages that are made by scripts
    request_headers: Sequence[tuple[str, str]] = ()
    product: str = "Wayhound"  # the crawler's name, by which pages may address it
    upload_seconds: float = 0.0  # another machine has this long to upload a segment before it counts as lost
    _aside: AsideReader = field(default_factory=AsideReader, init=False)
    _missing_since: dict[str, float] = field(default_factory=dict, init=False)  # by name: all sites wait once

    async def get(self, link: QueuedLink, memory: RenderMemory) -> Arrival:
        """Fetch and archive the page of a link. A second look takes the archived response."""
        first = link.first_look
        cached, answer = await self._fetch(link)
        plain = cached.resolve(answer) if cached else answer
        response, page, rendering = await self._show(link, plain, memory)
        at = time.time()
        archived = first.archived if first else None
        if first is None or rendering == "rendered":
            archived = self._archive(response if rendering == "rendered" else answer, answer, at, cached)
        confirmed = cached is not None and isinstance(answer, Fetched) and cached.is_confirmed_by(answer)
        return Arrival(response, page, rendering, at, archived, confirmed)

    async def _fetch(self, link: QueuedLink) -> tuple[CachedPage | None, Fetched | Failed]:
        """Return the response for a link, and the copy of it if the server was asked for changes."""
        if link.first_look is not None and link.first_look.archived is not None:
            with suppress(ArchiveError):
                return None, await self.reader.apart(self.reader.read, link.first_look.archived)
        address = link.url.partition("#")[0]  # a route is for the browser, not for the server
        cached = await self.revalidator.cached(address) if self.revalidator else None
        if self.revalidator and cached:
            return cached, await self.revalidator.fetch(address, cached)
        return None, await self.fetcher.fetch(address)

    async def _show(
        self, link: QueuedLink, answer: Fetched | Failed, memory: RenderMemory
    ) -> tuple[Fetched | Failed, Content, Rendering]:
        """Return the answer as it is read, in a browser if it needs one, with its page.

        A challenge is a failure: there is no page to read.
        """
        url, second_look = link.url, link.first_look is not None
        if link.region == SITEMAP and isinstance(answer, Fetched) and answer.ok:
            return answer, read_feed(answer), ""
        response, page = await self._read(answer)
        if isinstance(response, Failed):
            return response, page, ""
        if is_challenge(response, page):
            return Failed(url, "challenge", wait_seconds=response.wait_seconds), None, ""
        need = "needed" if "#" in url else browser_need(page, response.body, look_closer=memory.looks_closer)
        unmet: Rendering = "needed" if need == "needed" else ""
        if self.renderer is None or not isinstance(page, Page):
            return response, page, unmet if unmet and memory.is_unmet(url) else ""
        if not second_look and not memory.wants(url, need, link.depth):
            later: Rendering = "perhaps" if memory.waits(url, need) else ""
            return response, page, unmet if unmet and memory.is_unmet(url) else later
        document, rendered = await self._read(await self.renderer.render(response, url))
        if isinstance(document, Failed):
            return response, page, "same" if second_look else unmet
        least = memory.least_gain(link.depth)
        if memory.mode == "auto" and "#" not in url and not shows_more(page, rendered, least):
            return response, page, "same"
        return document, rendered, "rendered"

    async def _read(self, response: Fetched | Failed) -> tuple[Fetched | Failed, Content]:
        """Return the response and its page; Failed in place of a response that cannot be read within limits."""
        if isinstance(response, Failed) or not belongs_aside(response):
            return response, read_response(response, self.product)
        page = await self._aside.read(response, self.product)
        return (page, None) if isinstance(page, Failed) else (response, page)

    def _archive(
        self, shown: Fetched | Failed, answer: Fetched | Failed, at: float, cached: CachedPage | None
    ) -> ArchiveRef | None:
        """Archive an answer, and what a browser made of it if that was `shown`."""
        if isinstance(answer, Failed) or isinstance(shown, Failed):
            return None
        headers = (*self.request_headers, *(cached.conditions if cached else ()))
        written = replace(shown, source=answer) if shown.source else shown
        return self.writer.write(written, at=at, request_headers=headers, cached=cached)

    async def read_again(self, visit: Visit, stop: asyncio.Event) -> tuple[Fetched | None, Content]:
        """Return the archived response of a visit and its page; None where nothing was archived or read.

        Waits for a segment that another machine may still upload, unless `stop` is set. Raises ArchiveError if the page
        is lost.
        """
        if visit.archived is None:
            return None, None
        await self._wait_for_upload(visit.archived, stop)
        if visit.outcome == "unreadable":
            return None, None
        response = await self.reader.apart(self.reader.read, visit.archived)
        if visit.link_region == SITEMAP and response.ok:
            return response, read_feed(response)
        return response, (await self._read(response))[1]

    async def _wait_for_upload(self, ref: ArchiveRef, stop: asyncio.Event) -> None:
        while (
            self.upload_seconds and not stop.is_set() and not await self.reader.apart(self.reader.holds, ref)
        ):
            first = self._missing_since.setdefault(ref.file, seconds_awake_or_asleep())
            if seconds_awake_or_asleep() - first >= self.upload_seconds:
                return
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def close(self) -> None:
        await self._aside.close()


def seconds_awake_or_asleep() -> float:
    """Return the seconds since some moment, those in which the machine slept included where that is known."""
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
