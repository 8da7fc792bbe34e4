"""Trail files: JSON lines that hold taught trails with their pages, described in docs/trails.md.

A page is written once, before the first trail that passes it; trails refer to pages by id. So a file of five
hundred trails from one start page holds that page once, and can still be read line by line. The store keeps
pages in the same JSON form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, get_args

from wayhound.errors import UsageError
from wayhound.page import Link, LinkKind, Page
from wayhound.trail import Step, Trail

FORMAT = "trails"
VERSION = 1
MAX_LINE_BYTES = 50_000_000
MAX_LABEL_CHARS = 60
PREFIX_MARK = "<"  # begins the names of prefix states (Vydiswaran & Sarawagi 2005, 1.2), so no label may


def write_trails(trails: Iterable[Trail], stream: BinaryIO) -> int:
    """Write a whole trail file; return the number of trails in it."""
    digests, written, count = PageDigests(), set[str](), 0
    _write_line(stream, {"wayhound": FORMAT, "version": VERSION})
    for trail in trails:
        ids = [digests.digest(step.page) for step in trail.steps]
        for digest, step in zip(ids, trail.steps, strict=True):
            if digest not in written:
                written.add(digest)
                _write_line(stream, {"page": digest, **page_to_json(step.page)})
        _write_line(stream, _trail_to_json(trail, ids))
        count += 1
    return count


def _write_line(stream: BinaryIO, data: dict[str, Any]) -> None:
    stream.write(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _trail_to_json(trail: Trail, ids: list[str]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    before: Page | None = None
    for step, page in zip(trail.steps, ids, strict=True):
        link = {} if step.link is None else {"link": _link_reference(step.link, before)}
        label = {"label": step.label} if step.label else {}
        by_script = {"by_script": True} if step.by_script else {}
        steps.append({"page": page, **link, **label, **by_script})
        before = step.page
    by = {"taught_by": trail.taught_by} if trail.taught_by else {}
    return {"trail": trail.site, **by, "steps": steps}


def _link_reference(link: Link, before: Page | None) -> int | dict[str, Any]:
    """Return the link's index on the page before, or the whole link if it is not there."""
    if before is not None and link in before.links:
        return before.links.index(link)
    return link_to_json(link)


def read_trails(path: Path) -> Iterator[Trail]:
    """Yield the trails of a file, one at a time.

    Raises UsageError if the file cannot be read, or with the number of the first line that is not valid.
    """
    reader = _Reader(str(path))
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                yield from reader.read(line)
    except OSError as error:
        raise UsageError(f"The trail file {path} cannot be read: {error.strerror}.") from None
    reader.end()


@dataclass
class _Reader:
    """The state of reading one file: the line number, and the pages that trails may refer to."""

    name: str
    _number: int = 0
    _has_head: bool = False
    _pages: dict[str, Page] = field(default_factory=dict)

    def read(self, line: bytes) -> Iterator[Trail]:
        self._number += 1
        try:
            if line.strip():
                trail = self._read_object(self._parse(line))
                if trail is not None:
                    yield trail
        except ValueError as error:
            raise UsageError(f"{self.name}, line {self._number}: {error}. Nothing was imported.") from None

    def end(self) -> None:
        if not self._has_head:
            raise UsageError(f"{self.name} is empty: a trail file begins with a line that names its format.")

    def _parse(self, line: bytes) -> dict[str, Any]:
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"the line is longer than {MAX_LINE_BYTES // 1_000_000} MB")
        try:
            data = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ValueError("this is not text in UTF-8") from None
        except (ValueError, RecursionError):
            raise ValueError("this is not JSON") from None
        if not isinstance(data, dict):
            raise ValueError("a line must be a JSON object")  # noqa: TRY004 - reported like every bad line
        return data

    def _read_object(self, data: dict[str, Any]) -> Trail | None:
        if not self._has_head:
            _check_head(data)
            self._has_head = True
        elif "trail" in data:
            return self._trail(data)
        elif "page" in data:
            self._add_page(data)
        else:
            raise ValueError("the line is neither a page nor a trail")
        return None

    def _add_page(self, data: dict[str, Any]) -> None:
        page_id = data["page"]
        if not isinstance(page_id, str) or not page_id:
            raise ValueError("a page line must begin with the id of the page")
        self._pages[page_id] = page_from_json({key: value for key, value in data.items() if key != "page"})

    def _trail(self, data: dict[str, Any]) -> Trail:
        site, by, steps = data["trail"], data.get("taught_by", ""), data.get("steps")
        if not isinstance(site, str) or not site:
            raise ValueError("a trail must name the start page of its site")
        if not isinstance(by, str):
            raise ValueError("taught_by must be a text")  # noqa: TRY004 - reported like every bad line
        if not isinstance(steps, list) or not steps:
            raise ValueError("a trail must have a list of steps")
        read: list[Step] = []
        for number, step in enumerate(steps, start=1):
            try:
                read.append(self._step(step, read[-1].page if read else None))
            except ValueError as error:
                raise ValueError(f"step {number}: {error}") from None
        return Trail(site, tuple(read), by)

    def _step(self, data: object, before: Page | None) -> Step:
        if not isinstance(data, dict) or "page" not in data:
            raise ValueError("a step must be an object with a page")
        page = self._page(data["page"])
        label = validate_label(data.get("label", ""))
        if before is None:
            if data.get("link") is not None:
                raise ValueError("the first step is the start page and must not have a link")
            return Step(page, None, label)
        return Step(page, _link(data.get("link"), before), label, data.get("by_script") is True)

    def _page(self, reference: object) -> Page:
        if not isinstance(reference, str):
            return page_from_json(reference)
        if reference not in self._pages:
            raise ValueError(f"no line before this one holds the page {reference!r}")
        return self._pages[reference]


def _check_head(data: dict[str, Any]) -> None:
    version = data.get("version")
    # files from before the product was renamed say "trailmark"
    if FORMAT not in (data.get("wayhound"), data.get("trailmark")) or not isinstance(version, int):
        raise ValueError(
            'this is not a trail file: the first line should be {"wayhound": "trails", "version": 1}'
        )
    if version > VERSION:
        raise ValueError(
            f"the file was written by a newer Wayhound (format {version}; this version reads up to {VERSION}); "
            "install the newer version"
        )


def _link(data: object, before: Page) -> Link:
    if data is None:
        raise ValueError("there is no link that leads to the page")
    if isinstance(data, bool) or not isinstance(data, int):
        return link_from_json(data)
    if not 0 <= data < len(before.links):
        raise ValueError(f"the page before has no link number {data}")
    return before.links[data]


def validate_label(label: object) -> str:
    """Return a label with its white space normalised. Raises ValueError if it is not a word or a few."""
    if not isinstance(label, str):
        raise ValueError("a label must be a text")  # noqa: TRY004 - reported like every bad line
    label = " ".join(label.split())
    if len(label) > MAX_LABEL_CHARS or not label.isprintable():
        raise ValueError(f"{label[:20]!r} is not a label: it must be a word or a few")
    if label.startswith(PREFIX_MARK):
        raise ValueError(f"the label {label!r} may not begin with {PREFIX_MARK!r}")
    return label


_LINK_FIELDS = {item.name: item.default for item in fields(Link)}
_PAGE_FIELDS = {item.name: item.default for item in fields(Page)}


def link_to_json(link: Link) -> dict[str, Any]:
    """Return the link's fields that differ from their defaults."""
    return _changed_fields(link, _LINK_FIELDS)


def page_to_json(page: Page) -> dict[str, Any]:
    """Return the page's fields that differ from their defaults."""
    data = _changed_fields(page, _PAGE_FIELDS)
    if page.links:
        data["links"] = [link_to_json(link) for link in page.links]
    return data


def _changed_fields(noun: Page | Link, defaults: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: getattr(noun, name) for name in defaults}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != defaults[name]
    }


def page_digest(data: Mapping[str, Any]) -> str:
    """Return a name for a page's JSON: equal pages have equal digests."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class PageDigests:
    """Digests of pages, each computed once: the trails of a site share their first pages."""

    def __init__(self) -> None:
        self._digests: dict[int, tuple[Page, str]] = {}  # by id(); the page is held, so ids last

    def digest(self, page: Page) -> str:
        if id(page) not in self._digests:
            self._digests[id(page)] = (page, page_digest(page_to_json(page)))
        return self._digests[id(page)][1]


def link_from_json(data: object) -> Link:
    """Return the link of a JSON value. Raises ValueError with the reason if it is not one."""
    values = _checked(data, _LINK_FIELDS, "link")
    if values.get("kind", "a") not in get_args(LinkKind):
        raise ValueError(f"{values['kind']!r} is no kind of link")
    return Link(**values)


def page_from_json(data: object) -> Page:
    """Return the page of a JSON value. Raises ValueError with the reason if it is not one."""
    if isinstance(data, dict) and isinstance(data.get("links", []), list):
        links = tuple(map(link_from_json, data.get("links", [])))
        rest = {name: value for name, value in data.items() if name != "links"}
        return Page(**_checked(rest, _PAGE_FIELDS, "page"), links=links)
    raise ValueError("a page must be an object with a url and a list of links")


def _checked(data: object, defaults: Mapping[str, Any], noun: str) -> dict[str, Any]:
    """Return the fields that this version has, with checked types. Unknown fields are ignored."""
    if not isinstance(data, dict) or not isinstance(data.get("url"), str) or not data["url"]:
        raise ValueError(f"a {noun} must be an object with a url")
    return {name: _typed(name, data[name], default) for name, default in defaults.items() if name in data}


def _typed(name: str, value: object, default: object) -> Any:
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise ValueError(f"{name} must be a list of texts")
    expected, wanted = (bool, "true or false") if isinstance(default, bool) else (str, "a text")
    if isinstance(value, expected):
        return value
    raise ValueError(f"{name} must be {wanted}")
