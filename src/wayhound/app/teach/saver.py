"""Writes a teaching session down as it happens: pages into the archive, events and trails into the store."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any

from wayhound.app.teach.events import Arrived, Closed, Done, Event, Led, Marked, Undone, read, written
from wayhound.app.teach.session import Node, Session, Way
from wayhound.archive.repair import repair
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.media import is_page_type, resolve_type
from wayhound.page import Page, Unreadable, to_page
from wayhound.pages.reader import read_page
from wayhound.paths.taught_site import WebGraph, hops_to_nearest
from wayhound.store.teaching import TeachPage, TeachSession
from wayhound.trail import GOAL, Step, Trail
from wayhound.url import normalise
from wayhound.visit import ArchiveRef
from wayhound.workspace import Workspace

# As browsers write elements out: every attribute with its value in double quotes. Nothing here goes back over
# what it has read, so that no page can make it slow.
_ATTRIBUTES = r'(?:\s++[^\s=<>"]++(?:="[^"]*+")?+)*+\s*+'
_INPUT = re.compile(rf"<input{_ATTRIBUTES}/?>", re.IGNORECASE)
_TEXTAREA = re.compile(rf"(<textarea{_ATTRIBUTES}>)[^<]*+", re.IGNORECASE)
_VALUE = re.compile(r'\svalue="[^"]*+"', re.IGNORECASE)
_PRESSED = re.compile(r'\stype="(?:submit|button|reset|image)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What the bar tells of the document that it stands in."""

    url: str
    title: str
    html: str
    content_type: str
    asks_to_log_in: bool = False

    @classmethod
    def told(cls, message: dict[str, Any]) -> SeenPage | None:
        """From a message of the bar; None if it holds no page that could be fetched."""
        url = normalise(str(message.get("url", "")))
        if not url or "html" not in message:
            return None
        return cls(
            url,
            str(message.get("title", ""))[:1000],
            without_typing(str(message["html"])),
            str(message.get("type", "text/html")),
            bool(message.get("login")),
        )


def without_typing(html: str) -> str:
    """Some pages write what is typed back into their markup; what a person types is never recorded."""
    return _TEXTAREA.sub(r"\1", _INPUT.sub(_without_value, html))


def _without_value(found: re.Match[str]) -> str:
    return found[0] if _PRESSED.search(found[0]) else _VALUE.sub("", found[0])


SEEN_PREFIX = "urn:wayhound:seen:"
OLD_SEEN_PREFIX = "urn:trailmark:seen:"  # of version 0.1
"""Put before the URL of a page as it was seen, so that nobody takes it for what the server sent."""

SOURCES: Mapping[Way, str] = {"trails": "browser", "free": "free browsing"}
"""How a trail came into the workspace."""

_HTML = ("text/html", "application/xhtml+xml")
_PDF = "application/pdf"
_PDF_HEAD = 1_024  # bytes among which a PDF says that it is one


class Saver:
    """One session in one workspace. What it was told is on disk when a method returns."""

    def __init__(
        self, workspace: Workspace, record: TeachSession, clock: Callable[[], float] = time.time
    ) -> None:
        repair(workspace.archive_folder)
        self.record = record
        self._clock = clock
        self._teaching = workspace.stores.teaching
        self._trails = workspace.stores.trails
        self._writer = workspace.archive_writer(f"teach{record.id}")
        self._reader = workspace.archive
        self._read: dict[int, tuple[str, Page | Unreadable]] = {}
        way: Way = "free" if record.way == "free" else "trails"
        events = [read(kind, body) for kind, body in self._teaching.events(record.id)]
        self.session = Session.of(record.sites, way, events)
        self.pages = {page.number: page for page in self._teaching.pages(record.id)}
        self._add_pages()  # what was told last before a kill may not have been seen through
        self._goals_elsewhere = self._goals_of_others()
        self._kept = self._kept_before()
        self._waiting: set[int] = set()  # pages where a trail ends that cannot be read yet
        self.keep_trails()

    def close(self) -> None:
        self._writer.close()

    def tell(self, event: Event) -> None:
        """Let something have happened: in the session, and for good."""
        kind, body = written(event)
        self._teaching.add_event(self.record.id, self._clock(), kind, body)
        self.session.tell(event)
        match event:
            case Arrived() | Led():
                self._add_pages()
                self._keep_what_was_left()
            case Closed():
                self._keep_what_was_left()
            case Marked() | Undone():
                self.keep_trails()
            case Done():
                self._finish()

    def see(self, number: int, seen: SeenPage) -> None:
        """Keep a page as it looks now, unless that is known. Of a document the browser shows its own viewer."""
        page = self.pages[number]
        content_type = page.content_type or seen.content_type
        if not is_page_type(content_type):
            self._save(replace(page, title=page.title or seen.title, content_type=content_type))
            self._keep_what_waited()
            return
        body = seen.html.encode("utf-8", "replace")
        digest = sha1(body, usedforsecurity=False).hexdigest()
        if digest == page.digest:
            return
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        fetched = Fetched(
            SEEN_PREFIX + seen.url, 200, headers, body, "text/html", "utf-8", reason_phrase="OK"
        )
        ref = self._writer.write(fetched, at=self._clock(), request_headers=None)
        self._save(replace(page, title=seen.title, digest=digest, seen=ref, content_type=content_type))
        self._keep_what_waited()

    def keep_original(self, number: int, fetched: Fetched) -> None:
        """Keep what the server sent for a page. Browsers hand their viewer over in place of a PDF."""
        known = self.pages[number]
        if known.original is None:
            content_type = fetched.content_type or known.content_type
            is_viewer = content_type == _PDF and b"%PDF-" not in fetched.body[:_PDF_HEAD]
            ref = None if is_viewer else self._writer.write(fetched, at=self._clock())
            self._save(replace(known, status=fetched.status, content_type=content_type, original=ref))
            self._keep_what_waited()

    def knows(self, number: int) -> bool:
        """Whether a page can be marked: it was seen, or is known to be a document."""
        kept = self.pages[number]
        return bool(kept.digest) or not is_page_type(kept.content_type)

    def page(self, number: int) -> Page | None:
        """A page as the forage would read it, a document without words; None as long as nothing was seen."""
        kept = self.pages[number]
        ref = kept.seen if kept.content_type in ("", *_HTML) else kept.original
        page = to_page(self._read_once(number, kept.url, ref)) if ref is not None else None
        if page is None and not is_page_type(kept.content_type):
            return Page(kept.url, content_type=resolve_type(kept.content_type, kept.url))
        return page

    def _read_once(self, number: int, url: str, ref: ArchiveRef) -> Page | Unreadable:
        key = f"{ref.file}:{ref.offset}"
        if self._read.get(number, ("",))[0] != key:
            self._read[number] = (key, self._read_page(url, ref))
        return self._read[number][1]

    def keep_trails(self) -> int:
        """Bring the kept trails to what the session says now; tells how many are new or changed."""
        wanted = {end.number: self._fingerprint(end.number) for end in self._ends()}
        for number in [number for number in self._kept if self._kept[number] != wanted.get(number)]:
            self._drop_trail(number)
        new = [number for number in wanted if number not in self._kept]
        self._waiting = {number for number in new if not self._keep_trail(number)}
        return len(new) - len(self._waiting)

    @property
    def failures(self) -> int:
        """Ways that lead nowhere: by a mark, or when browsing freely by being left without one."""
        return sum(end.label != GOAL for end in self._ends())

    def waits_for(self, number: int) -> bool:
        """Whether a page was marked as the end of a trail before it came, so that the trail is still to be kept."""
        return number in self._waiting and bool(self.session.nodes[number].label)

    def never_seen(self) -> list[str]:
        """Pages that were marked as ends of trails and did not come: nothing could be kept of them."""
        return [
            self.pages[number].url for number in sorted(self._waiting) if self.session.nodes[number].label
        ]

    def _ends(self) -> list[Node]:
        return [end for end in self.session.ends() if end.label or self._was_looked_at(end)]

    def _was_looked_at(self, left: Node) -> bool:
        """Not so a page that the site does not have; and who called a page a goal before need not do so again."""
        return (self.pages[left.number].status or 200) < 400 and left.url not in self._goals_elsewhere

    def _goals_of_others(self) -> set[str]:
        own = set(self._teaching.trails(self.record.id).values())
        return {
            each.end_url for each in self._trails.summaries() if each.ending == GOAL and each.id not in own
        }

    def _keep_what_was_left(self) -> None:
        if self.session.way == "free":
            self.keep_trails()

    def _keep_what_waited(self) -> None:
        if self._waiting:
            self.keep_trails()

    def labels(self) -> list[str]:
        """Labels to choose from: this session's, then all others, the most used first."""
        before = [label for label in self._trails.labels() if label not in ("Goal", "Fail")]
        return list(dict.fromkeys([*self.session.labels(), *before]))

    def trail(self, number: int) -> Trail | None:
        """The trail that ends at a page; None if a page on it cannot be read."""
        steps = []
        for node, label in self.session.trail(number):
            page = self.page(node.number)
            if page is None:
                return None
            steps.append(Step(page, node.link, label))
        return Trail(steps[0].page.url, tuple(steps), self.record.taught_by)

    def _add_pages(self) -> None:
        for node in self.session.nodes:
            if node.number not in self.pages:
                page = TeachPage(node.number, node.url, self._clock(), node.name)
                self._save(replace(page, content_type=node.media_type))

    def _save(self, page: TeachPage) -> None:
        self._teaching.save_page(self.record.id, page)
        self.pages[page.number] = page

    def _read_page(self, url: str, ref: ArchiveRef) -> Page | Unreadable:
        try:
            fetched = self._reader.read(ref)
        except ArchiveError:  # cut off by a crash before it was whole
            return Unreadable(url, "empty")
        return read_page(url, fetched.body, fetched.content_type, fetched.charset)

    def _fingerprint(self, number: int) -> tuple[tuple[int, str], ...]:
        return tuple((node.number, label) for node, label in self.session.trail(number))

    def _kept_before(self) -> dict[int, tuple[tuple[int, str], ...]]:
        kept = self._teaching.trails(self.record.id)
        ends = {end.number for end in self._ends()}
        return {number: self._fingerprint(number) if number in ends else () for number in kept}

    def _keep_trail(self, number: int) -> bool:
        trail = self.trail(number)
        if trail is None:
            return False
        source = SOURCES[self.session.way]
        self._teaching.keep_trail(self.record.id, number, self._trails.add(trail, self._clock(), source))
        self._kept[number] = self._fingerprint(number)
        return True

    def _drop_trail(self, number: int) -> None:
        self._teaching.forget_trail(self.record.id, number)
        del self._kept[number]

    def _finish(self) -> None:
        self.keep_trails()
        if self.session.way == "free":
            self._save_graph()
        self._teaching.end(self.record.id, self._clock())
        self._writer.sync()

    def _save_graph(self) -> None:
        pages = [page for number in self.pages if (page := self.page(number)) is not None]
        nodes = self.session.nodes
        walked = [(nodes[node.parent].url, node.url) for node in nodes if node.parent is not None]
        graph = WebGraph.from_pages(pages, walked)
        hops = hops_to_nearest(graph, [node.url for node in nodes if node.label == GOAL])
        self._teaching.save_graph(self.record.id, graph.edges(), hops)
