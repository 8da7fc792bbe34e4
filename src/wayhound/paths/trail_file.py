"""Trail files: how taught trails travel. JSON lines, described in docs/trails.md.

A page is written once, before the first trail that passes it; trails name pages by their id. So a file of five
hundred trails from one start page holds that page once, and can still be read a line at a time.
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
LONGEST_LINE = 50_000_000  # bytes
LONGEST_LABEL = 60
PREFIX_MARK = "<"  # begins the names of states before a label (section 1.2), so no label may begin with it


def write_trails(trails: Iterable[Trail], stream: BinaryIO) -> int:
    """Write a whole trail file; tells how many trails it holds."""
    digests, written, count = PageDigests(), set[str](), 0
    _put(stream, {"wayhound": FORMAT, "version": VERSION})
    for trail in trails:
        ids = [digests.of(step.page) for step in trail.steps]
        for digest, step in zip(ids, trail.steps, strict=True):
            if digest not in written:
                written.add(digest)
                _put(stream, {"page": digest, **page_to_json(step.page)})
        _put(stream, _trail_line(trail, ids))
        count += 1
    return count


def _put(stream: BinaryIO, data: dict[str, Any]) -> None:
    stream.write(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _trail_line(trail: Trail, ids: list[str]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    before: Page | None = None
    for step, page in zip(trail.steps, ids, strict=True):
        link = {} if step.link is None else {"link": _link_name(step.link, before)}
        steps.append({"page": page, **link, **({"label": step.label} if step.label else {})})
        before = step.page
    by = {"taught_by": trail.taught_by} if trail.taught_by else {}
    return {"trail": trail.site, **by, "steps": steps}


def _link_name(link: Link, before: Page | None) -> int | dict[str, Any]:
    """Its place among the links of the page before; whole, if it does not stand there."""
    if before is not None and link in before.links:
        return before.links.index(link)
    return link_to_json(link)


def read_trails(path: Path) -> Iterator[Trail]:
    """The trails of a file, one at a time. A line that cannot be read ends with a sentence that names it."""
    reader = _Reader(str(path))
    try:
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                yield from reader.read(line)
    except OSError as error:
        raise UsageError(f"The trail file {path} cannot be read: {error.strerror}.") from None
    reader.end()


@dataclass
class _Reader:
    """Told the lines of one file in order; knows the pages met so far."""

    name: str
    _number: int = 0
    _begun: bool = False
    _pages: dict[str, Page] = field(default_factory=dict)

    def read(self, line: bytes) -> Iterator[Trail]:
        self._number += 1
        try:
            if line.strip():
                trail = self._understand(self._parse(line))
                if trail is not None:
                    yield trail
        except ValueError as error:
            raise UsageError(f"{self.name}, line {self._number}: {error}. Nothing was imported.") from None

    def end(self) -> None:
        if not self._begun:
            raise UsageError(f"{self.name} is empty: a trail file begins with a line that says what it is.")

    def _parse(self, line: bytes) -> dict[str, Any]:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"the line is longer than {LONGEST_LINE // 1_000_000} MB")
        try:
            data = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ValueError("this is not text in UTF-8") from None
        except (ValueError, RecursionError):
            raise ValueError("this is not JSON") from None
        if not isinstance(data, dict):
            raise ValueError("a line must be a JSON object")  # noqa: TRY004 - told as all bad lines are
        return data

    def _understand(self, data: dict[str, Any]) -> Trail | None:
        if not self._begun:
            _check_head(data)
            self._begun = True
        elif "trail" in data:
            return self._trail(data)
        elif "page" in data:
            self._add_page(data)
        else:
            raise ValueError("the line is neither a page nor a trail")
        return None

    def _add_page(self, data: dict[str, Any]) -> None:
        name = data["page"]
        if not isinstance(name, str) or not name:
            raise ValueError("a page line must begin with the id of the page")
        self._pages[name] = page_from_json({key: value for key, value in data.items() if key != "page"})

    def _trail(self, data: dict[str, Any]) -> Trail:
        site, by, steps = data["trail"], data.get("taught_by", ""), data.get("steps")
        if not isinstance(site, str) or not site:
            raise ValueError("a trail must name the start page of its site")
        if not isinstance(by, str):
            raise ValueError("taught_by must be a text")  # noqa: TRY004 - told as all bad lines are
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
                raise ValueError("the first step is the start page, and no link leads to it")
            return Step(page, None, label)
        return Step(page, _link(data.get("link"), before), label)

    def _page(self, named: object) -> Page:
        if not isinstance(named, str):
            return page_from_json(named)
        if named not in self._pages:
            raise ValueError(f"the page {named!r} stands on no line before this one")
        return self._pages[named]


def _check_head(data: dict[str, Any]) -> None:
    version = data.get("version")
    kind = data.get("wayhound", data.get("trailmark"))  # the latter: files of version 0.1
    if kind != FORMAT or not isinstance(version, int):
        raise ValueError(
            'this is no trail file: the first line should be {"wayhound": "trails", "version": 1}'
        )
    if version > VERSION:
        raise ValueError(
            f"the file was made by a newer Wayhound (its form is {version}, this one knows {VERSION}); "
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
    """A label as it is kept: a word or a few. Raises `ValueError` with what is wrong."""
    if not isinstance(label, str):
        raise ValueError("a label must be a text")  # noqa: TRY004 - told as all bad lines are
    label = " ".join(label.split())
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise ValueError(f"{label[:20]!r} is no label: it must be a word or a few")
    if label.startswith(PREFIX_MARK):
        raise ValueError(f"the label {label!r} may not begin with {PREFIX_MARK!r}")
    return label


_LINK_FIELDS = {each.name: each.default for each in fields(Link)}
_PAGE_FIELDS = {each.name: each.default for each in fields(Page)}


def link_to_json(link: Link) -> dict[str, Any]:
    """What a link says; what is as usual is left out."""
    return _unusual(link, _LINK_FIELDS)


def page_to_json(page: Page) -> dict[str, Any]:
    data = _unusual(page, _PAGE_FIELDS)
    if page.links:
        data["links"] = [link_to_json(link) for link in page.links]
    return data


def _unusual(noun: Page | Link, usual: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: getattr(noun, name) for name in usual}
    return {name: _plain(value) for name, value in values.items() if value != usual[name]}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def page_digest(data: Mapping[str, Any]) -> str:
    """Names a page by its content: equal pages have equal digests."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class PageDigests:
    """Digests of pages, each taken once: the trails of a site share their first pages."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Page, str]] = {}  # by identity; holding the page keeps that its own

    def of(self, page: Page) -> str:
        if id(page) not in self._known:
            self._known[id(page)] = (page, page_digest(page_to_json(page)))
        return self._known[id(page)][1]


def link_from_json(data: object) -> Link:
    """A link from what JSON held; raises `ValueError` with the reason."""
    values = _checked(data, _LINK_FIELDS, "link")
    if values.get("kind", "a") not in get_args(LinkKind):
        raise ValueError(f"{values['kind']!r} is no kind of link")
    return Link(**values)


def page_from_json(data: object) -> Page:
    if isinstance(data, dict) and isinstance(data.get("links", []), list):
        links = tuple(map(link_from_json, data.get("links", [])))
        rest = {name: value for name, value in data.items() if name != "links"}
        return Page(**_checked(rest, _PAGE_FIELDS, "page"), links=links)
    raise ValueError("a page must be an object with a url and a list of links")


def _checked(data: object, known: Mapping[str, Any], noun: str) -> dict[str, Any]:
    """The known fields with the types they should have. Others are of a later version and left alone."""
    if not isinstance(data, dict) or not isinstance(data.get("url"), str) or not data["url"]:
        raise ValueError(f"a {noun} must be an object with a url")
    return {name: _typed(name, data[name], default) for name, default in known.items() if name in data}


def _typed(name: str, value: object, default: object) -> Any:
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise ValueError(f"{name} must be a list of texts")
    expected, wanted = (bool, "true or false") if isinstance(default, bool) else (str, "a text")
    if isinstance(value, expected):
        return value
    raise ValueError(f"{name} must be {wanted}")
