"""Three small sites that list staff behind one link and stories behind another, and trails on them."""

from __future__ import annotations

from dataclasses import replace

from wayhound.page import Link, Page
from wayhound.trail import FAIL, GOAL, Step, Trail

SECTIONS = ["news", "staff", "shop", "help"]
NAMES = {"s1": ["Ada Moor", "Ben Tal"], "s2": ["Cy Dunn", "Di Elm"], "s3": ["Ed Fox", "Flo Gray"]}


def site_pages(host: str) -> dict[str, Page]:
    """Every site lists its staff behind a link that says so, and stories behind one that says news."""
    root = f"http://{host}.example"
    sections = tuple(
        Link(f"{root}/{name}/", text=name.title(), after=(name,), region="body>nav>a") for name in SECTIONS
    )
    people = tuple(
        Link(f"{root}/staff/{n}.html", text=name, region="body>ul>li>a") for n, name in enumerate(NAMES[host])
    )
    stories = tuple(
        Link(f"{root}/news/{n}.html", text=f"story number {n}", region="body>p>a") for n in range(4)
    )
    pages = [
        Page(f"{root}/", title="Welcome", links=sections),
        *(Page(f"{root}/{name}/", title=name.title()) for name in ("shop", "help")),
        Page(f"{root}/staff/", title="Our staff", links=people),
        Page(f"{root}/news/", title="News", links=stories),
        *(Page(link.url, title=link.text, tokens=("office", "phone")) for link in people),
        *(Page(link.url, title=link.text, tokens=("today", "we")) for link in stories),
    ]
    return {page.url: replace(page, digest=page.url) for page in pages}


def trails_of(host: str) -> list[Trail]:
    pages = site_pages(host)
    root = f"http://{host}.example"

    def trail(section: str, item: int, ending: str) -> Trail:
        start, listing = pages[f"{root}/"], pages[f"{root}/{section}/"]
        link = next(link for link in start.links if link.url == listing.url)
        end = listing.links[item]
        steps = (Step(start), Step(listing, link), Step(pages[end.url], end, ending))
        return Trail(f"{root}/", steps)

    return [trail("staff", 0, GOAL), trail("staff", 1, GOAL), trail("news", 0, FAIL), trail("news", 2, FAIL)]
