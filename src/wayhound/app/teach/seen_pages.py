"""Pages of a teaching session as the teacher saw them, archived without anything that was typed into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any

from wayhound.app.teach.session import PageNode
from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.media import is_page_type, resolve_type
from wayhound.page import Link, Page, Unreadable, to_page
from wayhound.pages.reader import read_page
from wayhound.store.teaching import TeachPage
from wayhound.url import normalise
from wayhound.visit import ArchiveRef
from wayhound.workspace import Workspace

# Elements as browsers serialise them, with every attribute value in double quotes. All quantifiers are
# possessive, so that no page can make the patterns backtrack.
_ATTRIBUTES = r'(?:\s++[^\s=<>"]++(?:="[^"]*+")?+)*+\s*+'
_INPUT = re.compile(rf"<input{_ATTRIBUTES}/?>", re.IGNORECASE)
_TEXTAREA = re.compile(rf"(<textarea{_ATTRIBUTES}>)[^<]*+", re.IGNORECASE)
_VALUE = re.compile(r'\svalue="[^"]*+"', re.IGNORECASE)
_BUTTON_TYPE = re.compile(r'\stype="(?:submit|button|reset|image)"', re.IGNORECASE)

SEEN_PREFIX = "urn:wayhound:seen:"
"""Prefix of the URL of a page as it was seen, so that it is not mistaken for what the server sent."""

OLD_SEEN_PREFIX = "urn:trailmark:seen:"  # of version 0.1

_HTML = ("text/html", "application/xhtml+xml")
_PDF = "application/pdf"
_PDF_HEAD = 1_024  # a PDF has its signature within these bytes


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A document as the bar in it reports it."""

    url: str
    title: str
    html: str
    content_type: str
    has_login: bool = False  # a password field

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> SeenPage | None:
        """Read a message of the bar. Return None if it holds no page that could be fetched."""
        url = normalise(str(message.get("url", "")))
        if not url or "html" not in message:
            return None
        return cls(
            url,
            str(message.get("title", ""))[:1000],
            remove_typed_text(str(message["html"])),
            str(message.get("type", "text/html")),
            bool(message.get("login")),
        )


def remove_typed_text(html: str) -> str:
    """Remove the values of form fields: some pages write what a person types back into their markup."""
    return _TEXTAREA.sub(r"\1", _INPUT.sub(_remove_value, html))


def _remove_value(match: re.Match[str]) -> str:
    return match[0] if _BUTTON_TYPE.search(match[0]) else _VALUE.sub("", match[0])


class SessionPages:
    """The pages of one session by number, in the store and the archive; durable when a method returns."""

    def __init__(self, workspace: Workspace, session_id: int, clock: Callable[[], float]) -> None:
        self._session_id = session_id
        self._clock = clock
        self._store = workspace.stores.teaching
        self._writer = workspace.archive_writer(f"teach{session_id}")
        self._reader = workspace.archive
        self.records = {page.number: page for page in self._store.pages(session_id)}
        self._cache: dict[int, tuple[ArchiveRef, Page | Unreadable]] = {}
        self._plain: dict[int, Page | Unreadable] = {}  # as the server sent them

    def __getitem__(self, number: int) -> TeachPage:
        return self.records[number]

    def close(self) -> None:
        self._writer.close()

    def sync(self) -> None:
        self._writer.sync()

    def add(self, nodes: Iterable[PageNode]) -> None:
        """Add a record for each page that has none yet."""
        for node in nodes:
            if node.number not in self.records:
                page = TeachPage(node.number, node.url, self._clock(), node.name)
                self._save(replace(page, content_type=node.media_type))

    def save_seen(self, number: int, seen: SeenPage) -> None:
        """Archive a page as it looks now, unless it is unchanged.

        Of a document only the title is kept, since the browser shows its own viewer in place of it.
        """
        page = self.records[number]
        content_type = page.content_type or seen.content_type
        if not is_page_type(content_type):
            self._save(replace(page, title=page.title or seen.title, content_type=content_type))
            return
        body = seen.html.encode("utf-8", "replace")
        digest = sha1(body, usedforsecurity=False).hexdigest()
        if digest == page.digest:
            return
        fetched = Fetched(
            SEEN_PREFIX + seen.url,
            200,
            (("Content-Type", "text/html; charset=utf-8"),),
            body,
            "text/html",
            "utf-8",
            reason_phrase="OK",
        )
        ref = self._writer.write(fetched, at=self._clock(), request_headers=None)
        self._save(replace(page, title=seen.title, digest=digest, seen=ref, content_type=content_type))

    def save_original(self, number: int, fetched: Fetched) -> None:
        """Archive what the server sent for a page, once. A viewer that stands in for a PDF is not archived."""
        page = self.records[number]
        if page.original is not None:
            return
        content_type = fetched.content_type or page.content_type
        is_viewer = content_type == _PDF and b"%PDF-" not in fetched.body[:_PDF_HEAD]
        ref = None if is_viewer else self._writer.write(fetched, at=self._clock())
        self._save(replace(page, status=fetched.status, content_type=content_type, original=ref))

    def is_seen(self, number: int) -> bool:
        """Return True if a page was seen, or is known to be a document: then it can end a trail."""
        page = self.records[number]
        return bool(page.digest) or not is_page_type(page.content_type)

    def read(self, number: int) -> Page | None:
        """Return a page as a forage would read it, or None if nothing readable was seen.

        A document whose content is not archived is returned as a page without words.
        """
        record = self.records[number]
        ref = _shown_ref(record)
        return _or_document(record, to_page(self._parsed(record, ref)) if ref is not None else None)

    def lacks_link(self, number: int, link: Link | None) -> bool:
        """Return True if a link of a page is not in what the server sent: a script has made it."""
        record = self.records[number]
        if link is None or record.original is None or record.content_type not in _HTML:
            return False
        plain = self._plain.get(number)
        if plain is None:
            plain = self._plain[number] = _parse(self._reader, record.url, record.original)
        return isinstance(plain, Page) and all(link.url != other.url for other in plain.links)

    def read_all(self) -> list[Page]:
        """Return every page that can be read."""
        return [page for number in self.records if (page := self.read(number)) is not None]

    def _parsed(self, record: TeachPage, ref: ArchiveRef) -> Page | Unreadable:
        cached = self._cache.get(record.number)
        if cached is None or cached[0] != ref:
            cached = self._cache[record.number] = (ref, _parse(self._reader, record.url, ref))
        return cached[1]

    def _save(self, page: TeachPage) -> None:
        self._store.save_page(self._session_id, page)
        self.records[page.number] = page


def read_seen_page(reader: ArchiveReader, record: TeachPage) -> Page | None:
    """Return a page of a session as a forage would read it, or None if nothing readable was seen."""
    ref = _shown_ref(record)
    return _or_document(record, to_page(_parse(reader, record.url, ref)) if ref is not None else None)


def _shown_ref(record: TeachPage) -> ArchiveRef | None:
    return record.seen if record.content_type in ("", *_HTML) else record.original


def _or_document(record: TeachPage, page: Page | None) -> Page | None:
    if page is None and not is_page_type(record.content_type):
        return Page(record.url, content_type=resolve_type(record.content_type, record.url))
    return page


def _parse(reader: ArchiveReader, url: str, ref: ArchiveRef) -> Page | Unreadable:
    try:
        fetched = reader.read(ref)
    except ArchiveError:  # truncated by a crash
        return Unreadable(url, "empty")
    return read_page(url, fetched.body, fetched.content_type, fetched.charset)
