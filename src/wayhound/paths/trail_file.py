"""Trail files: how taught trails travel. JSON lines, described in docs/trails.md.

A page is written once, before the first trail that passes it; trails name pages by their id. So a file of five
hundred trails from one start page holds that page once, and can still be read a line at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from wayhound.errors import UsageError
from wayhound.page import Link, Page
from wayhound.paths.page_json import PageDigests, link_data, link_from, page_data, page_from
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
                _put(stream, {"page": digest, **page_data(step.page)})
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
    return link_data(link)


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
        self._pages[name] = page_from({key: value for key, value in data.items() if key != "page"})

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
        label = checked_label(data.get("label", ""))
        if before is None:
            if data.get("link") is not None:
                raise ValueError("the first step is the start page, and no link leads to it")
            return Step(page, None, label)
        return Step(page, _link(data.get("link"), before), label)

    def _page(self, named: object) -> Page:
        if not isinstance(named, str):
            return page_from(named)
        if named not in self._pages:
            raise ValueError(f"the page {named!r} stands on no line before this one")
        return self._pages[named]


def _check_head(data: dict[str, Any]) -> None:
    version = data.get("version")
    if data.get("wayhound") != FORMAT or not isinstance(version, int):
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
        return link_from(data)
    if not 0 <= data < len(before.links):
        raise ValueError(f"the page before has no link number {data}")
    return before.links[data]


def checked_label(label: object) -> str:
    """A label as it is kept: a word or a few. Raises `ValueError` with what is wrong."""
    if not isinstance(label, str):
        raise ValueError("a label must be a text")  # noqa: TRY004 - told as all bad lines are
    label = " ".join(label.split())
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise ValueError(f"{label[:20]!r} is no label: it must be a word or a few")
    if label.startswith(PREFIX_MARK):
        raise ValueError(f"the label {label!r} may not begin with {PREFIX_MARK!r}")
    return label
