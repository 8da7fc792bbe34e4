"""The pages that link chains are learned from and extracted from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from wayhound.app.forage_worker import make_fetcher
from wayhound.archive.replay import ReplayFetcher, warc_files
from wayhound.chains.tokens import TokenPage
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched
from wayhound.pages.reader import read_page
from wayhound.pages.sniff import decode, sniff_kind
from wayhound.url import host_of, normalise
from wayhound.workspace import Workspace

MAX_REDIRECTS = 5
_CACHED_PAGES = 64
_CANDIDATES = 5_000


class ChainPages:
    """Pages by address: from recorded sites if any are given, else from the archive, else from the network.

    Fetched pages are archived. Use it as a context manager; without the network it needs no closing.
    """

    def __init__(self, workspace: Workspace, recorded: Sequence[Path] = (), *, online: bool = False) -> None:
        self._workspace = workspace
        self._store = workspace.stores.chains
        self._recorded = (
            ReplayFetcher([file for path in recorded for file in warc_files(path)]) if recorded else None
        )
        self._online = online
        self._runner: asyncio.Runner | None = None
        self._cache: dict[str, TokenPage | None] = {}
        self._last_fetch: dict[str, float] = {}
        self.fetches = 0

    def get(self, url: str) -> TokenPage | None:
        """Return a page, or None if it cannot be had."""
        url = normalise(url) or url
        if url not in self._cache:
            if len(self._cache) >= _CACHED_PAGES:
                self._cache.pop(next(iter(self._cache)))
            response = self.response(url)
            self._cache[url] = _token_page(response) if response else None
        return self._cache[url]

    def response(self, url: str) -> Fetched | None:
        """Return the response at the end of redirects; None for a failure or an error status."""
        for _ in range(MAX_REDIRECTS):
            answer = self._answer(url)
            if not isinstance(answer, Fetched) or not answer.location:
                return answer if isinstance(answer, Fetched) and answer.ok else None
            url = answer.location
        return None

    def known(self, like: str) -> list[str]:
        """Return the addresses at hand on the site of an address."""
        host = host_of(like)
        if self._recorded is not None:
            return [url for url in self._recorded.urls() if host_of(url) == host]
        scheme = like.partition("://")[0]
        return self._store.visited(f"{scheme}://{host}/", _CANDIDATES)

    def _answer(self, url: str) -> Fetched | Failed | None:
        if self._recorded is not None:
            return self._recorded.get(url)
        if ref := self._store.page_ref(url):
            try:
                return self._workspace.archive.read(ref)
            except (ArchiveError, OSError):
                pass  # the file was moved away: fetch it again
        return self._fetch(url) if self._online else None

    def _fetch(self, url: str) -> Fetched | Failed:
        """Fetch with the checks and the pace of a forage, and archive the response."""
        host = host_of(url)
        wait = self._last_fetch.get(host, 0.0) + self._workspace.config.fetch.delay_seconds - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._fetcher = make_fetcher(self._workspace.config)
            self._runner.run(self._fetcher.__aenter__())
        answer = self._runner.run(self._fetcher.fetch(url))
        self._last_fetch[host] = time.monotonic()
        self.fetches += 1
        if isinstance(answer, Fetched):
            with self._workspace.archive_writer("chains") as writer:
                self._store.save_page(answer.url, writer.write(answer, at=time.time()))
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            self._runner.run(self._fetcher.__aexit__(None, None, None))
            self._runner.close()
            self._runner = None


def _token_page(response: Fetched) -> TokenPage | None:
    if sniff_kind(response.body, response.content_type, response.charset) != "html":
        return None
    return TokenPage(response.url, decode(response.body, response.charset)[0])


def page_title(page: TokenPage) -> str:
    """Return what a page calls itself: its main heading, else its title."""
    read = read_page(page.url, page.text.encode("utf-8", "replace"), "text/html", "utf-8")
    headings = getattr(read, "headings", ())
    return (headings[0] if headings else getattr(read, "title", "")) or page.url
