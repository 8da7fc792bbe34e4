"""Crawler traps: endless pages that are generated on request."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

from wayhound.samples.builder import SiteBuilder
from wayhound.samples.markup import link, listing, rows

Frame = Callable[[str, str], str]  # from title and body to a whole page


def endless_calendar(
    site: SiteBuilder, template: str, frame: Frame, months: Sequence[str], steps: tuple[str, str]
) -> None:
    """Add a calendar whose months link to the previous and next for ever.

    `template` is a path with `{year}` and `{month}`.
    """
    pattern = re.escape(template).replace(r"\{year\}", r"(\d{1,4})").replace(r"\{month\}", r"(\d{1,2})")

    def answer(match: re.Match[str]) -> str:
        year, month = max(1, int(match[1])), min(12, max(1, int(match[2])))
        index = year * 12 + month - 1
        before, after = (
            template.format(year=(index + step) // 12, month=f"{(index + step) % 12 + 1:02}")
            for step in (-1, 1)
        )
        weeks = calendar.monthcalendar(year, month)
        days = rows([str(day or "") for day in week] for week in weeks)
        onward = f"<p>{link(before, steps[0])} {link(after, steps[1])}</p>"
        body = f"<table border=1 cellpadding=6>{days}</table>{onward}"
        return frame(f"{months[month - 1]} {year}", body)

    site.trap(pattern, answer)


def filters(
    site: SiteBuilder, path: str, options: Mapping[str, Sequence[str]], frame: Frame, shown: str
) -> None:
    """Add a list with filters and sorting, where each combination, in each order, has a URL of its own."""

    def answer(match: re.Match[str]) -> str:
        chosen = dict(parse_qsl(match[1]))
        return frame("Results", filter_links(path, options, chosen) + shown)

    site.trap(re.escape(path) + rf"\?((?:{'|'.join(options)})=.*)", answer)


def filter_links(path: str, options: Mapping[str, Sequence[str]], chosen: Mapping[str, str]) -> str:
    """Return links that add one choice to those made already; the newest comes last in the URL."""

    def href(name: str, value: str) -> str:
        kept = {key: old for key, old in chosen.items() if key != name}
        return f"{path}?{urlencode({**kept, name: value})}".replace("&", "&amp;")

    return listing(
        f"{name.capitalize()}: " + " | ".join(link(href(name, value), value) for value in values)
        for name, values in options.items()
    )


def repeating_folder(site: SiteBuilder, parent: str, folder: str, frame: Frame, text: str) -> None:
    """Add a page with a relative link to itself that is answered at any depth: album/album/album/…"""
    body = f"<p>{text}</p><p>{link(folder + '/', folder.capitalize())}</p>"
    site.trap(rf"{re.escape(parent)}(?:{folder}/)+", lambda _: frame(folder.capitalize(), body))


def redirect_loop(site: SiteBuilder, *paths: str) -> None:
    """Add redirects from each path to the next, and from the last to the first."""
    for here, there in zip(paths, (*paths[1:], paths[0]), strict=True):
        site.redirect(here, there, 302, "trap")
