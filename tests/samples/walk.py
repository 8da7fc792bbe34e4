"""A breadth-first walk over a sample site, without a server."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.samples import SamplePage, SampleSite
from wayhound.url import normalise


@dataclass
class Walked:
    """The pages outside traps, in order, and every internal link on them."""

    pages: dict[str, Page] = field(default_factory=dict)
    answers: dict[str, SamplePage] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=dict)  # target: the pages that link to it


def walk(site: SampleSite) -> Walked:
    """Follow all links of all ordinary pages; trap pages are recorded, not followed."""
    walked, waiting = Walked(), deque([site.start])
    while waiting:
        path = waiting.popleft()
        if path in walked.answers:
            continue
        answer = walked.answers[path] = site.respond(path)
        for target in _targets(site, path, answer, walked):
            walked.links.setdefault(target, set()).add(path)
            waiting.append(target)
    return walked


def _targets(site: SampleSite, path: str, answer: SamplePage, walked: Walked) -> list[str]:
    base = f"http://{site.host}"
    if answer.label == "trap":
        return []
    location = dict(answer.headers).get("Location")
    if location:
        return [normalise(location, base + path).removeprefix(base)]
    page = read_page(base + path, answer.body, answer.content_type)
    if answer.status != 200 or not isinstance(page, Page):
        return []
    walked.pages[path] = page
    # mailto: and tel: links have no normal form of a web address.
    urls = [link.url for link in page.links if link.url.startswith("http")]
    assert all(url.startswith(base + "/") for url in urls), f"{path} links away from {site.host}"
    return [url.removeprefix(base) for url in urls]
